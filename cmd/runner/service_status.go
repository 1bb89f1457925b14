package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/service"
)

func newServiceStatus() *cobra.Command {
	var flags serviceFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether a service is installed and runs",
		Long: `status asks the disk whether the service is installed, and the service manager whether it runs. Exit codes: 0 running,
3 installed and stopped, 4 not installed, 5 installed but the service manager did not answer, 2 refused.

What a running daemon does is shown by runner status.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serviceStatus(cmd.Context(), flags, asJSON, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// serviceState is what `service status --json` prints; its form is stable.
type serviceState struct {
	Name string `json:"name"`
	Path string `json:"path,omitempty"`
	service.Status
	Failure *failure.Failure `json:"failure,omitempty"`
	// Others are the further units of ours and of the existing client.
	Others []string `json:"others,omitempty"`
}

func serviceStatus(ctx context.Context, flags serviceFlags, asJSON bool, out, errOut io.Writer) error {
	t, err := flags.target(ctx)
	if err != nil {
		return err
	}
	status, err := t.manager.Status(ctx, t.id)
	if f := failure.As(err); f != nil && f.Name == failure.ServiceForeignUnit {
		return serviceExit(err)
	}
	state := serviceState{Name: t.manager.Name(t.id), Path: t.manager.Path(t.id), Status: status, Failure: failure.As(err)}
	if status.State == service.NotInstalled {
		state.Path = ""
	}
	for _, system := range []bool{false, true} {
		for _, d := range t.manager.Installed(system) {
			if d.ID != t.id {
				state.Others = append(state.Others, fmt.Sprintf("%s (%s)", t.manager.Name(d.ID), d.ID))
			}
		}
	}
	for _, e := range t.manager.Existing() {
		state.Others = append(state.Others, e.String()+", of the existing client")
	}
	if asJSON {
		if err := json.NewEncoder(out).Encode(state); err != nil {
			return err
		}
	} else {
		state.print(out, errOut)
	}
	code := map[service.State]int{
		service.Running: exitOK, service.Stopped: exitServiceStopped, service.NotInstalled: exitServiceMissing, service.Unanswered: exitServiceUnanswered,
	}[status.State]
	if code == exitOK {
		return nil
	}
	return &exitError{code, nil}
}

func (s serviceState) print(out, errOut io.Writer) {
	fmt.Fprintf(out, "%s: %s", s.Name, s.State)
	if s.PID > 0 {
		fmt.Fprintf(out, ", process %d", s.PID)
	}
	if s.Detail != "" {
		fmt.Fprintf(out, ": %s", s.Detail)
	}
	fmt.Fprintln(out)
	for _, other := range s.Others {
		fmt.Fprintf(out, "also installed: %s\n", other)
	}
	if s.Failure != nil {
		fmt.Fprintf(errOut, "runner: %s\n", visible(s.Failure.Error()))
	}
}
