package pairing

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/settings"
)

// Names of the pairing's files in our config folder. A new pairing is written first and kept as the last good one only
// when it was read back, so that there is a whole one at every moment. One that can't be read is moved aside.
const (
	fileName     = "pairing.json"
	lastGoodName = "pairing.last-good.json"
	damagedName  = "pairing.damaged.json"
)

// Pairing is this machine's own login at one server: a key that was made here and registered there.
type Pairing struct {
	Server   string // address of the server's API, without a trailing slash
	Name     string // of this machine, as the server shows it
	Owner    string // who let it in, as the server told; may be empty
	Machine  string // MachineID of where it was made; empty: unknown there
	At       time.Time
	Keychain bool // the private half lies in the system's keychain, not in the file
	Key      Key
}

// Store keeps one Pairing in a folder. A copy may be made at any time; a method reads and writes the disk only.
type Store struct {
	Folder string // our config folder
	// Machine is the MachineID here. A pairing that was made elsewhere is not used; empty: that can't be told.
	Machine string
	// UseKeychain keeps the private half of a new pairing in Keychain.
	UseKeychain bool
	Keychain    Keychain
}

// Path is where the pairing lies, or would lie.
func (s Store) Path() string { return filepath.Join(s.Folder, fileName) }

// Load reads the pairing. What it had to mend, and what the person should know, comes as notices (PairingRestored,
// PairingModes, KeychainUnused). It fails with NotLoggedIn, PairingDamaged, PairingNewer, PairingUnwritable,
// MachineChanged, KeychainUnavailable or KeychainKeyMissing.
func (s Store) Load() (p Pairing, notices []*failure.Failure, err error) {
	path, lastGood := s.Path(), filepath.Join(s.Folder, lastGoodName)
	for _, checked := range s.present() {
		notice, err := tighten(checked)
		if err != nil {
			return Pairing{}, notices, err
		}
		if notice != nil {
			notices = append(notices, notice)
		}
	}
	p, err = readPairing(path)
	if err != nil {
		restored, lastErr := readPairing(lastGood)
		switch {
		case failure.Is(err, failure.PairingNewer):
			return Pairing{}, notices, err
		case errors.Is(err, fs.ErrNotExist) && errors.Is(lastErr, fs.ErrNotExist):
			return Pairing{}, notices, failure.New(failure.NotLoggedIn, s.Folder)
		case lastErr != nil:
			return Pairing{}, notices, failure.New(failure.PairingDamaged, path).Wrap(errors.Join(err, lastErr))
		}
		var notice *failure.Failure
		if notice, err = s.restore(err); err != nil {
			return Pairing{}, notices, err
		}
		p, notices = restored, append(notices, notice)
	}
	if p.Machine != "" && s.Machine != "" && p.Machine != s.Machine {
		return Pairing{}, notices, failure.New(failure.MachineChanged, path)
	}
	switch {
	case p.Keychain:
		p.Key, err = s.keyFromKeychain(p)
	case s.UseKeychain:
		notices = append(notices, failure.New(failure.KeychainUnused, path))
	}
	return p, notices, err
}

// present are the pairing's files that are there, and their folder if any is.
func (s Store) present() []string {
	var found []string
	for _, name := range []string{fileName, lastGoodName, damagedName} {
		path := filepath.Join(s.Folder, name)
		if _, err := os.Lstat(path); err == nil {
			found = append(found, path)
		}
	}
	if len(found) > 0 {
		found = append(found, s.Folder)
	}
	return found
}

