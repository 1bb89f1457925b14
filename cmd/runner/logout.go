package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
)

func newLogoutCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "logout",
		Short: "Give this machine's pairing up: revoke its key at the server, and remove it",
		Long: `logout revokes this machine's key at the server, which cuts a daemon that runs, and then removes the key here. Without a
pairing it does nothing. Where the server can't be told, the key is removed all the same, and the exit code is 1.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return logout(cmd, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

func logout(cmd *cobra.Command, asJSON bool) error {
	a, unusable, err := openAccount(false)
	if err != nil {
		return err
	}
	p, store := a.pairing, a.store
	a.tellNotices(cmd.ErrOrStderr())
	var untold error
	switch {
	case failure.Is(unusable, failure.NotLoggedIn):
		return tellLogout(cmd, asJSON, false, "", "this machine is not paired")
	case failure.Is(unusable, failure.PairingNewer), failure.Is(unusable, failure.KeychainUnavailable), failure.Is(unusable, failure.PairingUnwritable):
		return unusable // what can be put right first is left as it is
	case unusable != nil:
		// A key that can't sign can't be given up at the server; that of another machine is not ours to give up.
		untold = failure.New(failure.LogoutUnconfirmed, store.Path()).Because("the pairing was removed here, but not revoked at the server: %s", failure.As(unusable).Cause).Wrap(unusable)
	default:
		untold = a.revoke(cmd.Context())
	}
	if err := store.Remove(); err != nil {
		return err
	}
	if untold != nil {
		return untold
	}
	return tellLogout(cmd, asJSON, true, p.Server, fmt.Sprintf("%s is not paired with %s any more", visible(p.Name), visible(p.Server)))
}

// revoke gives the key up at its server. One that the server has revoked or does not know is as good.
func (a account) revoke(ctx context.Context) error {
	p := a.pairing
	c, err := a.client(p.Server, p.Key)
	if err == nil {
		err = a.prove(ctx)
	}
	if err != nil {
		return failure.New(failure.LogoutUnconfirmed, p.Server).
			Because("the pairing was removed here, but the server was not asked to forget the key: %s", failure.From(err, p.Server).Error()).Wrap(err)
	}
	err = c.Revoke(ctx, p.Key.ID())
	if err == nil || failure.Is(err, failure.CredentialRevoked) || failure.Is(err, failure.CredentialUnknown) {
		return nil
	}
	return failure.New(failure.LogoutUnconfirmed, p.Server).
		Because("the pairing was removed here, but the server still knows the key: %s", failure.From(err, p.Server).Cause).Wrap(err)
}

func tellLogout(cmd *cobra.Command, asJSON, wasPaired bool, server, text string) error {
	if asJSON {
		return writeJSON(cmd.OutOrStdout(), map[string]any{"paired": false, "wasPaired": wasPaired, "server": server, "revoked": wasPaired})
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), text)
	return err
}
