package main

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/settings"
)

// account is who this machine is to its server: the pairing, and what is needed to ask the server with it.
type account struct {
	settings settings.Settings
	sources  settings.Sources
	store    pairing.Store
	pairing  pairing.Pairing
	notices  []*failure.Failure // what was repaired or is odd about the pairing
}

// openAccount reads settings and pairing. unusable is why there is no pairing that can be used; the rest of the account
// is there all the same. keychain has a new key kept in the system's keychain, whatever the settings say.
func openAccount(keychain bool) (a account, unusable, err error) {
	values, src, err := loadSettings()
	if err != nil {
		return account{}, nil, err
	}
	values.Pairing.Keychain = values.Pairing.Keychain || keychain
	a = account{settings: values, sources: src, store: pairingStore(src, values)}
	a.pairing, a.notices, unusable = a.store.Load()
	return a, unusable, nil
}

// client asks a server through the proxy and with the certificates of the settings.
func (a account) client(server string, credential pairing.Credential) (pairing.Client, error) {
	transport, err := pairing.NewTransport(a.settings.Proxy, a.settings.CAFile)
	if err != nil {
		return pairing.Client{}, err
	}
	return pairing.Client{BaseURL: server, Credential: credential, HTTP: &http.Client{Transport: transport.HTTP}}, nil
}

// prove has the pairing's server show that it is the hub on this machine, where it is meant to be that, before anything is
// signed for it: after a crash another program may have its port. Failures: HubUnreachable, HubNotOurs.
func (a account) prove(ctx context.Context) error {
	return proveAt(ctx, a.sources, a.pairing.Server, a.settings.CAFile)
}

// tellNotices shows a person what was repaired or is odd about the pairing.
func (a account) tellNotices(out io.Writer) {
	for _, notice := range a.notices {
		fmt.Fprintf(out, "runner: %s\n", visible(notice.Error()))
	}
}
