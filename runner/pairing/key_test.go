package pairing

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// seed is the private half of the tests' key; shown is how it would look in a text.
var (
	seed  = bytes.Repeat([]byte{7}, ed25519.SeedSize)
	shown = base64.RawURLEncoding.EncodeToString(seed)
)

// jwk is the tests' key as a file holds it, after change.
func jwk(t testing.TB, change func(map[string]any)) []byte {
	t.Helper()
	public := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	members := map[string]any{"kty": "OKP", "crv": "Ed25519", "x": base64.RawURLEncoding.EncodeToString(public), "d": shown, "kid": "key-1"}
	if change != nil {
		change(members)
	}
	data, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func testKey(t testing.TB) Key {
	t.Helper()
	key, err := ParseKey(jwk(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestTheStatesOfAKeyFileStayApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.json")
	_, err := ReadKey(path)
	failuretest.Produced(t, err, failure.CredentialMissing)

	other := base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{9}, 32))
	for _, tt := range []struct {
		name string
		data []byte
		says string
	}{
		{"no JSON", []byte(shown), "not a JSON object"},
		{"no object", []byte(`["` + shown + `"]`), "not a JSON object"},
		{"null", []byte("null"), "not a JSON object"},
		{"no kid", jwk(t, func(m map[string]any) { delete(m, "kid") }), "no `kid`"},
		{"an empty kid", jwk(t, func(m map[string]any) { m["kid"] = "" }), "no `kid`"},
		{"a public key", jwk(t, func(m map[string]any) { delete(m, "d") }), "Ed25519"},
		{"another kind of key", []byte(`{"kty":"oct","k":"` + shown + `","kid":"k"}`), "Ed25519"},
		{"another curve", jwk(t, func(m map[string]any) { m["crv"] = "X25519" }), "Ed25519"},
		{"halves of two keys", jwk(t, func(m map[string]any) { m["x"] = other }), "Ed25519"},
		{"a short key", jwk(t, func(m map[string]any) { m["d"] = "AAAA" }), "Ed25519"},
		{"too large", append(jwk(t, nil), bytes.Repeat([]byte(" "), largestKey)...), "larger than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(path, tt.data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := ReadKey(path)
			f := failuretest.Produced(t, err, failure.KeyFileInvalid)
			if !strings.Contains(f.Cause, tt.says) || f.Subject != path {
				t.Errorf("nothing says %q: %v", tt.says, f)
			}
			if strings.Contains(fmt.Sprintf("%+v", err), shown) {
				t.Errorf("the key shows: %v", err)
			}
		})
	}
	if err := os.WriteFile(path, append(jwk(t, nil), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := ReadKey(path)
	if err != nil || key.ID() != "key-1" {
		t.Errorf("%v, %v", key, err)
	}
}

func TestASignatureHasTheContractsForm(t *testing.T) {
	key := testKey(t)
	now := time.Date(2026, 11, 2, 10, 15, 30, 999_000_000, time.UTC)
	for project, want := range map[string]map[string]any{
		"p1": {"iat": float64(now.Unix()), "exp": float64(now.Unix() + 60), "projectId": "p1"},
		"":   {"iat": float64(now.Unix()), "exp": float64(now.Unix() + 60)},
	} {
		signed, err := key.Sign(project, now)
		if err != nil {
			t.Fatal(err)
		}
		jws, err := jose.ParseSignedCompact(signed, []jose.SignatureAlgorithm{jose.EdDSA})
		if err != nil {
			t.Fatal(err)
		}
		payload, err := jws.Verify(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		var claims map[string]any
		if err := json.Unmarshal(payload, &claims); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, claims); diff != "" {
			t.Error(diff)
		}
		head, err := base64.RawURLEncoding.DecodeString(strings.Split(signed, ".")[0])
		if err != nil || string(head) != `{"alg":"EdDSA","kid":"key-1"}` {
			t.Errorf("the header is %s, %v", head, err)
		}
	}
	if _, err := (Key{}).Sign("p1", now); err == nil {
		t.Error("no key has signed")
	}
}

func TestAKeyNeverShowsItself(t *testing.T) {
	key := testKey(t)
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "key", key, "client", Client{Credential: key})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+verb, key, Client{Credential: key})
	}
	for _, secret := range []string{shown, "0707070707", "7 7 7 7", "0x7, 0x7"} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%s shows in %s", secret, &out)
		}
	}
}

// FuzzParseKey demands that any file is a key that signs, or is refused by name.
func FuzzParseKey(f *testing.F) {
	f.Add(jwk(f, nil))
	f.Add(jwk(f, func(m map[string]any) { delete(m, "kid") }))
	f.Add([]byte(`{"kty":"OKP","crv":"Ed25519","d":"","x":"","kid":"k"}`))
	f.Add([]byte(`{"kty":"EC","crv":"P-256","x":"AA","y":"AA","d":"AA"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		key, err := ParseKey(data)
		if err != nil {
			if failure.As(err) == nil {
				t.Errorf("a refusal without a name: %v", err)
			}
			return
		}
		if _, err := key.Sign("p", time.Unix(0, 0)); err != nil {
			t.Error(err)
		}
	})
}
