package pairing

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
)

// fileVersion is that of the pairing file. A file with a higher one is left alone.
const fileVersion = 1

// file is the pairing as it lies on the disk: its text, and what tells a whole one from a half.
type file struct {
	Version int             `json:"version"`
	Sum     string          `json:"sha256"` // of the compact form of Pairing
	Pairing json.RawMessage `json:"pairing"`
}

// content is what a pairing file says. With the private half in the keychain the key here is the public one.
type content struct {
	Server   string     `json:"server"`
	Name     string     `json:"name"`
	Owner    string     `json:"owner,omitempty"`
	Machine  string     `json:"machine,omitempty"`
	At       time.Time  `json:"pairedAt"`
	Keychain bool       `json:"keychain,omitempty"`
	Key      jwkMembers `json:"key"`
}

func marshalPairing(p Pairing) ([]byte, error) {
	key := p.Key.private
	if key == nil {
		return nil, errors.New("there is no key")
	}
	c := content{p.Server, p.Name, p.Owner, p.Machine, p.At.UTC(), p.Keychain, jwkMembers{
		KeyType: "OKP", Curve: "Ed25519", X: base64.RawURLEncoding.EncodeToString(p.Key.Public()), ID: p.Key.id,
	}}
	if !p.Keychain {
		c.Key.D = base64.RawURLEncoding.EncodeToString(key.Seed())
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(file{fileVersion, sumOf(text), text}, "", "  ")
	return append(data, '\n'), err
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func readPairing(path string) (Pairing, error) {
	data, err := readBounded(path)
	if err != nil {
		return Pairing{}, err
	}
	p, err := parsePairing(data)
	if f := failure.As(err); f != nil {
		f.Subject = path
	}
	return p, err
}

// parsePairing reads the content of a pairing file. It never shows any of the key. It fails with PairingNewer, or with
// an error that says what is wrong.
func parsePairing(data []byte) (Pairing, error) {
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return Pairing{}, errors.New("it is not the JSON that it should be")
	}
	if f.Version > fileVersion {
		return Pairing{}, failure.New(failure.PairingNewer, fileName)
	}
	var text bytes.Buffer
	if err := json.Compact(&text, f.Pairing); err != nil || f.Version != fileVersion || sumOf(text.Bytes()) != f.Sum {
		return Pairing{}, errors.New("its checksum does not fit")
	}
	var c content
	if err := json.Unmarshal(f.Pairing, &c); err != nil {
		return Pairing{}, errors.New("it is not a pairing")
	}
	if u, err := url.Parse(c.Server); err != nil || u.Host == "" || strings.HasSuffix(c.Server, "/") {
		return Pairing{}, errors.New("it does not say with which server")
	}
	p := Pairing{Server: c.Server, Name: c.Name, Owner: c.Owner, Machine: c.Machine, At: c.At, Keychain: c.Keychain}
	if c.Key.ID == "" {
		return Pairing{}, errors.New("its key has no `kid`")
	}
	if !c.Keychain {
		key, err := parsePrivate(marshalJWK(c.Key))
		if err != nil {
			return Pairing{}, fmt.Errorf("its key can't be used: %s", failure.As(err).Cause)
		}
		p.Key = key
		return p, nil
	}
	public, err := base64.RawURLEncoding.DecodeString(c.Key.X)
	if err != nil || len(public) != ed25519.PublicKeySize || c.Key.D != "" {
		return Pairing{}, errors.New("its public key can't be used")
	}
	p.Key = Key{id: c.Key.ID, public: public}
	return p, nil
}
