package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"brabo.dev/runner/containerctl"
	"brabo.dev/runner/runner"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/policy"
	"brabo.dev/runner/runner/redact"
	"brabo.dev/runner/runner/settings"
	"brabo.dev/runner/workspace"
)

const demoProject = "demo"

// stage is a hub and a daemon of the demonstration's own, joined over loopback.
type stage struct {
	hub     *hub.Hub
	folder  string // the project
	printer *printer
	// ask puts an approval to the person; nil: the demonstration approves by itself.
	ask func(question string) bool
	// discover finds the container engine; cleanUp removes what a story that broke off left there.
	discover func(context.Context) (*containerctl.Engine, error)
	cleanUp  func(context.Context) error

	web    *http.Server
	served chan error
	stop   context.CancelFunc // asks the daemon to stop
	ran    chan error
}

// openStage starts hub and daemon and returns when the daemon has joined.
func openStage(ctx context.Context, log *slog.Logger) (*stage, error) {
	folder, err := demoFolder()
	if err != nil {
		return nil, err
	}
	s := &stage{folder: folder, served: make(chan error, 1), ran: make(chan error, 1)}
	if err := s.open(ctx, log); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return s, nil
}

func (s *stage) open(ctx context.Context, log *slog.Logger) error {
	if err := writePermissions(filepath.Join(s.folder, policy.FileName)); err != nil {
		return failure.New(failure.NoDemoFolder, s.folder).Wrap(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return failure.New(failure.Internal, "127.0.0.1").Because("no loopback port could be opened: %v", err).Wrap(err)
	}
	token := settings.NewSecret("brb_" + rand.Text() + rand.Text())
	s.hub = hub.New(hub.Config{
		Projects:       []hub.Project{{ID: demoProject, Name: "Demonstration", Mode: hub.ModeMounted, Root: s.folder}},
		Credentials:    []hub.Credential{{ID: "demo", Project: demoProject, Token: token.Reveal()}},
		Person:         "you",
		ActionDeadline: 10 * time.Minute,
		Hosts:          []string{listener.Addr().String()},
		Log:            log.With("part", "hub"),
	})
	s.web = &http.Server{Handler: s.hub, ReadHeaderTimeout: 10 * time.Second}
	go func() { s.served <- s.web.Serve(listener) }()

	options, err := demoOptions(s.folder, "http://"+listener.Addr().String(), token, log)
	if err != nil {
		return errors.Join(err, s.closeHub())
	}
	s.discover = options.Containers.Discover
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	go func() {
		s.ran <- runner.New(options).Run(running, runner.Fixed(runner.Project{ID: demoProject, Root: s.folder}))
	}()
	if err := s.hub.WaitRunner(ctx, demoProject); err != nil {
		return errors.Join(fmt.Errorf("waiting for the daemon to join: %w", err), s.closeAll())
	}
	return nil
}

// demoOptions are the defaults of settings.md with the demonstration's own folder and hub. The person's settings don't
// count: the story is the same everywhere.
func demoOptions(folder, hubURL string, token settings.Secret, log *slog.Logger) (runner.Options, error) {
	src, err := processSources()
	if err != nil {
		return runner.Options{}, err
	}
	values, err := settings.Load(settings.Sources{Environ: []string{"HOME=" + folder, "USERPROFILE=" + folder}, WorkDir: folder})
	if err != nil {
		return runner.Options{}, err
	}
	known := &redact.Known{}
	known.Keep(token.Reveal())
	h, err := newHost(values, src, hubURL, pairing.Token{Secret: token}, known, log.With("part", "daemon"))
	if err != nil {
		return runner.Options{}, err
	}
	o, err := h.options()
	if err != nil {
		return runner.Options{}, err
	}
	o.Folder = workspace.Options{Demo: true, Origin: "demo"}
	o.Commands.SpoolDir = ""
	o.Lock = nil // the story is the same everywhere, and allows nothing that this machine's own rules are about
	return o, ownChildren()
}

// demoFolder makes the project's folder: in the user's cache, else in the system's temporary folder, and in one whose
// path every rule about project folders accepts, if there is one.
func demoFolder() (string, error) {
	var parents []string
	if cache, err := os.UserCacheDir(); err == nil {
		parents = append(parents, filepath.Join(cache, "runner"))
	}
	parents = append(parents, os.TempDir())
	var errs []error
	for _, parent := range parents {
		if err := workspace.Confirmable(parent); err != nil {
			errs = append(errs, err)
			continue
		}
		if err := os.MkdirAll(parent, 0o700); err != nil {
			errs = append(errs, err)
			continue
		}
		folder, err := os.MkdirTemp(parent, "runner-demo-")
		if err == nil {
			// A cwd is compared by its real path, and the cache may lie behind a link.
			return filepath.EvalSymlinks(folder)
		}
		errs = append(errs, err)
	}
	err := errors.Join(errs...)
	return "", failure.New(failure.NoDemoFolder, parents[len(parents)-1]).Because("no folder for the demonstration could be made: %v", err).Wrap(err)
}

// close stops daemon and hub and removes the project.
func (s *stage) close() error {
	var err error
	if s.cleanUp != nil {
		ctx, cancel := context.WithTimeout(context.Background(), engineTimeout)
		defer cancel()
		err = s.cleanUp(ctx)
	}
	return errors.Join(err, s.closeAll(), os.RemoveAll(s.folder))
}

func (s *stage) closeAll() error {
	s.stop()
	return errors.Join(<-s.ran, s.closeHub())
}

func (s *stage) closeHub() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := errors.Join(s.hub.Close(ctx), s.web.Shutdown(ctx))
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
