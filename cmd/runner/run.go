package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/logs"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/settings"
	"brabo.dev/runner/service/notify"
	"brabo.dev/runner/workspace"
)

func newRunCommand() *cobra.Command {
	var flags settings.RunFlags
	var profileAt string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Serve one project, or all of this machine's, in the foreground",
		Long: `run joins the channel of a project and executes what was approved, until it is stopped.

With --project, or in a folder with a brabo-runner.config.json, it serves that project in --dir (else the working folder).
Without, it serves every project that its machine key may serve: in the folder that ` + "`runner project add`" + ` named, or below --base.

The credential is the token in BRABO_ACCOUNT_TOKEN, the device key brabo-runner-device-key.jwk.json in the working folder, or
the pairing that ` + "`runner login`" + ` made.
The first Ctrl-C or SIGTERM lets running commands finish within drain.grace and delivers their results; a second one ends
the process at once. A terminal that is closed counts as the first.`,
		Example: "  runner run --project ID --dir ~/shop --api-url https://brabo.example",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilAlone(cmd.Context())
			defer stop()
			return run(ctx, flags, profileAt, cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.Project, "project", "", "id of the only project to serve")
	f.StringVar(&flags.Dir, "dir", "", "the project's folder (default: the working folder)")
	f.StringVar(&flags.Token, "token", "", "project token; others on this machine can read it here, so prefer BRABO_ACCOUNT_TOKEN")
	f.StringVar(&flags.APIURL, "api-url", "", "address of the server's API (environment: BRABO_API_URL, RUNNER_API_URL)")
	f.StringVar(&flags.Base, "base", "", "folder below which project folders are made (environment: RUNNER_BASE)")
	f.StringVar(&profileAt, "pprof", "", "loopback `address` that serves profiles of this process, such as 127.0.0.1:6060")
	return cmd
}

func run(ctx context.Context, flags settings.RunFlags, profileAt string, errOut io.Writer) error {
	values, src, err := loadSettings()
	if err != nil {
		return err
	}
	served, err := resolveRun(flags, src, values)
	if err != nil {
		return usageError(err)
	}
	r := served.Run
	for _, warning := range r.Warnings {
		fmt.Fprintf(errOut, "runner: warning: %s\n", visible(warning))
	}
	if rival := existingService(src, r); rival != nil {
		return usageError(rival)
	}
	state := stateFolder(src.Folders(), r.ProjectID)
	known := knownSecrets(src, values, served.credential)
	log, logFile, err := logs.Open(logs.Options{
		Folder: logFolder(state), Total: values.Log.Total, Level: levelOf(values.Log.Level), People: errOut, Secrets: known,
	})
	if err != nil {
		log.Warn("there is no log file", "failure", err)
	}
	defer logFile.Close()
	h, err := newHost(values, src, r.APIURL, served.credential, known, log)
	if err != nil {
		return usageError(err)
	}
	options, err := h.options()
	if err != nil {
		return usageError(err)
	}
	profiles, err := openProfiles(profileAt, log)
	if err != nil {
		return usageError(err)
	}
	defer profiles.close()
	// A lock that is not understood is no lock.
	if _, err := options.Lock(r.ProjectID); err != nil {
		return usageError(err)
	}
	if err := placeBase(&options, r, log); err != nil {
		return usageError(err)
	}
	if err := ownChildren(); err != nil {
		return err
	}
	options.Commands.Cgroup = ownCgroup(h.settings.Commands.Limits, log)
	d := daemon{folder: state, since: time.Now(), log: log, again: make(chan struct{}, 1), limits: h.settings.Commands.Limits, lock: options.Lock}
	if d.journal, err = h.openJournal(d.folder); err != nil {
		return err
	}
	options.Ledger = d.journal
	options.LeaveOnRefusal = !r.Machine()
	options.Folder.Origin = folderOrigin(r)
	for _, notice := range served.notices {
		log.Warn("about the pairing", "failure", notice)
	}
	log.Info("starting", "version", version, "server", r.APIURL, "origins", r.Origins())
	d.machine = runner.New(options)
	d.checks = slices.Concat(pairingChecks(served), h.serverChecks(r), h.machineChecks(r, state, d.journalWell))
	stop := d.accompany(ctx, notify.FromEnvironment(src.Environ, os.Getpid()))
	return d.ended(errors.Join(h.serve(ctx, r, d.machine, d.again), stop(), d.journal.Close()))
}

