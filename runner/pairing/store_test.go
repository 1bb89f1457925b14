package pairing

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// drawer is a keychain that can be jammed.
type drawer struct {
	texts  map[string]string
	jammed error
}

func (d *drawer) Set(name, text string) error {
	if d.jammed == nil {
		d.texts[name] = text
	}
	return d.jammed
}

func (d *drawer) Get(name string) (string, error) {
	text, there := d.texts[name]
	if d.jammed == nil && !there {
		return "", ErrNoSuchKey
	}
	return text, d.jammed
}

func (d *drawer) Delete(name string) error {
	_, there := d.texts[name]
	if d.jammed == nil && !there {
		return ErrNoSuchKey
	}
	delete(d.texts, name)
	return d.jammed
}

func testStore(t testing.TB) (Store, *drawer) {
	t.Helper()
	d := &drawer{texts: map[string]string{}}
	return Store{Folder: filepath.Join(t.TempDir(), "config"), Machine: "this-machine", Keychain: d}, d
}

func testPairing(t testing.TB) Pairing {
	t.Helper()
	return Pairing{Server: "https://hub.example", Name: "laptop", Owner: "ana", At: time.Date(2026, 11, 2, 10, 15, 30, 0, time.UTC), Key: testKey(t)}
}

// same compares pairings, their keys by what they sign.
var same = cmp.Options{cmp.Comparer(func(a, b Key) bool { return a.id == b.id && a.private.Equal(b.private) })}

func load(t testing.TB, s Store) (Pairing, []*failure.Failure) {
	t.Helper()
	p, notices, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	return p, notices
}

func TestAPairingIsKeptForItsOwnerAlone(t *testing.T) {
	s, _ := testStore(t)
	_, _, err := s.Load()
	failuretest.Produced(t, err, failure.NotLoggedIn)
	if err := s.Ready(); err != nil {
		t.Fatal(err)
	}
	want := testPairing(t)
	if err := s.Save(want); err != nil {
		t.Fatal(err)
	}
	want.Machine = s.Machine
	got, notices := load(t, s)
	if diff := cmp.Diff(want, got, same); diff != "" || len(notices) != 0 {
		t.Error(diff, notices)
	}
	for path, mode := range map[string]os.FileMode{s.Folder: 0o700, s.Path(): 0o600, filepath.Join(s.Folder, lastGoodName): 0o600} {
		if m := modeOf(t, path, mode); m != mode {
			t.Errorf("%s has mode %o", path, m)
		}
	}
	for range 2 {
		if err := s.Remove(); err != nil {
			t.Error(err)
		}
	}
	left, err := os.ReadDir(s.Folder)
	if err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestLooseModesAreRepairedAndSaid(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes here")
	}
	s, _ := testStore(t)
	if err := s.Save(testPairing(t)); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{s.Folder: 0o755, s.Path(): 0o644, filepath.Join(s.Folder, lastGoodName): 0o640} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	_, notices := load(t, s)
	if len(notices) != 3 {
		t.Errorf("notices: %v", notices)
	}
	for _, n := range notices {
		failuretest.Produced(t, n, failure.PairingModes)
	}
	if m := modeOf(t, s.Path(), 0); m != 0o600 {
		t.Errorf("the mode is %o", m)
	}
	if _, notices := load(t, s); len(notices) != 0 {
		t.Errorf("again: %v", notices)
	}
}

