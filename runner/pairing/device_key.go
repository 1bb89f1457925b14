package pairing

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unicode"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/settings"
)

// File names of a device key (protocol.md 2.1): whole, and between CreateDeviceKey and FinishDeviceKey, when the server
// has not yet given it an id. The daemon never reads the latter.
const (
	DeviceKeyName        = "brabo-runner-device-key.jwk.json"
	PartialDeviceKeyName = DeviceKeyName + ".parcial"
)

// longestID is how long the id of a registration may be, in bytes (protocol.md 2.3).
const longestID = 200

// jwkMembers is an Ed25519 JWK as a file or a server has it; a public one has no D.
type jwkMembers struct {
	KeyType string `json:"kty"`
	Curve   string `json:"crv"`
	X       string `json:"x"`
	D       string `json:"d,omitempty"`
	ID      string `json:"kid,omitempty"`
}

// PublicJWK is the half of a key that everybody may see, as servers take it: one line of JSON.
func PublicJWK(key ed25519.PublicKey) []byte {
	return marshalJWK(jwkMembers{KeyType: "OKP", Curve: "Ed25519", X: base64.RawURLEncoding.EncodeToString(key)})
}

// privateJWK is the whole key under the id of its registration, which may still be missing.
func privateJWK(key ed25519.PrivateKey, id string) []byte {
	encode := base64.RawURLEncoding.EncodeToString
	return marshalJWK(jwkMembers{"OKP", "Ed25519", encode(key.Public().(ed25519.PublicKey)), encode(key.Seed()), id})
}

func marshalJWK(m jwkMembers) []byte {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // texts always marshal
	}
	return data
}

// CreateDeviceKey makes a key pair, writes the private half into dir under PartialDeviceKeyName and gives the public
// one, for a server to register. A partial key of an earlier attempt is replaced, which replaced says. It fails with
// DeviceKeyExists when dir has a whole key, whatever it is worth, and with DeviceKeyFolder.
func CreateDeviceKey(dir string) (public ed25519.PublicKey, replaced bool, err error) {
	if err := noWholeKey(dir); err != nil {
		return nil, false, err
	}
	partial := filepath.Join(dir, PartialDeviceKeyName)
	if _, err := os.Lstat(partial); err == nil {
		replaced = true
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, false, fmt.Errorf("making a device key: %w", err)
	}
	if err := settings.WriteFile(partial, privateJWK(private, "")); err != nil {
		return nil, false, deviceKeyFolder(dir, err)
	}
	return public, replaced, nil
}

// FinishDeviceKey puts the id that the server gave into the partial key of dir, writes it under DeviceKeyName, removes
// the partial one, and gives the path. It fails with Usage for an id that can't be one, DeviceKeyExists,
// DeviceKeyNotBegun, KeyFileInvalid and DeviceKeyFolder.
func FinishDeviceKey(dir, id string) (string, error) {
	if err := registrationID(id); err != nil {
		return "", err
	}
	if err := noWholeKey(dir); err != nil {
		return "", err
	}
	partial, whole := filepath.Join(dir, PartialDeviceKeyName), filepath.Join(dir, DeviceKeyName)
	data, err := readBounded(partial)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", failure.New(failure.DeviceKeyNotBegun, partial)
	case err != nil:
		return "", failure.New(failure.KeyFileInvalid, partial).
			Because("the file can't be read: %v", err).Then("make it readable for this user").Wrap(err)
	}
	key, err := parsePrivate(data)
	if err != nil {
		f := failure.As(err)
		f.Subject = partial
		return "", f.Then("remove it and begin again with `runner device-key create`")
	}
	if err := settings.WriteFile(whole, privateJWK(key.private, id)); err != nil {
		return "", deviceKeyFolder(dir, err)
	}
	if err := os.Remove(partial); err != nil {
		return "", failure.New(failure.DeviceKeyFolder, partial).
			Because("the key is complete, but its partial file can't be removed: %v", err).Then("remove it").Wrap(err)
	}
	return whole, nil
}

func registrationID(id string) error {
	f := failure.New(failure.Usage, "--id").Then("give the `id` that the server answered when the public key was registered")
	switch {
	case id == "":
		return f.Because("there is no id of a registration")
	case len(id) > longestID:
		return f.Because("the id is longer than %d bytes", longestID)
	case bytes.ContainsFunc([]byte(id), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return f.Because("the id holds white space or characters that can't be printed")
	}
	return nil
}

// noWholeKey refuses a folder that has a key: replacing it would change, unseen, who a daemon is that may be running.
func noWholeKey(dir string) error {
	path := filepath.Join(dir, DeviceKeyName)
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return failure.New(failure.DeviceKeyExists, path)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return deviceKeyFolder(dir, err)
}

func deviceKeyFolder(dir string, err error) error {
	return failure.New(failure.DeviceKeyFolder, dir).Because("a key can't be kept there: %v", err).Wrap(err)
}
