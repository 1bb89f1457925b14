package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/logs"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/redact"
	"brabo.dev/runner/runner/settings"
)

func TestBundleReplacesNothing(t *testing.T) {
	home := inHome(t)
	path := filepath.Join(home, "bundle.tar.gz")
	if err := writeBundle(t.Context(), path, nil, io.Discard); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	failuretest.Produced(t, writeBundle(t.Context(), path, nil, io.Discard), failure.BundleNotWritten)
	failuretest.Produced(t, writeBundle(t.Context(), filepath.Join(home, "none", "x"), nil, io.Discard), failure.BundleNotWritten)
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Error("an existing file was changed", err)
	}
}

func TestBundleHoldsNoneOfThisMachinesSecrets(t *testing.T) {
	inHome(t)
	const account, owner = "account-token-without-a-shape", "owner-token-without-a-shape"
	t.Setenv("BRABO_ACCOUNT_TOKEN", account)
	src, err := processSources()
	if err != nil {
		t.Fatal(err)
	}
	key := pairing.NewKey(ed25519.NewKeyFromSeed([]byte("the seed of a device key, 32 B..")), "k")
	known := knownSecrets(src, settings.Settings{Proxy: "http://ana:proxy-password@proxy.example"}, key)
	for path, text := range map[string]string{
		filepath.Join(src.Folders().Data, "hub", hubTokenFile): owner + "\n",
		filepath.Join(logFolder(src.Folders().State), logs.FileName): `{"msg":"` + account + `","b":"` +
			base64.StdEncoding.EncodeToString([]byte("x"+owner)) + `"}` + "\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := bundleEntries(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if clean := redact.New(account, owner).Bytes(e.content); !bytes.Equal(clean, e.content) {
			t.Errorf("%s: %s", e.name, e.content)
		}
		if e.name == "runner.log" && !strings.Contains(string(e.content), "(redacted)") {
			t.Errorf("the log is not there: %s", e.content)
		}
	}
	for _, secret := range append(key.Secrets(), "proxy-password", account) {
		if known.Set().Text(secret) != redact.Mark {
			t.Errorf("%q is not known", secret)
		}
	}
}
