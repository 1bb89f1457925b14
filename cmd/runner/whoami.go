package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/pairing"
)

// exitLoggedOut is the exit code of `runner whoami` where the server does not let this machine in.
const exitLoggedOut = 4

func newWhoamiCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Show who this machine is to its server, and whether that still lets it in",
		Long: `whoami shows the server, the name of this machine there, the fingerprint of its key and where the key is kept, and asks
the server whether it lets the key in.

It exits with 0 when it does, 3 when the server can't be asked, 4 when there is no pairing or the key was revoked, has
expired or is unknown, and 5 when this machine's clock is wrong.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return whoami(cmd, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

// identity is `runner whoami --json`. Fields are added and never change their meaning.
type identity struct {
	Server      string             `json:"server"`
	Machine     string             `json:"machine"`
	Owner       string             `json:"owner"`
	ID          string             `json:"id"` // of the key's registration
	Fingerprint string             `json:"fingerprint"`
	Kept        string             `json:"kept"`
	PairedAt    time.Time          `json:"pairedAt"`
	Standing    string             `json:"standing"` // good, or the name of the failure
	Failure     *failure.Failure   `json:"failure,omitempty"`
	Notices     []*failure.Failure `json:"notices,omitempty"`
}

func whoami(cmd *cobra.Command, asJSON bool) error {
	a, unusable, err := openAccount(false)
	if err != nil {
		return err
	}
	if unusable != nil {
		return &exitError{exitLoggedOut, unusable}
	}
	p := a.pairing
	c, err := a.client(p.Server, p.Key)
	if err != nil {
		return usageError(err)
	}
	refused := a.prove(cmd.Context())
	if refused == nil {
		_, _, refused = c.Projects(cmd.Context())
	}
	me := identity{
		Server: p.Server, Machine: p.Name, Owner: p.Owner, ID: p.Key.ID(), Fingerprint: hub.Fingerprint(p.Key.Public()),
		Kept: keptIn(p, a.store), PairedAt: p.At, Standing: "good", Notices: a.notices,
	}
	if refused != nil {
		me.Failure = failure.From(refused, p.Server)
		me.Standing = string(me.Failure.Name)
	}
	if asJSON {
		err = writeJSON(cmd.OutOrStdout(), me)
	} else {
		err = writeIdentity(cmd.OutOrStdout(), me)
		a.tellNotices(cmd.ErrOrStderr())
		if err == nil && me.Failure != nil {
			return &exitError{standingCode(refused), me.Failure}
		}
	}
	if err == nil && refused != nil {
		return &exitError{standingCode(refused), nil}
	}
	return err
}

func writeIdentity(out io.Writer, me identity) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, row := range [][2]string{
		{"server", me.Server}, {"machine", me.Machine}, {"let in by", me.Owner}, {"key", me.Fingerprint}, {"key id", me.ID},
		{"kept in", me.Kept}, {"since", me.PairedAt.Local().Format("2006-01-02 15:04:05 -07:00")}, {"standing", me.Standing},
	} {
		fmt.Fprintf(w, "%s\t%s\n", row[0], visible(row[1]))
	}
	return w.Flush()
}

// standingCode is the exit code for what the server said.
func standingCode(err error) int {
	switch f := failure.From(err, ""); {
	case f.Name == failure.ClockSkew:
		return exitDegraded
	case pairing.Unauthorized(err):
		return exitLoggedOut
	case f.Name == failure.ServerUnreachable, f.Name == failure.ServerUnavailable, f.Name == failure.RateLimited,
		f.Name == failure.HubUnreachable, f.Name == failure.HubNotOurs:
		return exitNotRunning
	}
	return exitFail
}
