package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
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

func TestWhatLooksLikeASecretIsTakenOut(t *testing.T) {
	for text, secret := range map[string]string{
		`token brb_abcDEF-12_3 end`:                                    "brb_abc",
		`ghp_0123456789abcdef`:                                         "0123456789",
		`Authorization: Bearer abcdefghijkl`:                           "abcdefghijkl",
		`https://ana:hunter2@git.example/x`:                            "hunter2",
		`{"kty":"OKP","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyu"}`: "nWGxne",
		`eyJhbGciOi.eyJpYXQiOjE.c2lnbmF0dXJl`:                          "c2lnbmF0",
		`/runner/websocket?ticket=9pQ_x-y&vsn=2.0.0`:                   "9pQ_x",
	} {
		if got := string(redacted([]byte(text))); strings.Contains(got, secret) || !strings.Contains(got, "(redacted)") {
			t.Errorf("%s became %s", text, got)
		}
	}
	for _, plain := range []string{"ls -l /home/ana", "https://git.example:8080/x", "bearer of news"} {
		if got := string(redacted([]byte(plain))); got != plain {
			t.Errorf("%s became %s", plain, got)
		}
	}
}
