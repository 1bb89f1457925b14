package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/logs"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/settings"
	"brabo.dev/runner/service/notify"
)

func newRunCommand() *cobra.Command {
	var flags settings.RunFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Serve one project, or all of this machine's, in the foreground",
		Long: `run joins the channel of a project and executes what was approved, until it is stopped.

With --project, or in a folder with a brabo-runner.config.json, it serves that project in --dir (else the working folder).
Without, it serves every project that its machine key may serve, in folders below --base.

The credential is the token in BRABO_ACCOUNT_TOKEN, or the device key brabo-runner-device-key.jwk.json in the working folder.
The first Ctrl-C or SIGTERM lets running commands finish within drain.grace and delivers their results; a second one ends
the process at once.`,
		Example: "  runner run --project 7c1e --dir ~/shop --api-url https://brabo.example",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), flags, cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.Project, "project", "", "id of the only project to serve")
	f.StringVar(&flags.Dir, "dir", "", "the project's folder (default: the working folder)")
	f.StringVar(&flags.Token, "token", "", "project token; others on this machine can read it here, so prefer BRABO_ACCOUNT_TOKEN")
	f.StringVar(&flags.APIURL, "api-url", "", "address of the server's API (environment: BRABO_API_URL, RUNNER_API_URL)")
	f.StringVar(&flags.Base, "base", "", "folder below which project folders are made (environment: RUNNER_BASE)")
	return cmd
}

func run(ctx context.Context, flags settings.RunFlags, errOut io.Writer) error {
	src, err := processSources()
	if err != nil {
		return err
	}
	values, err := settings.Load(src)
	if err != nil {
		return usageError(err)
	}
	r, err := settings.ResolveRun(flags, src, values)
	if err != nil {
		return usageError(err)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(errOut, "runner: warning: %s\n", warning)
	}
	credential, err := credentialOf(r)
	if err != nil {
		return usageError(err)
	}
	state := stateFolder(src.Folders(), r.ProjectID)
	log, logFile, err := logs.Open(logs.Options{
		Folder: logFolder(state), Total: values.Log.Total, Level: levelOf(values.Log.Level), People: errOut,
	})
	if err != nil {
		log.Warn("there is no log file", "failure", err)
	}
	defer logFile.Close()
	h, err := newHost(values, src, r.APIURL, credential, log)
	if err != nil {
		return usageError(err)
	}
	options, err := h.options()
	if err != nil {
		return usageError(err)
	}
	if err := ownChildren(); err != nil {
		return err
	}
	d := daemon{folder: state, since: time.Now(), log: log}
	if d.journal, err = h.openJournal(d.folder); err != nil {
		return err
	}
	options.Ledger = d.journal
	options.LeaveOnRefusal = !r.Machine()
	options.Folder.Origin = folderOrigin(r)
	log.Info("starting", "version", version, "server", r.APIURL, "origins", r.Origins())
	d.machine = runner.New(options)
	d.checks = append(h.serverChecks(r), h.machineChecks(r, state, d.journalWell)...)
	stop := d.accompany(ctx, notify.FromEnvironment(src.Environ, os.Getpid()))
	return d.ended(errors.Join(h.serve(ctx, r, d.machine), stop(), d.journal.Close()))
}

// serve runs the one project of r, or those that the server lists.
func (h host) serve(ctx context.Context, r settings.Run, m *runner.Machine) error {
	if !r.Machine() {
		return m.Run(ctx, runner.Fixed(runner.Project{ID: r.ProjectID, Root: r.Dir}))
	}
	lists := make(chan []runner.Project)
	listed := make(chan error, 1)
	go func() {
		defer close(lists)
		listed <- h.list(ctx, r.Base, lists)
	}()
	return errors.Join(m.Run(ctx, lists), <-listed)
}

// folderOrigin says where the folders of the projects come from, for failures about them.
func folderOrigin(r settings.Run) string {
	if r.Machine() {
		return r.From["base"].String()
	}
	return r.From["dir"].String()
}

// credentialOf gives the token, or the device key that signs each request anew.
func credentialOf(r settings.Run) (pairing.Credential, error) {
	if !r.Token.IsZero() {
		return pairing.Token{Secret: r.Token}, nil
	}
	return pairing.ReadKey(r.KeyFile)
}

// Waits for a list of projects that is empty or can't be had (protocol.md section 5); the last is also how often a
// list is asked for again, so that added and removed projects are noticed.
var listWaits = []time.Duration{15 * time.Second, 30 * time.Second, time.Minute}

// list sends the projects of this machine each time the server has told them, until ctx ends. It gives up only where
// the very first answer says that this credential may not ask.
func (h host) list(ctx context.Context, base string, lists chan<- []runner.Project) error {
	for try, had := 0, false; ; try++ {
		listed, dropped, err := h.client.Projects(ctx)
		if ctx.Err() != nil {
			return nil // stopped while asking: an orderly end
		}
		for _, f := range dropped {
			h.log.Warn("a project is left out", "failure", f)
		}
		switch {
		case !had && (failure.Is(err, failure.NotMember) || failure.Is(err, failure.TicketRefused)):
			return err
		case err != nil:
			h.log.Warn("the list of projects can't be had", "failure", err)
		case len(listed) == 0 && !had:
			h.log.Info("no project to serve yet")
		default:
			had, try = true, len(listWaits)
			select {
			case lists <- h.below(base, listed):
			case <-ctx.Done():
				return nil
			}
		}
		wait := time.NewTimer(max(listWaits[min(try, len(listWaits)-1)], pairing.RetryAfter(err)))
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return nil
		}
	}
}

// below gives each listed project its folder below base; one whose folder would lie elsewhere is left out.
func (h host) below(base string, listed []pairing.Project) []runner.Project {
	var projects []runner.Project
	for _, p := range listed {
		root := filepath.Join(base, p.DirName)
		if !filepath.IsLocal(p.DirName) || root == filepath.Clean(base) {
			h.log.Warn("a project is left out", "failure", failure.New(failure.RootNotAllowed, p.DirName).
				Because("the server's name for the folder of project %s leads out of the base", p.ID))
			continue
		}
		projects = append(projects, runner.Project{ID: p.ID, Root: root})
	}
	return projects
}
