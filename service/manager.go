package service

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// State is what is known of a service.
type State string

// The states, each with an exit code of its own in section 8 of the protocol's description.
const (
	Running      State = "running"
	Stopped      State = "stopped"
	NotInstalled State = "not installed"
	Unanswered   State = "unanswered" // installed, but the manager did not answer
)

// Status is the state of a service and what the manager adds to it, in its own words.
type Status struct {
	State  State  `json:"state"`
	Detail string `json:"detail,omitempty"`
	PID    int    `json:"pid,omitempty"`
	// Enabled tells that the service is started at each login or boot.
	Enabled bool `json:"enabled,omitempty"`
}

// manager is the seam to the system's service manager. Its calls return when the manager has done what it was asked
// for. Their errors are failures: ServiceManagerSilent where there was no answer, else ServiceNotActivated.
type manager interface {
	// reach fails where the manager of id's level does not answer.
	reach(ctx context.Context, id ID) error
	// activate makes known what the unit says now, and has it started at each login or boot. With start it is also
	// started now, or anew where it runs; without, it is started anew only where it runs.
	activate(ctx context.Context, d Definition, start bool) error
	// deactivate stops the service and has it started no more.
	deactivate(ctx context.Context, d Definition) error
	// forget drops what the manager knows of a service whose unit is gone.
	forget(ctx context.Context, id ID) error
	start(ctx context.Context, id ID) error
	stop(ctx context.Context, id ID) error
	restart(ctx context.Context, id ID) error
	status(ctx context.Context, id ID) (Status, error)
}

// tell runs the manager's own program and gives what it printed. Where it fails, the error holds the program's words.
func tell(ctx context.Context, env []string, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = env
	out, err := cmd.Output()
	if err == nil {
		return string(out), nil
	}
	words := ""
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		words = strings.Join(strings.Fields(string(exit.Stderr)), " ")
		words, _, _ = strings.Cut(words, ` See "systemctl`) // the failure says where to look next
	}
	if words == "" {
		words = err.Error()
	}
	return string(out), fmt.Errorf("%s %s: %s", program, strings.Join(args, " "), words)
}

// silent is the failure of a manager that can't be reached.
func silent(err error, next string, args ...any) error {
	f := failure.New(failure.ServiceManagerSilent, "the service manager").Because("it did not answer: %v", err).Wrap(err)
	if next != "" {
		f.Then(next, args...)
	}
	return f
}

// notActivated is the failure of a manager that answered no.
func notActivated(name string, err error, next string, args ...any) error {
	f := failure.New(failure.ServiceNotActivated, name).Because("the service manager says: %v", err).Wrap(err)
	if next != "" {
		f.Then(next, args...)
	}
	return f
}
