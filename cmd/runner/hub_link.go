package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"brabo.dev/runner/runner/hub"
)

func newHubLinkCommand() *cobra.Command {
	var flags hubFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "link",
		Short: "Print a link that signs a browser in at the hub's page, once",
		Long: `link makes a link to the hub's page, for the person whose token it asks with: the owner, on the hub's own machine. It
signs one browser in, once, and is worth nothing after some minutes. Whoever opens it first is in, so hand it to nobody.`,
		Example: "  runner hub link",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			link, expires, err := c.LoginLink(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), map[string]any{"url": link, "expiresAt": expires})
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "It signs one browser in, once, until %s.\n", clock(expires))
			_, err = fmt.Fprintln(cmd.OutOrStdout(), visible(link))
			return err
		},
	}
	flags.add(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON: the address, and when it expires")
	return cmd
}

// clock is a moment of these hours for people.
func clock(at time.Time) string { return at.Local().Format("15:04:05 -07:00") }

// watcher is w where a person reads it as it is written, else nil: what is for one pair of eyes belongs in no file.
func watcher(w io.Writer) io.Writer {
	if f, isFile := w.(*os.File); isFile && term.IsTerminal(int(f.Fd())) {
		return w
	}
	return nil
}

// greet tells the person who starts a hub how to get to its page. A terminal that is gone by then is no failure of the hub.
func greet(people io.Writer, h *hub.Hub, address string) error {
	code, expires, err := h.NewLoginCode(hubOwner)
	if err != nil {
		return err
	}
	fmt.Fprintf(people, "\nThe page, for one browser, once, until %s:\n  %s\n\n", clock(expires), address+hub.LoginPath(code))
	return nil
}
