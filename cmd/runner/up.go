package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/user"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/settings"
	"brabo.dev/runner/service"
)

func newUpCommand() *cobra.Command {
	var linger, asJSON bool
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Install and start hub and daemon on this machine, and pair them",
		Long: `up makes the hub and the daemon services of this user, pairs them with each other, and prints a link that opens the hub's
page once. What is left is runner project add, in the folder of a project. It is safe to repeat: it mends what is missing,
stopped or out of date, and leaves everything else as it is. Nothing is begun before all that could be refused is known.

Variables of this shell do not reach services: their settings come from the settings file (runner config set), their PATH
from where up ran first (runner service refresh-env captures it again).

--linger lets the services live on after logout, where this user may have that; else it says what an administrator does.
runner down undoes it and keeps the data.

Exit codes: 0 all is up; 2 refused; 5 a service did not start, or the service manager did not answer; 1 other failures,
also where all is up and --linger was refused.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := up(cmd.Context(), linger)
			if err != nil {
				return err
			}
			return s.print(asJSON, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().BoolVar(&linger, "linger", false, "let the services live on after logout")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// standing is what `up --json` prints; its form is stable.
type standing struct {
	Hub     string             `json:"hub"`    // name of its service
	Daemon  string             `json:"daemon"` // name of its service
	URL     string             `json:"url"`
	Link    string             `json:"link"`   // opens the page once
	Paired  string             `json:"paired"` // this machine's name at the hub
	Changed []string           `json:"changed"`
	LeftOut []*failure.Failure `json:"leftOut,omitempty"` // variables that the services do not have
	Linger  *failure.Failure   `json:"linger,omitempty"`  // why the services end with the last session
	Refused bool               `json:"-"`                 // that they live on was asked for
}

func (s *standing) changed(format string, args ...any) {
	s.Changed = append(s.Changed, fmt.Sprintf(format, args...))
}

func up(ctx context.Context, linger bool) (standing, error) {
	s := standing{Changed: []string{}}
	src, err := processSources()
	if err != nil {
		return s, err
	}
	src.Environ, s.LeftOut = forServices(src.Environ)
	values, err := settings.Load(src)
	if err != nil {
		return s, usageError(err)
	}
	manager := serviceManager(ctx, src)
	hub := rising{installFlags{serviceFlags: serviceFlags{hub: true}}, target{src, manager, service.ID{Kind: service.Hub}}}
	daemon := rising{
		installFlags{serviceFlags: serviceFlags{machine: true}, dir: src.Folders().Config},
		target{src, manager, service.ID{Kind: service.Machine}},
	}
	s.Hub, s.Daemon = manager.Name(hub.id), manager.Name(daemon.id)
	store := pairingStore(src, values)
	if err := foreseen(ctx, hub, daemon, store, values.Hub.Listen); err != nil {
		return s, err
	}
	if err := hub.bringUp(ctx, &s, false); err != nil {
		return s, err
	}
	near, err := awaitHub(ctx, src)
	if err != nil {
		return s, err
	}
	s.URL = near.URL()
	paired, err := near.pair(ctx, store, &s)
	if err != nil {
		return s, err
	}
	if err := daemon.bringUp(ctx, &s, paired); err != nil {
		return s, err
	}
	s.Linger, s.Refused = lingering(ctx, src.Environ, linger), linger
	s.Link, _, err = near.LoginLink(ctx)
	return s, err
}

// forServices gives environ as services see it, without the settings of this shell, and names those.
func forServices(environ []string) (seen []string, left []*failure.Failure) {
	seen = slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		ours := strings.HasPrefix(name, "RUNNER_") || strings.HasPrefix(name, "BRABO_")
		if ours && value != "" {
			left = append(left, failure.New(failure.ServiceVariable, name).Because("a setting in a variable of this shell does not reach services").
				Then("put what they need into the settings file with `runner config set`"))
		}
		return ours
	})
	return seen, left
}

// foreseen gives what can be known to fail before anything is changed.
func foreseen(ctx context.Context, hub, daemon rising, store pairing.Store, listen string) error {
	for _, r := range []rising{hub, daemon} {
		request, _, err := r.request(r.target)
		if err != nil {
			return err
		}
		for _, f := range r.manager.Refusals(request) {
			if f != request.Credential { // which the pairing will be
				return usageError(f)
			}
		}
		if _, err := r.manager.Find(r.id); failure.Is(err, failure.ServiceForeignUnit) {
			return serviceExit(err)
		}
	}
	if err := pairedElsewhere(store); err != nil {
		return usageError(err)
	}
	if err := hub.manager.Answers(ctx, hub.id); err != nil {
		return serviceExit(err)
	}
	if st, err := hub.manager.Status(ctx, hub.id); err == nil && st.State == service.Running {
		return nil // it is the one that listens
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return usageError(failure.New(failure.HubNotListening, "hub.listen "+listen).Because("the address can't be had: %v", err).
			Then("stop what listens there, a hub in a terminal or another person's perhaps, or choose another port: `runner config set hub.listen 127.0.0.1:4681`").
			Wrap(err))
	}
	return l.Close()
}

// lingering says why the services will not live on after logout; with ask, only after that was asked for.
func lingering(ctx context.Context, environ []string, ask bool) *failure.Failure {
	me, err := user.Current()
	if err != nil {
		return failure.From(err, "this user")
	}
	if ask {
		return failure.As(service.Linger(ctx, environ, me.Username))
	}
	if service.Lingers(me.Username) {
		return nil
	}
	return failure.New(failure.LingerRefused, me.Username).Because("nobody has asked that services live on after logout").
		Then("run `runner up --linger`; until then the services end with the last session")
}

// print shows how things stand. That services will not live on is said last, and is an exit of its own if they should.
func (s standing) print(asJSON bool, out, errOut io.Writer) error {
	if asJSON {
		if err := writeJSON(out, s); err != nil {
			return err
		}
	} else {
		for _, change := range s.Changed {
			fmt.Fprintln(out, visible(change))
		}
		if len(s.Changed) == 0 {
			fmt.Fprintln(out, "everything was up already")
		}
		fmt.Fprintf(out, "\nThe hub and the daemon run. Open the page by this link, which works once and for a short while:\n\n  %s\n\n", s.Link)
		fmt.Fprintln(out, "Then, in the folder of a project: runner project add .")
	}
	printFailures(errOut, "left out", s.LeftOut)
	if s.Linger == nil {
		return nil
	}
	fmt.Fprintf(errOut, "runner: %s\n", visible(s.Linger.Error()))
	if s.Refused {
		return &exitError{exitFail, nil}
	}
	return nil
}
