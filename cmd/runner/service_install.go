package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/settings"
	"brabo.dev/runner/service"
)

// installFlags are those of `service install`.
type installFlags struct {
	serviceFlags
	dir, apiURL           string
	env                   []string
	dryRun, asJSON, stdin bool
}

func newServiceInstall() *cobra.Command {
	var flags installFlags
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install a service, start it now and at each login or boot",
		Long: `install writes the unit, starts the service, and shows what it froze into it: PATH, the folders of the XDG rules, the
language, proxies and the container engine's address, and what --env names. Tokens are never written into a unit: the
credential is this machine's pairing (runner login, runner up), or the device key in the folder.

It may be repeated: the unit is replaced and the service started anew. --dry-run prints the unit, then says what would be
refused, and changes nothing.`,
		Example: "  runner service install\n  runner service install --project ID --dir ~/shop --api-url https://brabo.example\n  sudo runner service install --system --as-user ana",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serviceInstall(cmd.Context(), flags, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags.add(cmd)
	f := cmd.Flags()
	f.StringVar(&flags.dir, "dir", "", "folder of the project, or of the machine's device key (default: the working folder)")
	f.StringVar(&flags.apiURL, "api-url", "", "address of the server's API, where the pairing does not say it")
	f.StringArrayVar(&flags.env, "env", nil, "name of another variable to freeze; may be repeated")
	f.BoolVar(&flags.dryRun, "dry-run", false, "print the unit and what would be refused; change nothing")
	f.BoolVar(&flags.asJSON, "json", false, "print one JSON object")
	f.BoolVar(&flags.stdin, "password-stdin", false, "on Windows: read the account's password from standard input")
	return cmd
}

// installed is what `service install --json` prints; its form is stable.
type installed struct {
	Name        string             `json:"name"`
	Path        string             `json:"path,omitempty"`
	Unit        string             `json:"unit"`
	Environment map[string]string  `json:"environment"`
	LeftOut     []*failure.Failure `json:"leftOut,omitempty"`
	Refused     []*failure.Failure `json:"refused,omitempty"`
	DryRun      bool               `json:"dryRun,omitempty"`
}

func serviceInstall(ctx context.Context, flags installFlags, in io.Reader, out, errOut io.Writer) error {
	t, err := flags.target(ctx)
	if err != nil {
		return err
	}
	request, capture, err := flags.request(t)
	if err != nil {
		return err
	}
	unit, err := t.manager.Unit(request.Definition)
	if err != nil {
		return err
	}
	shown := installed{
		Name: t.manager.Name(t.id), Path: t.manager.Path(t.id), Unit: unit, Environment: capture.Values, LeftOut: capture.Left,
		Refused: t.manager.Refusals(request), DryRun: flags.dryRun,
	}
	switch {
	case flags.dryRun && flags.asJSON:
		return json.NewEncoder(out).Encode(shown)
	case flags.dryRun:
		fmt.Fprint(out, unit)
		printFailures(errOut, "left out", capture.Left)
		printFailures(errOut, "would be refused", shown.Refused)
		return nil
	case len(shown.Refused) > 0:
		if flags.asJSON {
			if err := json.NewEncoder(out).Encode(shown); err != nil {
				return err
			}
		}
		printFailures(errOut, "refused", shown.Refused)
		return &exitError{exitUsage, nil}
	}
	if flags.stdin {
		password, err := bufio.NewReader(in).ReadString('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("reading the password: %w", err)
		}
		request.Password = strings.TrimRight(password, "\r\n")
	}
	err = t.manager.Install(ctx, request.Definition)
	if failure.Is(err, failure.ServiceForeignUnit) || failure.Is(err, failure.ServiceNotWritten) {
		return serviceExit(err)
	}
	if flags.asJSON {
		if err := json.NewEncoder(out).Encode(shown); err != nil {
			return err
		}
	} else {
		shown.print(out)
		printFailures(errOut, "left out", capture.Left)
	}
	return serviceExit(err)
}

func (i installed) print(out io.Writer) {
	where := i.Path
	if where == "" {
		where = i.Name
	}
	fmt.Fprintf(out, "installed %s\nits environment:\n", where)
	for _, name := range slices.Sorted(maps.Keys(i.Environment)) {
		fmt.Fprintf(out, "  %s=%s\n", name, visible(i.Environment[name]))
	}
	fmt.Fprintln(out, "`runner service refresh-env` captures it again.")
}

// request puts together what is to be installed, and looks at it as the service will: from its folder, with its
// environment, and without any token.
func (f installFlags) request(t target) (service.Request, service.Capture, error) {
	src := t.src
	if f.dir != "" {
		src.WorkDir = f.dir
		if !filepath.IsAbs(src.WorkDir) {
			src.WorkDir = filepath.Join(t.src.EffectiveDir(), src.WorkDir)
		}
		src.Environ = without(src.Environ, "INIT_CWD")
	}
	program, err := os.Executable()
	if err != nil {
		return service.Request{}, service.Capture{}, fmt.Errorf("finding this program: %w", err)
	}
	capture := service.CaptureEnvironment(src.Environ, f.env)
	r := service.Request{Definition: service.Definition{
		ID: t.id, User: f.asUser, Program: program, Folder: src.EffectiveDir(), Environment: capture.Values, Umask: currentUmask(),
	}}
	r.Grace, err = stopGrace(src)
	if err != nil {
		r.Credential = failure.From(err, "the settings")
	}
	if t.id.Kind == service.Hub {
		r.Arguments, r.Folder = []string{"hub"}, src.Folders().Home
		return r, capture, nil
	}
	f.serve(&r, src)
	return r, capture, nil
}

// serve fills in what only a daemon has: its server, its credential and its folder.
func (f installFlags) serve(r *service.Request, src settings.Sources) {
	seen := src
	seen.Environ = without(src.Environ, "BRABO_ACCOUNT_TOKEN", "INIT_CWD")
	seen.WorkDir = r.Folder
	r.Arguments = []string{"run"}
	path, project, fileURL, file := seen.ProjectFile()
	if r.Kind == service.Project {
		// The variable counts for the machine's service alone (protocol.md 2.2).
		seen.Environ = without(seen.Environ, "BRABO_API_URL")
		r.Arguments = append(r.Arguments, "--project", r.Project, "--dir", r.Folder)
	} else {
		if file {
			r.ProjectFile = path
		}
		if _, err := os.Stat(seen.KeyFile()); err != nil {
			r.Folder = src.Folders().Config // the pairing's, which stays when projects come and go
			seen.WorkDir = r.Folder
		}
	}
	flags := settings.RunFlags{Project: r.Project, APIURL: f.apiURL}
	if file && project == r.Project && flags.APIURL == "" {
		flags.APIURL = fileURL
	}
	values, err := settings.Load(seen)
	if err != nil {
		r.Credential = failure.From(err, "the settings")
		return
	}
	run, err := resolveRun(flags, seen, values)
	if err != nil {
		r.Credential = failure.From(err, r.Folder)
		return
	}
	r.APIURL = run.APIURL
	switch run.From["api-url"].Kind {
	case settings.FromPairing, settings.FromFile: // read anew at each start
	default:
		r.Arguments = append(r.Arguments, "--api-url", run.APIURL)
	}
}

// stopMargin is what a stop may take beyond the grace of the daemon and of its commands: results are delivered in it.
const stopMargin = 15 * time.Second

func stopGrace(src settings.Sources) (time.Duration, error) {
	values, err := settings.Load(src)
	return values.Drain.Grace + values.Commands.Grace + stopMargin, err
}

// without gives environ less the named variables.
func without(environ []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name)
	})
}
