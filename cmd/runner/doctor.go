package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/doctor"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/settings"
	"brabo.dev/runner/service"
	"brabo.dev/runner/workspace"
)

func newDoctorCommand() *cobra.Command {
	var flags settings.RunFlags
	var asJSON bool
	var bundle string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Examine what the daemon stands on, and say what to do",
		Long: `doctor checks the server (with proxy and certificates), the clock, the pairing, the credential, the container engine, the
project folder, the shell, the PATH, the disk, the journal, other installs, misspelt variables, policy.json, and
whether confinement and limits hold. Each check passes, warns or fails, with the next step.

A running daemon makes the checks itself, since its environment is what counts; without one they are made here, as
` + "`runner run`" + ` with the same flags would see things.

It exits with 0 when nothing fails, and 5 when something does.

With --bundle it also writes an archive for a bug report: this report, the status, the settings, the history without
command texts, and the logs, with what looks like a secret taken out. Its content is listed before it is written.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := examine(cmd.Context(), flags)
			if err != nil {
				return err
			}
			if err := report.show(cmd.OutOrStdout(), asJSON); err != nil {
				return err
			}
			if bundle != "" {
				if err := writeBundle(cmd.Context(), bundle, report, cmd.ErrOrStderr()); err != nil {
					return err
				}
			}
			if report.worst() == control.Fail {
				return &exitError{Code: exitDegraded}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.Project, "project", "", "id of the only project to serve")
	f.StringVar(&flags.Dir, "dir", "", "the project's folder")
	f.StringVar(&flags.APIURL, "api-url", "", "address of the server's API")
	f.StringVar(&flags.Base, "base", "", "folder below which project folders are made")
	f.BoolVar(&asJSON, "json", false, "as JSON: a list of reports, one a daemon")
	f.StringVar(&bundle, "bundle", "", "write an archive for a bug report to this .tar.gz, which must not be there")
	return cmd
}

// examined is what was found about one daemon.
type examined struct {
	Folder   string            `json:"folder"`
	Daemon   bool              `json:"daemon"` // the checks were made in the running daemon
	Findings []control.Finding `json:"findings"`
}

// report is what doctor found.
type report []examined

func (r report) worst() control.Verdict {
	var all []control.Finding
	for _, e := range r {
		all = append(all, e.Findings...)
	}
	return doctor.Worst(all)
}

func (r report) show(out io.Writer, asJSON bool) error {
	if asJSON {
		return writeJSON(out, r)
	}
	for _, e := range r {
		where := "no daemon runs; seen from this shell"
		if e.Daemon {
			where = "seen by the running daemon"
		}
		fmt.Fprintf(out, "%s (%s)\n", visible(e.Folder), where)
		for _, f := range e.Findings {
			text := f.Text
			if f.Failure != nil {
				text = f.Failure.Error()
			}
			fmt.Fprintf(out, "  %-4s  %-11s  %s\n", strings.ToUpper(string(f.Verdict)), f.Check, visible(text))
		}
	}
	return nil
}

// examine has each running daemon look, or looks itself where there is none.
func examine(ctx context.Context, flags settings.RunFlags) (report, error) {
	src, err := processSources()
	if err != nil {
		return nil, err
	}
	var r report
	for _, folder := range control.Folders(src.Folders().State) {
		findings, err := control.NewClient(folder).Checks(ctx)
		switch {
		case failure.Is(err, failure.DaemonNotRunning):
		case err != nil:
			r = append(r, examined{folder, true, []control.Finding{{Check: "daemon", Verdict: control.Fail, Failure: failure.From(err, folder)}}})
		default:
			r = append(r, examined{folder, true, findings})
		}
	}
	if len(r) > 0 {
		return r, nil
	}
	return report{examineHere(ctx, flags, src)}, nil
}

// examineHere makes the checks in this process. Where the settings do not say what to serve, that is a finding.
func examineHere(ctx context.Context, flags settings.RunFlags, src settings.Sources) examined {
	values, err := settings.Load(src)
	if err != nil {
		return examined{src.Folders().State, false, []control.Finding{{Check: "settings", Verdict: control.Fail, Failure: failure.From(err, "settings")}}}
	}
	run, err := resolveRun(flags, src, values)
	folder := stateFolder(src.Folders(), run.ProjectID)
	checks := []doctor.Check{{Name: "settings", Look: func(context.Context) (string, error) { return "understood", err }}}
	h := host{settings: values, sources: src}
	if err == nil {
		var bad error
		h, bad = newHost(values, src, run.APIURL, run.credential, nil, slog.New(slog.DiscardHandler))
		if bad != nil {
			checks = append(checks, doctor.Check{Name: "credential", Look: func(context.Context) (string, error) { return "", bad }})
		} else {
			checks = slices.Concat(checks, pairingChecks(run), h.serverChecks(run.Run))
		}
	}
	return examined{folder, false, doctor.Run(ctx, append(checks, h.machineChecks(run.Run, folder, nil)...))}
}

// pairingChecks show what was mended in the pairing when it was read, and what is odd about it; none where another
// credential counts.
func pairingChecks(s servant) (checks []doctor.Check) {
	for _, notice := range s.notices {
		checks = append(checks, doctor.Check{Name: "pairing", Look: func(context.Context) (string, error) { return "", doctor.Warning(notice) }})
	}
	if len(checks) == 0 && s.Paired() {
		checks = []doctor.Check{{Name: "pairing", Look: func(context.Context) (string, error) { return "whole, and out of reach of others", nil }}}
	}
	return checks
}

// serverChecks are those of the server that h asks.
func (h host) serverChecks(run settings.Run) []doctor.Check {
	checks := doctor.Server{Client: *h.client, Proxy: h.dialer.Proxy, Project: run.ProjectID}.Checks()
	for i, c := range checks {
		if c.Name == "credential" { // which is shown to nobody who only took the hub's port
			checks[i].Look = func(ctx context.Context) (string, error) {
				if err := h.proveHub(ctx); err != nil {
					return "", err
				}
				return c.Look(ctx)
			}
		}
	}
	return checks
}

// machineChecks are those of this machine. journal looks into one that is open here.
func (h host) machineChecks(run settings.Run, folder string, journal func() error) []doctor.Check {
	folders := h.sources.Folders()
	env := map[string]string{}
	for _, entry := range h.sources.Environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			env[name] = value
		}
	}
	path := cmp.Or(h.settings.Commands.Environment["PATH"], env["PATH"])
	binary, err := os.Executable()
	if err != nil {
		binary = os.Args[0]
	}
	machine := doctor.Machine{
		Shell: h.settings.Commands.Shell, Path: path, Discover: h.discover, Root: cmp.Or(run.Dir, run.Base),
		Folder: workspace.Options{
			Roots: h.settings.Roots, Home: folders.Home, Ours: folders.Ours(), AllowHomeRoot: h.settings.AllowHomeRoot, Origin: folderOrigin(run),
		},
	}
	var units []string
	for _, unit := range (service.Host{
		System: runtime.GOOS, Home: folders.Home, ConfigHome: filepath.Dir(folders.Config), UID: os.Getuid(),
	}).Existing() {
		if unit.Meets(run.ProjectID, run.APIURL) {
			units = append(units, unit.String())
		}
	}
	state := doctor.State{
		Folder: folder, Reserve: h.settings.Journal.Reserve, Journal: journal, Binary: binary, Path: path, Units: units,
		Misspelt: h.sources.Misspelt(),
	}
	lock := doctor.Check{Name: "policy", Look: func(context.Context) (string, error) {
		_, err := h.machinePolicy().Lock(run.ProjectID)
		return "policy.json is understood, where there is one", err
	}}
	bounds := doctor.Bounds{Limits: h.settings.Commands.Limits, Demanded: func() (bool, error) {
		lock, err := h.machinePolicy().Lock(run.ProjectID)
		return lock.Confine().On, err
	}}
	return slices.Concat(machine.Checks(), state.Checks(), []doctor.Check{lock}, bounds.Checks())
}
