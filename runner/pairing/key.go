package pairing

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/go-jose/go-jose/v4"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/settings"
)

// Lifetime is how long a signature of Key is good. The server takes no more than a minute (protocol.md 1.3), and
// each second of it forgives a second by which this machine's clock is slow.
const Lifetime = 60 * time.Second

// largestKey is more than any JWK of one Ed25519 key needs, in bytes.
const largestKey = 64 << 10

// Key is a device key that the server knows by its id. The zero value signs nothing.
type Key struct {
	private ed25519.PrivateKey // nil: it lies elsewhere, and only the public half is here
	public  ed25519.PublicKey
	id      string
}

// ReadKey reads the key file at path, a private Ed25519 JWK with the `kid` of its registration (protocol.md 2.1). It
// fails with CredentialMissing when there is no file, and with KeyFileInvalid when there is one that holds no such key;
// the cause tells a file that is no JSON from a key whose registration was never finished.
func ReadKey(path string) (Key, error) {
	data, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Key{}, failure.New(failure.CredentialMissing, path).Because("there is no key file").Wrap(err)
	}
	if err != nil {
		return Key{}, failure.New(failure.KeyFileInvalid, path).
			Because("the file can't be read: %v", err).Then("make it readable for this user").Wrap(err)
	}
	key, err := ParseKey(data)
	if f := failure.As(err); f != nil {
		f.Subject = path
	}
	return key, err
}

func readBounded(path string) ([]byte, error) { return readAtMost(path, largestKey) }

func readAtMost(path string, largest int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, largest+1))
	if err == nil && int64(len(data)) > largest {
		err = fmt.Errorf("it is larger than %d bytes", largest)
	}
	return data, err
}

// ParseKey reads a key from the content of a key file. It fails with KeyFileInvalid and never shows any of data.
func ParseKey(data []byte) (Key, error) {
	key, err := parsePrivate(data)
	if err == nil && key.id == "" {
		return Key{}, failure.New(failure.KeyFileInvalid, "the device key").
			Because("the key has no `kid`, so its registration was never finished").
			Then("finish it with `runner device-key finish --id ID`, or make a new pairing")
	}
	return key, err
}

// parsePrivate is ParseKey for a key that need not be registered yet.
func parsePrivate(data []byte) (Key, error) {
	invalid := func(format string, args ...any) (Key, error) {
		return Key{}, failure.New(failure.KeyFileInvalid, "the device key").Because(format, args...)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil || members == nil {
		return invalid("the file is not a JSON object")
	}
	var jwk jose.JSONWebKey
	if err := jwk.UnmarshalJSON(bytes.TrimSpace(data)); err != nil {
		return invalid("the key is not an Ed25519 JWK whose halves `x` and `d` are whole and belong together")
	}
	private, ok := jwk.Key.(ed25519.PrivateKey)
	if !ok {
		return invalid("the key is not a private key of the curve Ed25519")
	}
	return NewKey(private, jwk.KeyID), nil
}

// NewKey is a key that was made here, under the id of its registration.
func NewKey(private ed25519.PrivateKey, id string) Key {
	return Key{private, private.Public().(ed25519.PublicKey), id}
}

// ID is the id of the key's registration on the server.
func (k Key) ID() string { return k.id }

// Public is the half that everybody may see.
func (k Key) Public() ed25519.PublicKey { return k.public }

// Secrets are what must never be told of the key: its private half as it is, and as the key file has it.
func (k Key) Secrets() []string {
	if k.private == nil {
		return nil
	}
	seed := k.private.Seed()
	return []string{base64.RawURLEncoding.EncodeToString(seed), string(seed)}
}

// Sign makes the compact JWS that proves, for Lifetime from now, that the key asks about the project. Without a
// projectID the claim is left out, as the list of projects demands.
func (k Key) Sign(projectID string, now time.Time) (string, error) {
	if k.private == nil {
		return "", errors.New("signing: there is no key")
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA,
		Key: jose.JSONWebKey{Key: k.private, KeyID: k.id}}, nil)
	if err != nil {
		return "", fmt.Errorf("signing: %w", err)
	}
	claims, err := json.Marshal(struct {
		IssuedAt  int64  `json:"iat"`
		Expires   int64  `json:"exp"`
		ProjectID string `json:"projectId,omitempty"`
	}{now.Unix(), now.Add(Lifetime).Unix(), projectID})
	if err != nil {
		return "", fmt.Errorf("signing: %w", err)
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		return "", fmt.Errorf("signing: %w", err)
	}
	return signed.CompactSerialize()
}

// Bearer is a fresh signature.
func (k Key) Bearer(projectID string, now time.Time) (settings.Secret, error) {
	signed, err := k.Sign(projectID, now)
	return settings.NewSecret(signed), err
}

// String names the key and hides its private half.
func (k Key) String() string { return "device key " + k.id }

// Format prints String for every verb.
func (k Key) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// LogValue is what slog writes.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }
