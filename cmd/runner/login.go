package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/client"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/settings"
)

// longestName is how long the name of a machine may be, in bytes (protocol.md 1.4).
const longestName = 80

// loginOptions are the flags of `runner login`.
type loginOptions struct {
	server    string
	noBrowser bool
	keychain  bool
	asJSON    bool
	tokenFile string
	tokenIn   bool
	project   string
}

func newLoginCommand() *cobra.Command {
	var o loginOptions
	cmd := &cobra.Command{
		Use:   "login [SERVER]",
		Short: "Pair this machine with a hub, approved by its owner",
		Long: `login makes a key for this machine, prints an address and a short code, and waits until the hub's owner has approved the
code there (RFC 8628). The private half of the key never leaves this machine. Without SERVER it asks the one that api_url
names, that of the pairing before, or the hub on this machine.

A server without such a login, as that of the existing client, has project tokens: with --token-file, --token-stdin or
BRABO_ACCOUNT_TOKEN the token is checked, and kept nowhere.`,
		Example: "  runner login https://hub.example:4680",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.server = args[0]
			}
			return login(cmd, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.noBrowser, "no-browser", false, "open no browser; the address is printed all the same")
	f.BoolVar(&o.keychain, "keychain", false, "keep the key in the system's keychain (setting: pairing.keychain)")
	f.BoolVar(&o.asJSON, "json", false, "as JSON: one line with the code, and one when it is over")
	f.StringVar(&o.tokenFile, "token-file", "", "check the project token in this file")
	f.BoolVar(&o.tokenIn, "token-stdin", false, "check the project token on standard input")
	f.StringVar(&o.project, "project", "", "id of the project that the token is for")
	return cmd
}

func login(cmd *cobra.Command, o loginOptions) error {
	if o.tokenFile != "" && o.tokenIn {
		return usageError(failure.New(failure.Usage, "--token-file and --token-stdin").Because("there is one token to check").Then("give one of them"))
	}
	a, unpaired, err := openAccount(o.keychain)
	if err != nil {
		return err
	}
	before, store := a.pairing, a.store
	a.tellNotices(cmd.ErrOrStderr())
	if failure.Is(unpaired, failure.PairingNewer) {
		return unpaired
	}
	server, err := loginServer(cmd.Context(), o.server, a.settings.APIURL, before.Server)
	if err != nil {
		return usageError(err)
	}
	c, err := a.client(server, nil)
	if err != nil {
		return usageError(err)
	}
	if o.tokenFile != "" || o.tokenIn {
		token, err := secretFrom(o.tokenFile, cmd.InOrStdin(), cmd.ErrOrStderr())
		if err != nil {
			return usageError(err)
		}
		return checkToken(cmd, c, token, o)
	}
	if unpaired == nil && before.Server != server {
		return usageError(failure.New(failure.LoginElsewhere, before.Server))
	}
	if err := store.Ready(); err != nil {
		return err
	}
	made, err := pairByCode(cmd, c, store, o)
	if token := os.Getenv("BRABO_ACCOUNT_TOKEN"); failure.Is(err, failure.LoginUnsupported) && token != "" {
		return checkToken(cmd, c, strings.TrimSpace(token), o)
	}
	if err != nil {
		return err
	}
	if unpaired == nil { // the key before is of no use to anybody: that it could not be given up is no reason to fail
		c.Credential = before.Key
		if err := c.Revoke(context.WithoutCancel(cmd.Context()), before.Key.ID()); err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "runner: the key before was not revoked: %s\n", visible(err.Error()))
		}
	}
	return tellPaired(cmd, made, store, o.asJSON)
}

// loginServer is the server to log in to: the one that is named, else that of the settings, of the pairing before, or
// of the hub on this machine.
func loginServer(ctx context.Context, named, set, before string) (string, error) {
	server := named
	for _, other := range []string{set, before} {
		if server == "" {
			server = other
		}
	}
	if server == "" {
		folder, err := hubFolder()
		if err != nil {
			return "", err
		}
		local, err := client.Local(folder)
		if err == nil {
			server = local.URL()
		}
	}
	f := failure.New(failure.Usage, "SERVER").Then("name the hub: `runner login https://HOST:4680`")
	if server == "" {
		return "", f.Because("no server is named, and no hub runs on this machine")
	}
	server = strings.TrimRight(server, "/")
	if u, err := url.Parse(server); err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", f.Because("it is not an address that begins with http:// or https://")
	}
	if named == "" {
		// What listens there is to be this machine's hub, not who took its port. What a person names is what they mean.
		values, src, err := loadSettings()
		if err == nil {
			err = proveAt(ctx, src, server, values.CAFile)
		}
		if err != nil {
			return "", err
		}
	}
	return server, nil
}

// pairByCode makes a key, has it approved, and keeps it.
func pairByCode(cmd *cobra.Command, c pairing.Client, store pairing.Store, o loginOptions) (pairing.Pairing, error) {
	ctx := cmd.Context()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return pairing.Pairing{}, fmt.Errorf("making a key: %w", err)
	}
	name := machineName()
	asked, err := c.RequestLogin(ctx, name, store.Machine, public)
	if err != nil {
		return pairing.Pairing{}, err
	}
	if err := tellCode(cmd, asked, hub.Fingerprint(public), o.asJSON); err != nil {
		return pairing.Pairing{}, err
	}
	if !o.noBrowser {
		openBrowser(asked)
	}
	admitted, err := c.AwaitLogin(ctx, asked)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			err = failure.New(failure.LoginExpired, "code "+asked.UserCode).Because("the login was stopped before anybody decided")
		}
		return pairing.Pairing{}, err
	}
	p := pairing.Pairing{
		Server: c.BaseURL, Name: name, Owner: admitted.Owner, Machine: store.Machine, At: time.Now(), Keychain: store.UseKeychain,
		Key: pairing.NewKey(private, admitted.ID),
	}
	if err := store.Save(p); err != nil {
		c.Credential = p.Key // which nobody will have: it opens no door any more
		return pairing.Pairing{}, errors.Join(err, c.Revoke(context.WithoutCancel(ctx), p.Key.ID()))
	}
	return p, nil
}

// machineName is what this machine is called on the server.
func machineName() string {
	name, _ := os.Hostname() // a machine without a name has another below
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(name[:min(len(name), longestName)], "")))
	if name == "" {
		return "this machine"
	}
	return name
}

func tellCode(cmd *cobra.Command, l pairing.Login, fingerprint string, asJSON bool) error {
	if asJSON {
		return writeJSON(cmd.OutOrStdout(), map[string]any{
			"event": "code", "verification_uri": l.Address, "verification_uri_complete": l.FullAddress, "user_code": l.UserCode,
			"fingerprint": fingerprint, "expiresAt": l.Expires.UTC(),
		})
	}
	address := l.FullAddress
	if address == "" {
		address = l.Address
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "Open this address as the hub's owner, and compare code and key there:\n  %s\n  code %s\n  key  %s\nWaiting until %s.\n",
		visible(address), visible(l.UserCode), fingerprint, clock(l.Expires))
	return err
}

func tellPaired(cmd *cobra.Command, p pairing.Pairing, store pairing.Store, asJSON bool) error {
	if asJSON {
		return writeJSON(cmd.OutOrStdout(), map[string]any{
			"event": "paired", "server": p.Server, "machine": p.Name, "owner": p.Owner, "id": p.Key.ID(),
			"fingerprint": hub.Fingerprint(p.Key.Public()), "kept": keptIn(p, store),
		})
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is paired with %s, let in by %s. The key is in %s.\n",
		visible(p.Name), visible(p.Server), visible(p.Owner), visible(keptIn(p, store)))
	return err
}

// keptIn says where the private half of a pairing's key is.
func keptIn(p pairing.Pairing, store pairing.Store) string {
	if p.Keychain {
		return "the system's keychain"
	}
	return store.Path()
}

// checkToken asks the server whether it accepts a project token, which is kept nowhere.
func checkToken(cmd *cobra.Command, c pairing.Client, token string, o loginOptions) error {
	if !settings.TokenForm(token) {
		return usageError(failure.New(failure.CredentialInvalid, "token"))
	}
	c.Credential = pairing.Token{Secret: settings.NewSecret(token)}
	var err error
	if o.project != "" {
		_, err = c.Ticket(cmd.Context(), o.project) // which is never used, and expires within half a minute
	} else if _, _, err = c.Projects(cmd.Context()); failure.Is(err, failure.NotMember) {
		err = nil // the list is for machine keys: a token that gets this far was accepted (protocol.md 1.2)
	}
	if err != nil {
		return err
	}
	const next = "start the daemon with it in BRABO_ACCOUNT_TOKEN, or make a key that stays with `runner device-key create`"
	if o.asJSON {
		return writeJSON(cmd.OutOrStdout(), map[string]any{"event": "token", "server": c.BaseURL, "accepted": true, "kept": false, "next": next})
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s accepts the token. It was kept nowhere: %s.\n", visible(c.BaseURL), next)
	return err
}