func TestADamagedPairingIsReplacedByItsLastGoodCopy(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"empty":             func([]byte) []byte { return nil },
		"half":              func(b []byte) []byte { return b[:len(b)/2] },
		"zeroes":            func(b []byte) []byte { return make([]byte, len(b)) },
		"a flipped letter":  func(b []byte) []byte { return bytes.Replace(b, []byte("laptop"), []byte("laptoq"), 1) },
		"another key":       func(b []byte) []byte { return bytes.Replace(b, []byte(shown), []byte(shown[:42]+"A"), 1) },
		"something else":    func([]byte) []byte { return []byte(`{"version":1}`) },
		"an older version":  func(b []byte) []byte { return bytes.Replace(b, []byte(`"version": 1`), []byte(`"version": 0`), 1) },
		"missing (a crash)": nil,
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := testStore(t)
			if err := s.Save(testPairing(t)); err != nil {
				t.Fatal(err)
			}
			whole, err := os.ReadFile(s.Path())
			if err != nil {
				t.Fatal(err)
			}
			if damage == nil {
				err = os.Remove(s.Path())
			} else {
				err = os.WriteFile(s.Path(), damage(whole), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			p, notices := load(t, s)
			if p.Name != "laptop" || len(notices) != 1 {
				t.Fatalf("%+v, %v", p, notices)
			}
			failuretest.Produced(t, notices[0], failure.PairingRestored)
			if text := notices[0].Error(); strings.Contains(text, shown) {
				t.Errorf("the key shows: %s", text)
			}
			if _, err := os.Lstat(filepath.Join(s.Folder, damagedName)); damage != nil && err != nil {
				t.Errorf("the damaged one is gone: %v", err)
			}
			if again, err := os.ReadFile(s.Path()); err != nil || !bytes.Equal(again, whole) {
				t.Errorf("it was not put back: %v", err)
			}
		})
	}
}

