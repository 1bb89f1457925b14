package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/containerctl"
	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/journal"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/redact"
	"brabo.dev/runner/runner/settings"
	"brabo.dev/runner/workspace"
	"brabo.dev/runner/workspace/git"
)

// host is what a daemon needs to know about the machine and the server, before it knows its projects.
type host struct {
	settings settings.Settings
	sources  settings.Sources
	client   *pairing.Client
	dialer   *channel.Dialer
	known    *redact.Known // the secrets of this process
	log      *slog.Logger
}

// newHost puts proxy, certificates and credential together, for HTTP and WebSocket alike.
func newHost(values settings.Settings, src settings.Sources, address string, credential pairing.Credential, known *redact.Known, log *slog.Logger) (host, error) {
	transport, err := pairing.NewTransport(values.Proxy, values.CAFile)
	if err != nil {
		return host{}, err
	}
	return host{
		settings: values, sources: src, known: known, log: log,
		client: &pairing.Client{BaseURL: address, Credential: credential, HTTP: &http.Client{Transport: transport.HTTP}},
		dialer: &channel.Dialer{
			Heartbeat: values.Connect.Heartbeat, ReadLimit: values.Connect.ReadLimit,
			Proxy: transport.Proxy, TLS: transport.TLS, Logger: log,
		},
	}, nil
}

// options are those of a daemon with the values of settings.md.
func (h host) options() (runner.Options, error) {
	c := h.settings.Commands
	shell, err := exec.FindShell(c.Shell)
	if err != nil {
		return runner.Options{}, err
	}
	folders := h.sources.Folders()
	o := runner.Options{
		Server: h.client.BaseURL,
		Address: func(ctx context.Context, projectID string) (runner.Address, error) {
			if err := h.proveHub(ctx); err != nil {
				return "", err
			}
			ticket, err := h.client.Ticket(ctx, projectID)
			if err != nil {
				return "", err
			}
			h.known.Pass(ticket.Ticket.Reveal())
			h.known.Keep(hubOwnerToken(folders)) // made by the hub's first start, perhaps after ours
			return runner.Address(ticket.URL()), nil
		},
		Dialer: h.dialer,
		Ledger: &runner.MemoryLedger{},
		Folder: workspace.Options{
			Roots: h.settings.Roots, Home: folders.Home, Ours: folders.Ours(), AllowHomeRoot: h.settings.AllowHomeRoot,
		},
		Browse: workspace.Browse{Roots: h.settings.Roots, Home: folders.Home, MaxEntries: h.settings.Browse.MaxEntries},
		Commands: runner.Commands{
			Shell: shell, Deadline: c.Deadline, GitDeadline: c.GitDeadline, Grace: c.Grace, Parallel: c.Parallel, Queue: c.Queue,
			Environment: c.Environment, BareRepositories: c.BareRepositories, Inherited: h.sources.Environ,
			Limits: exec.Limits{
				CPU:       time.Duration(c.Limits.CPU * float64(time.Second)),
				OpenFiles: c.Limits.OpenFiles, FileSize: c.Limits.FileSize, Memory: c.Limits.Memory, Processes: c.Limits.PIDs,
			},
			Helper:      boundsHelper(),
			ResultLimit: int(h.settings.Output.Result), SpoolDir: filepath.Join(folders.State, "output"), SpoolLimit: h.settings.Output.Spool,
			SpoolTotal: h.settings.Output.SpoolTotal,
		},
		Containers: runner.Containers{
			Discover: h.discover, User: h.settings.Container.User, Drift: h.settings.Container.Drift, Pull: h.settings.Container.Pull,
		},
		Workspaces:      runner.Workspaces{Deadline: h.settings.Workspace.CloneDeadline},
		Git:             h.git(),
		Lock:            h.machinePolicy().Lock,
		AlsoInside:      h.alsoInside,
		Protected:       protected(h.sources),
		Managed:         filepath.ToSlash(h.machinePolicy().Managed),
		ConfirmDeadline: h.settings.Confirm.Deadline,
		Attempts:        h.attempts(),
		BackoffMax:      h.settings.Connect.BackoffMax, StableAfter: h.settings.Connect.StableAfter, DrainGrace: h.settings.Drain.Grace,
		Secrets: h.known, Log: h.log, Refresh: h.client.HTTP.CloseIdleConnections,
	}
	if h.settings.Terminals.Enabled {
		o.Terminals.Max = h.settings.Terminals.Max
	}
	if c.Umask != nil {
		umask := int(*c.Umask)
		o.Commands.Umask = &umask
	}
	return o, nil
}

// proveHub has the hub on this machine, where that is the server, show that it is the hub before it is asked: what took
// its port after a crash would have this daemon execute for it.
func (h host) proveHub(ctx context.Context) error {
	return proveAt(ctx, h.sources, h.client.BaseURL, h.settings.CAFile)
}

// git is how git runs for typed actions, clones and mirrors; its environment is made for each.
func (h host) git() *git.Git {
	g := &git.Git{
		Protocols: h.settings.Git.Protocols, Hooks: h.settings.Git.Hooks == "run", Keys: protected(h.sources).Files,
	}
	if binary, err := os.Executable(); err == nil { // without it no credential is handed over, and git says so
		g.Helper = []string{binary, gitCredentialName}
	}
	return g
}

// attempts is the bound on attempts to connect. It is there for the limit of a server that serves many people; one on
// this machine has none, and a thousand projects should not wait for each other.
func (h host) attempts() int {
	if onLoopback(h.client.BaseURL) {
		return 0
	}
	return h.settings.Connect.Attempts
}

// stateFolder is that of a daemon that serves one project, or, for an empty id, all of this machine's. Each such daemon
// has a folder of its own, since a journal, a log and a local socket have one owner.
func stateFolder(f settings.Folders, projectID string) string {
	if projectID == "" {
		return f.State
	}
	sum := sha256.Sum256([]byte(projectID)) // an id is the server's word, and no name of a folder
	return control.ProjectFolder(f.State, hex.EncodeToString(sum[:8]))
}

// openJournal opens the journal in a daemon's state folder.
func (h host) openJournal(folder string) (*journal.Journal, error) {
	j := h.settings.Journal
	opened, err := journal.Open(journal.Options{
		Folder: folder, Keep: j.Keep, Size: j.Size, Reserve: j.Reserve, Log: h.log,
	})
	if err != nil {
		return nil, err
	}
	if f := opened.Replaced(); f != nil {
		h.log.Error("the journal was damaged; a fresh one was started", "failure", f)
	}
	return opened, nil
}

// discover finds the container engine that the person chose, or that is there.
func (h host) discover(ctx context.Context) (*containerctl.Engine, error) {
	folders := h.sources.Folders()
	return containerctl.Discover(ctx, containerctl.Discovery{
		Setting: h.settings.Container.Engine, Environ: h.sources.Environ, Home: folders.Home, RuntimeDir: filepath.Dir(folders.Runtime),
	})
}

// ownChildren makes this process the reaper of what its commands leave behind, and keeps to itself what it knows.
func ownChildren() error {
	if err := exec.BecomeSubreaper(); err != nil {
		return err
	}
	return keepToItself()
}

// keepToItself switches core files off, which would hold what this process or its commands had in memory, and hides this
// one's memory, environment and open files from the commands.
func keepToItself() error {
	return errors.Join(exec.DropCores(), exec.HideMemory(), exec.KeepDescriptors())
}

// processSources are the settings' sources of this process.
func processSources() (settings.Sources, error) {
	src, err := settings.FromProcess()
	if err != nil {
		return src, fmt.Errorf("finding the working folder: %w", err)
	}
	return src, nil
}