// restore puts the last good pairing in the place of the one that could not be read because of why, which is kept.
func (s Store) restore(why error) (*failure.Failure, error) {
	path := s.Path()
	if err := os.Rename(path, filepath.Join(s.Folder, damagedName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unwritable(path, err)
	}
	data, err := readBounded(filepath.Join(s.Folder, lastGoodName))
	if err == nil {
		err = settings.WriteFile(path, data)
	}
	if err != nil {
		return nil, unwritable(path, err)
	}
	return failure.New(failure.PairingRestored, path).Wrap(why), nil
}

// Save keeps p, which replaces what is there. Its key goes into the keychain or into the file, as the Store says;
// where the keychain can't take it, nothing is kept. It fails with KeychainUnavailable and PairingUnwritable.
func (s Store) Save(p Pairing) error {
	p.Machine, p.Keychain = s.Machine, s.UseKeychain
	before, beforeErr := readPairing(s.Path())
	kept, keptErr := readBounded(s.Path())
	same := beforeErr == nil && p.Keychain && before.Server == p.Server && before.Key.ID() == p.Key.ID()
	if _, err := tighten(s.Folder); err != nil {
		return err
	}
	if p.Keychain {
		if err := s.Keychain.Set(keychainName(p.Server, p.Key.ID()), string(privateJWK(p.Key.private, p.Key.id))); err != nil {
			return failure.New(failure.KeychainUnavailable, "the keychain").Because("it did not take the key: %v", err).Wrap(err)
		}
	}
	data, err := marshalPairing(p)
	if err == nil {
		err = settings.WriteFile(s.Path(), data)
	}
	if err == nil {
		_, err = readPairing(s.Path())
	}
	if err == nil {
		err = settings.WriteFile(filepath.Join(s.Folder, lastGoodName), data)
	}
	if err != nil {
		// Half of it is no pairing: whoever called gives the new key up, and the one from before is still good.
		switch {
		case keptErr == nil:
			err = errors.Join(err, settings.WriteFile(s.Path(), kept))
		case errors.Is(keptErr, fs.ErrNotExist):
			_ = os.Remove(s.Path()) // it may not have come into being
		}
		if p.Keychain && !same {
			_ = s.Keychain.Delete(keychainName(p.Server, p.Key.ID())) // nothing points to it
		}
		return unwritable(s.Path(), err)
	}
	if beforeErr == nil && before.Keychain && !same {
		// A key that nothing points to any more is of no use to us; that it could not be removed is no reason to fail.
		_ = s.Keychain.Delete(keychainName(before.Server, before.Key.ID()))
	}
	return nil
}

// Remove forgets the pairing with every copy of its key. Without one it does nothing. It fails with PairingUnwritable
// and KeychainUnavailable.
func (s Store) Remove() error {
	var errs []error
	for _, name := range []string{fileName, lastGoodName} {
		p, err := readPairing(filepath.Join(s.Folder, name))
		if err != nil || !p.Keychain {
			continue
		}
		err = s.Keychain.Delete(keychainName(p.Server, p.Key.ID()))
		if err != nil && !errors.Is(err, ErrNoSuchKey) {
			errs = append(errs, failure.New(failure.KeychainUnavailable, "the keychain").Because("the key can't be removed: %v", err).Wrap(err))
		}
	}
	for _, name := range []string{fileName, lastGoodName, damagedName} {
		path := filepath.Join(s.Folder, name)
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, unwritable(path, err))
		}
	}
	return errors.Join(errs...)
}

// Ready reports by its error why a new pairing could not be kept, before a person is asked for anything.
func (s Store) Ready() error {
	if err := os.MkdirAll(s.Folder, 0o700); err != nil {
		return unwritable(s.Folder, err)
	}
	probe, err := os.CreateTemp(s.Folder, ".probe-*")
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		return unwritable(s.Folder, err)
	}
	if !s.UseKeychain {
		return nil
	}
	const name = "probe"
	if err = s.Keychain.Set(name, name); err == nil {
		err = s.Keychain.Delete(name)
	}
	if err != nil {
		return failure.New(failure.KeychainUnavailable, "the keychain").Because("it did not take a probe: %v", err).Wrap(err)
	}
	return nil
}

func unwritable(path string, err error) error {
	return failure.New(failure.PairingUnwritable, path).Because("the pairing can't be kept: %v", err).Wrap(err)
}

// tighten takes the rights of others on path away and says so; a path that is not there is as good. Windows gives a
// user's own folders to that user alone, and modes mean nothing there.
func tighten(path string) (*failure.Failure, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || runtime.GOOS == "windows" {
		return nil, nil
	}
	if err != nil {
		return nil, unwritable(path, err)
	}
	const others = 0o077
	if info.Mode().Perm()&others == 0 {
		return nil, nil
	}
	if err := os.Chmod(path, info.Mode().Perm()&^others); err != nil {
		return nil, failure.New(failure.PairingModes, path).
			Because("others may reach it, by mode %04o, and that can't be changed: %v", info.Mode().Perm(), err).
			Then("make it this user's own, or pair this machine again").Wrap(err)
	}
	return failure.New(failure.PairingModes, path).Because("others could reach it, by mode %04o; that was repaired", info.Mode().Perm()), nil
}
