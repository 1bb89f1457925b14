package pairing

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// modeOf gives the permission bits of path, or those that are wanted where the system has none.
func modeOf(t testing.TB, path string, want os.FileMode) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		return want
	}
	return info.Mode().Perm()
}

func TestADeviceKeyIsMadeInTwoSteps(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "brabo")
	public, replaced, err := CreateDeviceKey(dir)
	if err != nil || replaced {
		t.Fatal(replaced, err)
	}
	partial, whole := filepath.Join(dir, PartialDeviceKeyName), filepath.Join(dir, DeviceKeyName)
	if m := modeOf(t, dir, 0o700); m != 0o700 {
		t.Errorf("the folder has mode %o", m)
	}
	if m := modeOf(t, partial, 0o600); m != 0o600 {
		t.Errorf("the partial key has mode %o", m)
	}
	_, err = ReadKey(partial)
	failuretest.Produced(t, err, failure.KeyFileInvalid) // it has no id yet

	again, replaced, err := CreateDeviceKey(dir)
	if err != nil || !replaced || again.Equal(public) {
		t.Errorf("a second attempt: %v, %v", replaced, err)
	}
	path, err := FinishDeviceKey(dir, "reg-1")
	if err != nil || path != whole {
		t.Fatal(path, err)
	}
	if _, err := os.Lstat(partial); !os.IsNotExist(err) {
		t.Errorf("the partial key is still there: %v", err)
	}
	if m := modeOf(t, whole, 0o600); m != 0o600 {
		t.Errorf("the key has mode %o", m)
	}
	key, err := ReadKey(whole)
	if err != nil || key.ID() != "reg-1" || !key.Public().Equal(again) {
		t.Errorf("%v, %v", key, err)
	}
	if _, err := key.Sign("p", time.Now()); err != nil {
		t.Error(err)
	}
	var members map[string]any
	if err := json.Unmarshal(PublicJWK(again), &members); err != nil || len(members) != 3 || members["d"] != nil {
		t.Errorf("%v, %v", members, err)
	}

	before, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = CreateDeviceKey(dir)
	failuretest.Produced(t, err, failure.DeviceKeyExists)
	_, err = FinishDeviceKey(dir, "reg-2")
	failuretest.Produced(t, err, failure.DeviceKeyExists)
	if after, err := os.ReadFile(whole); err != nil || !bytes.Equal(before, after) {
		t.Errorf("a refusal changed the key: %v", err)
	}
}

func TestFinishRefusesWhatIsNoBegunKey(t *testing.T) {
	dir := t.TempDir()
	partial := filepath.Join(dir, PartialDeviceKeyName)
	_, err := FinishDeviceKey(dir, "reg-1")
	failuretest.Produced(t, err, failure.DeviceKeyNotBegun)
	for name, content := range map[string][]byte{
		"no JSON": []byte("{"), "a list": []byte("[]"), "another curve": jwk(t, func(m map[string]any) { m["crv"] = "X25519" }),
		"a public key": jwk(t, func(m map[string]any) { delete(m, "d") }), "a number as key": []byte(`{"kty":"OKP","crv":"Ed25519","x":1,"d":2}`),
	} {
		if err := os.WriteFile(partial, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := FinishDeviceKey(dir, "reg-1")
		if f := failuretest.Produced(t, err, failure.KeyFileInvalid); f.Subject != partial || strings.Contains(f.Error(), shown) {
			t.Errorf("%s: %v", name, f)
		}
	}
	if err := os.WriteFile(partial, jwk(t, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", " ", "a b", "a\n", "a\u00a0b", "a\x00", strings.Repeat("x", longestID+1)} {
		_, err := FinishDeviceKey(dir, id)
		failuretest.Produced(t, err, failure.Usage)
	}
	if _, err := FinishDeviceKey(dir, strings.Repeat("x", longestID)); err != nil {
		t.Error(err)
	}
}

func TestAFolderThatIsNoneKeepsNoKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := CreateDeviceKey(filepath.Join(file, "below"))
	failuretest.Produced(t, err, failure.DeviceKeyFolder)
}
