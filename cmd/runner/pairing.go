package main

import (
	"net"
	"net/url"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/settings"
)

// pairingStore is where the pairing of src's user lies.
func pairingStore(src settings.Sources, values settings.Settings) pairing.Store {
	return pairing.Store{
		Folder: src.Folders().Config, Machine: pairing.MachineID(), UseKeychain: values.Pairing.Keychain, Keychain: pairing.SystemKeychain{},
	}
}

// servant is what a run is about, and the credential that it asks with.
type servant struct {
	settings.Run
	credential pairing.Credential
	notices    []*failure.Failure // about the pairing, where it counts
}

// resolveRun finds out what a run is about, this machine's pairing included. A pairing that can't be used is named only
// where nothing stronger stands in its place.
func resolveRun(flags settings.RunFlags, src settings.Sources, values settings.Settings) (servant, error) {
	store := pairingStore(src, values)
	p, notices, unpaired := store.Load()
	if unpaired == nil {
		src.Paired = settings.Paired{APIURL: p.Server, KeyFile: store.Path()}
	}
	r, err := settings.ResolveRun(flags, src, values)
	if err != nil {
		if unpaired != nil && !failure.Is(unpaired, failure.NotLoggedIn) &&
			(failure.Is(err, failure.CredentialMissing) || failure.As(err).Subject == "api_url") {
			err = unpaired
		}
		return servant{}, err
	}
	if r.Paired() {
		return servant{r, p.Key, notices}, nil
	}
	credential, err := credentialOf(r)
	return servant{r, credential, nil}, err
}

// credentialOf gives the token, or the device key that signs each request anew.
func credentialOf(r settings.Run) (pairing.Credential, error) {
	if !r.Token.IsZero() {
		return pairing.Token{Secret: r.Token}, nil
	}
	return pairing.ReadKey(r.KeyFile)
}

// onLoopback reports whether the address is one of this machine's own.
func onLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