func TestWhatCanNotBeUsedIsNamed(t *testing.T) {
	s, _ := testStore(t)
	if err := s.Save(testPairing(t)); err != nil {
		t.Fatal(err)
	}
	clone := s
	clone.Machine = "another-machine"
	_, _, err := clone.Load()
	failuretest.Produced(t, err, failure.MachineChanged)
	unknown := s
	unknown.Machine = ""
	load(t, unknown) // a machine without an id can't be told from the one before

	whole, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	newer := bytes.Replace(whole, []byte(`"version": 1`), []byte(`"version": 2`), 1)
	if err := os.WriteFile(s.Path(), newer, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Load()
	failuretest.Produced(t, err, failure.PairingNewer)
	for _, name := range []string{fileName, lastGoodName} {
		if err := os.WriteFile(filepath.Join(s.Folder, name), whole[:20], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = s.Load()
	failuretest.Produced(t, err, failure.PairingDamaged)

	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	none := Store{Folder: filepath.Join(file, "below")}
	failuretest.Produced(t, none.Ready(), failure.PairingUnwritable)
	failuretest.Produced(t, none.Save(testPairing(t)), failure.PairingUnwritable)
}

func TestAKeyInTheKeychainIsInNoFile(t *testing.T) {
	s, d := testStore(t)
	s.UseKeychain = true
	if err := s.Ready(); err != nil {
		t.Fatal(err)
	}
	want := testPairing(t)
	if err := s.Save(want); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{fileName, lastGoodName} {
		data, err := os.ReadFile(filepath.Join(s.Folder, name))
		if err != nil || bytes.Contains(data, []byte(shown)) || bytes.Contains(data, []byte(`"d"`)) {
			t.Errorf("%s holds the key: %v", name, err)
		}
	}
	got, notices := load(t, s)
	if diff := cmp.Diff(want, got, same, cmpopts.IgnoreFields(Pairing{}, "Machine", "Keychain")); diff != "" || !got.Keychain || len(notices) != 0 {
		t.Error(diff, notices)
	}
	off := s
	off.UseKeychain = false
	load(t, off) // where the key lies is what the pairing says, not the setting

	d.jammed = errors.New("locked")
	_, _, err := s.Load()
	failuretest.Produced(t, err, failure.KeychainUnavailable)
	failuretest.Produced(t, s.Ready(), failure.KeychainUnavailable)
	failuretest.Produced(t, s.Remove(), failure.KeychainUnavailable)
	other, _ := testStore(t)
	other.UseKeychain, other.Keychain = true, d
	failuretest.Produced(t, other.Save(want), failure.KeychainUnavailable)
	if _, err := os.Lstat(other.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it fell back to a file: %v", err)
	}
	d.jammed = nil

	if err := s.Save(want); err != nil {
		t.Fatal(err)
	}
	for name := range d.texts {
		d.texts[name] = strings.Replace(d.texts[name], "key-1", "key-2", 1)
	}
	_, _, err = s.Load()
	failuretest.Produced(t, err, failure.KeychainKeyMissing)
	clear(d.texts)
	_, _, err = s.Load()
	failuretest.Produced(t, err, failure.KeychainKeyMissing)

	if err := off.Save(want); err != nil {
		t.Fatal(err)
	}
	_, notices = load(t, s)
	if len(notices) != 1 {
		t.Fatal(notices)
	}
	failuretest.Produced(t, notices[0], failure.KeychainUnused)
}

func TestANewPairingTakesTheOldKeyOutOfTheKeychain(t *testing.T) {
	s, d := testStore(t)
	s.UseKeychain = true
	p := testPairing(t)
	if err := s.Save(p); err != nil {
		t.Fatal(err)
	}
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Key = NewKey(private, "key-2")
	if err := s.Save(p); err != nil {
		t.Fatal(err)
	}
	if _, there := d.texts[keychainName(p.Server, "key-2")]; !there || len(d.texts) != 1 {
		t.Errorf("the keychain has %d keys", len(d.texts))
	}
	if err := s.Remove(); err != nil || len(d.texts) != 0 {
		t.Errorf("%d keys are left: %v", len(d.texts), err)
	}
}

func TestAPairingNeverShowsItsKey(t *testing.T) {
	text := fmt.Sprintf("%v %+v %#v", testPairing(t), testPairing(t), testPairing(t))
	if strings.Contains(text, shown) || strings.Contains(text, "0x7, 0x7") {
		t.Error(text)
	}
}

func TestLocalProjectsConfirmAFolder(t *testing.T) {
	dir := t.TempDir()
	none, err := ReadLocalProjects(dir)
	if err != nil || len(none) != 0 {
		t.Fatal(none, err)
	}
	root := filepath.Join(dir, "shop")
	want := LocalProjects{"p": {Root: root, AlsoInside: []string{dir}}, "q": {Root: dir}}
	if err := want.Write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := ReadLocalProjects(dir)
	if err != nil || cmp.Diff(want, got) != "" || cmp.Diff([]string{"p", "q"}, got.IDs()) != "" {
		t.Fatal(got, err)
	}
	if err := got.Confirm("p", root+string(filepath.Separator)); err != nil {
		t.Error(err)
	}
	failuretest.Produced(t, got.Confirm("p", dir), failure.RootNotConfirmedHere)
	failuretest.Produced(t, got.Confirm("q", root), failure.RootNotConfirmedHere)
	failuretest.Produced(t, got.Confirm("unknown", root), failure.RootNotConfirmedHere)
	for _, content := range []string{"", "[]", `{"projects":{"p":{"root":"relative"}}}`, `{"projects":{"p":{"root":"/a","alsoInside":["b"]}}}`} {
		if err := os.WriteFile(filepath.Join(dir, projectsName), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadLocalProjects(dir)
		failuretest.Produced(t, err, failure.ProjectsFileInvalid)
	}
}

func TestAMachineHasOneID(t *testing.T) {
	if id := MachineID(); id != MachineID() || id != "" && id == systemID() {
		t.Error(id)
	}
}

// FuzzParsePairing demands that a file is a pairing that can be written again, or is refused.
func FuzzParsePairing(f *testing.F) {
	for _, keychain := range []bool{false, true} {
		p := testPairing(f)
		p.Keychain = keychain
		data, err := marshalPairing(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parsePairing(data)
		if err != nil {
			return
		}
		if p.Server == "" || p.Key.ID() == "" || !p.Keychain && p.Key.private == nil {
			t.Errorf("%+v", p)
		}
	})
}

func TestAPairingThatCanNotBeKeptWholeLeavesTheOneBefore(t *testing.T) {
	s, _ := testStore(t)
	before := testPairing(t)
	if err := s.Save(before); err != nil {
		t.Fatal(err)
	}
	lastGood := filepath.Join(s.Folder, lastGoodName)
	if err := os.Remove(lastGood); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(lastGood, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	another := testPairing(t)
	another.Server = "https://another.example"
	failuretest.Produced(t, s.Save(another), failure.PairingUnwritable)
	after, _, err := s.Load()
	if err != nil || after.Server != before.Server {
		t.Errorf("%+v, %v", after, err)
	}
}
