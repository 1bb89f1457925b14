package main

import (
	"context"
	"fmt"
	"io"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/settings"
	"brabo.dev/runner/service"
)

// Exit codes of `service` (protocol.md section 8), beside 0 and 2.
const (
	exitServiceStopped    = 3
	exitServiceMissing    = 4
	exitServiceUnanswered = 5 // also: the unit is written and not activated
)

func newServiceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Make the daemon or the hub a service of this system",
		Long: `service installs runner where the system starts it: as a systemd unit, a launchd job or a Windows service.

Without --hub or --project it is about the daemon for all projects of this machine. In a folder with a
brabo-runner.config.json it is about that project. Services belong to the user, and never run as root: --system --as-user
NAME makes one of the system that runs as that person.

Exit codes: 0 done or running; 2 refused; 3 installed and stopped; 4 not installed; 5 installed, but the service manager did
not answer or did not start it.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newServiceInstall(), newServiceRefresh(), newServiceUninstall(),
		newServiceStep("start", "Start an installed service", "started", service.Manager.Start),
		newServiceStep("stop", "Stop an installed service until the next login or boot", "stopped", service.Manager.Stop),
		newServiceStep("restart", "Start an installed service anew", "restarted", service.Manager.Restart),
		newServiceStatus())
	return cmd
}

// serviceFlags say which service a command is about.
type serviceFlags struct {
	machine, hub, user, system bool
	project, asUser            string
}

func (f *serviceFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.machine, "machine", false, "the daemon for all projects of this machine (the default)")
	flags.StringVar(&f.project, "project", "", "the daemon for the project with this id alone")
	flags.BoolVar(&f.hub, "hub", false, "the hub")
	flags.BoolVar(&f.user, "user", false, "a service of this user (the default)")
	flags.BoolVar(&f.system, "system", false, "a service of the system, which runs as the account --as-user")
	flags.StringVar(&f.asUser, "as-user", "", "name of the account that a service of the system runs as; never root")
}

// named reports whether the flags, or a project's file in the folder, say which service is meant.
func (f *serviceFlags) named(src settings.Sources) bool {
	_, _, _, file := src.ProjectFile()
	return f.machine || f.hub || f.project != "" || file
}

// id is the service that the flags mean, else the one of the project whose file lies in the folder, else the machine's.
func (f *serviceFlags) id(src settings.Sources) (service.ID, error) {
	refuse := failure.New(failure.Usage, "service")
	switch {
	case f.machine && f.project != "", f.hub && f.project != "", f.hub && f.machine:
		return service.ID{}, refuse.Because("--machine, --project and --hub are three services").Then("name one of them")
	case f.user && f.system:
		return service.ID{}, refuse.Because("--user and --system are two service managers").Then("name one of them")
	case f.asUser != "" && !f.system:
		return service.ID{}, refuse.Because("--as-user is the account of a service of the system").Then("add `--system`")
	}
	id := service.ID{Kind: service.Machine, System: f.system}
	_, project, _, file := src.ProjectFile()
	switch {
	case f.hub:
		id.Kind = service.Hub
	case f.project != "":
		id.Kind, id.Project = service.Project, f.project
	case file && !f.machine:
		id.Kind, id.Project = service.Project, project
	}
	return id, id.Check()
}

// sources are those that the service's own user has: for a service of the system another user's than ours.
func (f *serviceFlags) sources() (settings.Sources, error) {
	src, err := processSources()
	if err != nil || !f.system || f.asUser == "" {
		return src, err
	}
	return sourcesOf(src, f.asUser)
}

// sourcesOf are src with the home of the account name.
func sourcesOf(src settings.Sources, name string) (settings.Sources, error) {
	account, err := user.Lookup(name)
	if err != nil {
		return src, failure.New(failure.ServiceAccount, name).
			Because("there is no such account on this machine").Then("check `--as-user`").Wrap(err)
	}
	src.Environ = slices.DeleteFunc(slices.Clone(src.Environ), func(entry string) bool {
		return strings.HasPrefix(entry, "XDG_") || strings.HasPrefix(entry, "HOME=") || strings.HasPrefix(entry, "USERPROFILE=")
	})
	src.Environ = append(src.Environ, "HOME="+account.HomeDir, "USERPROFILE="+account.HomeDir)
	return src, nil
}

// manager is this machine's service manager, for the user of src.
func serviceManager(ctx context.Context, src settings.Sources) service.Manager {
	folders := src.Folders()
	return service.Here(ctx, folders.Home, filepath.Dir(folders.Config), src.Environ)
}

// existingService gives the failure of a run beside an installed service of the existing client for the same project.
func existingService(src settings.Sources, r settings.Run) *failure.Failure {
	folders := src.Folders()
	return service.ThisHost(folders.Home, filepath.Dir(folders.Config)).Rival(r.ProjectID, r.APIURL)
}

// target is the service that flags mean, with what is needed to work on it.
type target struct {
	src     settings.Sources
	manager service.Manager
	id      service.ID
}

func (f *serviceFlags) target(ctx context.Context) (target, error) {
	src, err := f.sources()
	if err != nil {
		return target{}, serviceExit(err)
	}
	id, err := f.id(src)
	if err != nil {
		return target{}, serviceExit(err)
	}
	return target{src, serviceManager(ctx, src), id}, nil
}

// serviceExit gives err the exit code that section 8 of protocol.md has for it.
func serviceExit(err error) error {
	if f := failure.As(err); f != nil {
		code := exitUsage
		switch f.Name {
		case failure.ServiceNotInstalled:
			code = exitServiceMissing
		case failure.ServiceNotActivated, failure.ServiceManagerSilent:
			code = exitServiceUnanswered
		}
		return &exitError{code, err}
	}
	return err
}

// newServiceStep makes a command that does one step with an installed service.
func newServiceStep(name, short, done string, do func(service.Manager, context.Context, service.ID) error) *cobra.Command {
	var flags serviceFlags
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := flags.target(cmd.Context())
			if err != nil {
				return err
			}
			if err := do(t.manager, cmd.Context(), t.id); err != nil {
				return serviceExit(err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", done, t.manager.Name(t.id))
			return err
		},
	}
	flags.add(cmd)
	return cmd
}

// printFailures lists failures, one line each.
func printFailures(w io.Writer, what string, failures []*failure.Failure) {
	for _, f := range failures {
		fmt.Fprintf(w, "runner: %s: %s\n", what, visible(f.Error()))
	}
}
