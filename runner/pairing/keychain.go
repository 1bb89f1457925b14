package pairing

import (
	"crypto/ed25519"
	"errors"

	"github.com/zalando/go-keyring"

	"brabo.dev/runner/runner/failure"
)

// Keychain keeps texts under names, for this user alone.
type Keychain interface {
	Set(name, text string) error
	// Get fails with ErrNoSuchKey where there is none of that name.
	Get(name string) (string, error)
	// Delete fails with ErrNoSuchKey where there is none of that name.
	Delete(name string) error
}

// ErrNoSuchKey says that a keychain works and has nothing under that name.
var ErrNoSuchKey = errors.New("the keychain has no such key")

// keychainService is what our entries are filed under.
const keychainService = "brabo.dev/runner"

// SystemKeychain is the keychain of the system: the Secret Service, the login keychain, or the Credential Manager.
type SystemKeychain struct{}

// Set implements Keychain.
func (SystemKeychain) Set(name, text string) error { return keyring.Set(keychainService, name, text) }

// Get implements Keychain.
func (SystemKeychain) Get(name string) (string, error) {
	text, err := keyring.Get(keychainService, name)
	return text, noSuchKey(err)
}

// Delete implements Keychain.
func (SystemKeychain) Delete(name string) error {
	return noSuchKey(keyring.Delete(keychainService, name))
}

func noSuchKey(err error) error {
	if errors.Is(err, keyring.ErrNotFound) {
		return ErrNoSuchKey
	}
	return err
}

// keychainName is the name of the key id of server.
func keychainName(server, id string) string { return id + " " + server }

// keyFromKeychain gets the private half of p's key, which must belong to the public one.
func (s Store) keyFromKeychain(p Pairing) (Key, error) {
	text, err := s.Keychain.Get(keychainName(p.Server, p.Key.ID()))
	switch {
	case errors.Is(err, ErrNoSuchKey):
		return Key{}, failure.New(failure.KeychainKeyMissing, "the keychain")
	case err != nil:
		return Key{}, failure.New(failure.KeychainUnavailable, "the keychain").Because("it did not give the key: %v", err).Wrap(err)
	}
	key, err := ParseKey([]byte(text))
	if err != nil || key.id != p.Key.id || !key.Public().Equal(ed25519.PublicKey(p.Key.public)) {
		return Key{}, failure.New(failure.KeychainKeyMissing, "the keychain").Because("what it has under the key's name is not the key")
	}
	return key, nil
}
