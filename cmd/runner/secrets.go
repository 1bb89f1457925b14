package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/redact"
	"brabo.dev/runner/runner/settings"
)

// knownSecrets are those of this machine that a command could print and that must not be told: the credential that a
// daemon asks with, or nil, the pairing's key, the owner token of this machine's hub, and the proxy's password.
func knownSecrets(src settings.Sources, values settings.Settings, credential pairing.Credential) *redact.Known {
	known := &redact.Known{}
	switch c := credential.(type) {
	case pairing.Token:
		known.Keep(c.Reveal())
	case pairing.Key:
		known.Keep(c.Secrets()...)
	}
	if p, _, err := pairingStore(src, values).Load(); err == nil { // without a pairing there is no key
		known.Keep(p.Key.Secrets()...)
	}
	for _, pair := range src.Environ {
		if token, found := strings.CutPrefix(pair, "BRABO_ACCOUNT_TOKEN="); found {
			known.Keep(token)
		}
	}
	known.Keep(hubOwnerToken(src.Folders()))
	if proxy, err := url.Parse(values.Proxy); err == nil {
		password, _ := proxy.User.Password()
		known.Keep(password)
	}
	return known
}

// hubOwnerToken is the token in the data folder, where a hub was started on this machine; else "".
func hubOwnerToken(folders settings.Folders) string {
	raw, err := os.ReadFile(filepath.Join(folders.Data, "hub", hubTokenFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}