// placeBase has project folders made below the base of r. One that breaks a rule ends the start, but for one from the
// installer's own file where only one project is served, which then merely has none made (protocol.md 2.2).
func placeBase(o *runner.Options, r settings.Run, log *slog.Logger) error {
	o.Workspaces.Base, o.Workspaces.Root = r.Base, r.Dir
	if r.Machine() {
		o.Workspaces.Root = ""
	}
	if r.Base == "" {
		return nil
	}
	err := workspace.PermittedBase(r.Base, o.Workspaces.Root, o.Folder)
	switch {
	case err == nil:
		return nil
	case r.Machine(), r.From["base"].Kind != settings.FromBase:
		return err
	}
	log.Warn("no project folders will be made here", "failure", err)
	o.Workspaces.Base = ""
	return nil
}

// serve runs the one project of r, or those that the server lists; again has it asked for the list at once.
func (h host) serve(ctx context.Context, r settings.Run, m *runner.Machine, again <-chan struct{}) error {
	if !r.Machine() {
		return m.Run(ctx, runner.Fixed(runner.Project{ID: r.ProjectID, Root: r.Dir}))
	}
	lists := make(chan []runner.Project)
	var asking sync.WaitGroup
	asking.Go(func() {
		defer close(lists)
		lister{
			ask: h.projects, place: func(p []pairing.Project) []runner.Project { return h.placed(r, p) },
			pause: pauseUnless(again), tell: m.ListFailed, log: h.log,
		}.follow(ctx, lists)
	})
	defer asking.Wait()
	return m.Run(ctx, lists)
}

// projects asks the server for the list of this machine's.
func (h host) projects(ctx context.Context) ([]pairing.Project, []*failure.Failure, error) {
	if err := h.proveHub(ctx); err != nil {
		return nil, nil, err
	}
	return h.client.Projects(ctx)
}

// folderOrigin says where the folders of the projects come from, for failures about them.
func folderOrigin(r settings.Run) string {
	if r.Machine() && r.Base == "" {
		return "`runner project add`"
	}
	if r.Machine() {
		return r.From["base"].String()
	}
	return r.From["dir"].String()
}

// placed gives each listed project its folder: the root that the server and this machine both name, else one below the
// base. A project without either is left out, by name.
func (h host) placed(r settings.Run, listed []pairing.Project) []runner.Project {
	local, err := pairing.ReadLocalProjects(h.sources.Folders().Config)
	if err != nil {
		h.log.Warn("the projects that were added on this machine are not known", "failure", err)
	}
	var projects []runner.Project
	for _, p := range listed {
		root, err := below(r.Base, p)
		// Only a hub on this machine that it is paired with may name a folder, and only one that was confirmed here.
		if p.Root != "" && r.Paired() && onLoopback(r.APIURL) {
			root, err = p.Root, local.Confirm(p.ID, p.Root)
		}
		if err != nil {
			h.log.Warn("a project is left out", "failure", err)
			continue
		}
		projects = append(projects, runner.Project{ID: p.ID, Root: root})
	}
	return projects
}

// alsoInside are the folders that were named on this machine for a project of the hub here, with the folder that it has.
func (h host) alsoInside(p runner.Project) []string {
	if !onLoopback(h.client.BaseURL) {
		return nil
	}
	local, err := pairing.ReadLocalProjects(h.sources.Folders().Config)
	if err == nil {
		err = local.Confirm(p.ID, p.Root)
	}
	if err != nil {
		return nil // it was said where the projects were placed
	}
	return local[p.ID].AlsoInside
}

// below is the project's folder below base, which must not lie elsewhere.
func below(base string, p pairing.Project) (string, error) {
	root := filepath.Join(base, p.DirName)
	switch {
	case base == "" && p.Root != "":
		return "", failure.New(failure.RootNotConfirmedHere, p.Root+" (project "+p.ID+")").
			Because("only a hub on this machine may name a folder, and there is no base").Then("name the folder of all projects by `--base`")
	case base == "":
		return "", failure.New(failure.Usage, "base").Because("the server names no folder for project %s, and there is no base", p.ID).
			Then("name the folder of all projects by `--base`")
	case !filepath.IsLocal(p.DirName) || root == filepath.Clean(base):
		return "", failure.New(failure.RootNotAllowed, p.DirName).
			Because("the server's name for the folder of project %s leads out of the base", p.ID)
	}
	return root, nil
}
