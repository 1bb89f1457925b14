package containerctl

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/api/types/registry"
	"github.com/moby/moby/client"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// pullBed is an engine beside two registries and a front before the open one.
type pullBed struct {
	*bed
	process               *engineProcess
	front                 *front
	open, private, closed string // addresses
}

func startPullBed(t *testing.T, start func(registries ...string) *engineProcess) *pullBed {
	needRoot(t)
	p := &pullBed{open: startRegistry(t, false), private: startRegistry(t, true), closed: freeAddress(t)}
	p.front = startFront(t, p.open)
	p.process = start(p.open, p.private, p.closed, p.front.address)
	p.bed = newBed(t, p.process.address)
	return p
}

// start starts a container from an image and gives the error only.
func (p *pullBed) start(t *testing.T, image string, change func(*StartOptions)) error {
	t.Helper()
	s, opts := p.spec(t), StartOptions{Root: t.TempDir()}
	s.Image = image
	if change != nil {
		change(&opts)
	}
	_, err := p.Start(t.Context(), s, opts)
	if err != nil {
		if st, err := p.Inspect(t.Context(), s.WorkspaceDirName); err == nil && st.Exists {
			t.Errorf("a failed start left a container: %+v", st)
		}
	}
	return err
}

// Needs Docker and docker-registry: starts both.
func TestRootPullsWithDocker(t *testing.T) {
	testPulls(t, startPullBed(t, func(...string) *engineProcess { return startDocker(t) }))
}

// Needs Podman and docker-registry: starts both.
func TestRootPullsWithPodman(t *testing.T) {
	testPulls(t, startPullBed(t, func(r ...string) *engineProcess { return startPodman(t, r...) }))
}

func testPulls(t *testing.T, p *pullBed) {
	push := func(t *testing.T, address, repository string, auth registry.AuthConfig) string {
		// With a file of its own, so that no other image has the same layer.
		p.bed.image = p.importImage(t, imageTar(t, map[string]string{"etc/made-for": repository}), nil)
		return p.push(t, address, repository, auth)
	}
	t.Run("found", func(t *testing.T) {
		name := push(t, p.open, "found:1", registry.AuthConfig{})
		var mu sync.Mutex
		var last Progress
		if err := p.start(t, name, func(o *StartOptions) {
			o.Progress = func(now Progress) { mu.Lock(); last = now; mu.Unlock() }
		}); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if p.Facts().Name == docker && (last.Image != name || last.Total == 0 || last.Current > last.Total) {
			t.Errorf("progress: %+v", last)
		}
	})
	t.Run("no such tag", func(t *testing.T) {
		failuretest.Produced(t, p.start(t, p.open+"/found:2", nil), failure.ImageNotFound)
	})
	t.Run("no such repository", func(t *testing.T) {
		failuretest.Produced(t, p.start(t, p.open+"/absent:1", nil), failure.ImageNotFound)
	})
	t.Run("nobody there", func(t *testing.T) {
		failuretest.Produced(t, p.start(t, p.closed+"/a:1", nil), failure.RegistryUnreachable)
	})
	t.Run("rate limited, and not tried again", func(t *testing.T) {
		p.front.fail(429, 1000)
		defer p.front.fail(0, 0)
		failuretest.Produced(t, p.start(t, p.front.address+"/found:1", nil), failure.ImageRateLimited)
	})
	t.Run("an error that passes", func(t *testing.T) {
		name := p.front.address + "/found:1"
		p.forget(t, name)
		p.front.fail(503, 2)
		defer p.front.fail(0, 0)
		if err := p.start(t, name, nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("an error that stays", func(t *testing.T) {
		p.front.fail(500, 1000)
		defer p.front.fail(0, 0)
		failuretest.Produced(t, p.start(t, p.front.address+"/other:1", nil), failure.ImagePullFailed)
	})
	t.Run("denied", func(t *testing.T) { testDenied(t, p, push) })
	t.Run("slow", func(t *testing.T) { testSlow(t, p, push) })
	t.Run("the daemon stops meanwhile", func(t *testing.T) { testCloseWhilePulling(t, p, push) })
	t.Run("the engine stops meanwhile", func(t *testing.T) { testEngineStopsInStart(t, p, push) })
}

type pushFunc func(t *testing.T, address, repository string, auth registry.AuthConfig) string

func testDenied(t *testing.T, p *pullBed, push pushFunc) {
	name := push(t, p.private, "private:1", registry.AuthConfig{Username: login, Password: password, ServerAddress: p.private})
	failuretest.Produced(t, p.start(t, name, nil), failure.ImageDenied)
	dir := t.TempDir()
	helper := filepath.Join(dir, "docker-credential-test")
	for _, tc := range []struct {
		name, config, helper string
		ok                   bool
	}{
		{"a stored login", storedLogin(p.private, password), "", true},
		{"a login that is wrong", storedLogin(p.private, "guess"), "", false},
		{"another registry's login", storedLogin("other.example", password), "", false},
		{"a broken store", "{", "", false},
		{"a helper", `{"credsStore":"test"}`, `[ "$1" = get ] || exit 1; read -r host; [ "$host" = ` + p.private + ` ] && echo '{"Username":"` + login + `","Secret":"` + password + `"}'`, true},
		{"a helper for this registry", `{"credHelpers":{"` + p.private + `":"test"}}`, `echo '{"Username":"` + login + `","Secret":"` + password + `"}'`, true},
		{"a helper that fails", `{"credsStore":"test"}`, "exit 1", false},
		{"a helper that is missing", `{"credsStore":"nosuch"}`, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p.forget(t, name)
			write(t, filepath.Join(dir, "config.json"), tc.config)
			if err := os.WriteFile(helper, []byte("#!/bin/sh\n"+tc.helper+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			e, err := Discover(t.Context(), Discovery{Setting: p.Address(), Environ: []string{"DOCKER_CONFIG=" + dir, "PATH=" + dir}})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			s := p.spec(t)
			s.Image = name
			_, err = e.Start(t.Context(), s, StartOptions{Root: t.TempDir()})
			if !tc.ok {
				failuretest.Produced(t, err, failure.ImageDenied)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// testSlow is a pull that takes longer than the action may: it goes on, and the next start joins it.
func testSlow(t *testing.T, p *pullBed, push pushFunc) {
	push(t, p.open, "slow:1", registry.AuthConfig{})
	name := p.front.address + "/slow:1"
	p.front.slow()
	defer p.front.release()
	soon := func(o *StartOptions) { o.PullDeadline = time.Now().Add(time.Second) }
	failuretest.Produced(t, p.start(t, name, soon), failure.ImagePullInProgress)
	<-p.front.held
	failuretest.Produced(t, p.start(t, name, soon), failure.ImagePullInProgress)
	before := p.front.blobs()
	ctx, cancel := context.WithCancel(t.Context())
	s := p.spec(t)
	s.Image = name
	cancelled := make(chan error, 1)
	go func() { _, err := p.Start(ctx, s, StartOptions{Root: t.TempDir()}); cancelled <- err }()
	cancel()
	failuretest.Produced(t, <-cancelled, failure.Cancelled)
	joined := make(chan error, 2)
	for range 2 {
		go func() { joined <- p.start(t, name, nil) }()
	}
	p.front.release()
	for range 2 {
		if err := <-joined; err != nil {
			t.Error(err)
		}
	}
	// Docker asks for a small image's layers and configuration at once, so that all had been asked before.
	if after := p.front.blobs(); after > before+2 {
		t.Errorf("blobs were asked for again: %d before, %d after", before, after)
	}
}

func testCloseWhilePulling(t *testing.T, p *pullBed, push pushFunc) {
	push(t, p.open, "closed:1", registry.AuthConfig{})
	p.front.slow()
	defer p.front.release()
	e := discover(t, p.Address())
	s := p.spec(t)
	s.Image = p.front.address + "/closed:1"
	got := make(chan error, 1)
	go func() { _, err := e.Start(t.Context(), s, StartOptions{Root: t.TempDir()}); got <- err }()
	<-p.front.held
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	failuretest.Produced(t, <-got, failure.Draining)
	_, err := e.Start(t.Context(), s, StartOptions{Root: t.TempDir()})
	failuretest.Produced(t, err, failure.Draining)
}

func testEngineStopsInStart(t *testing.T, p *pullBed, push pushFunc) {
	push(t, p.open, "stops:1", registry.AuthConfig{})
	name := p.front.address + "/stops:1"
	p.front.slow()
	got := make(chan error, 1)
	s, root := p.spec(t), t.TempDir()
	s.Image = name
	go func() { _, err := p.Start(t.Context(), s, StartOptions{Root: root}); got <- err }()
	<-p.front.held
	p.process.stop(t, syscall.SIGKILL)
	failuretest.Produced(t, <-got, failure.EngineNotRunning)
	_, _, err := p.Running(t.Context(), s.ProjectID)
	failuretest.Produced(t, err, failure.EngineNotRunning)
	p.front.release()
	p.process.start(t)
	if _, err := p.Start(t.Context(), s, StartOptions{Root: root}); err != nil {
		t.Error(err)
	}
}

func TestAPullThatStandsStillIsNamed(t *testing.T) {
	e := &Engine{}
	err, passing := e.pullFault(t.Context(), errStalled, "a:1")
	failuretest.Produced(t, err, failure.ImagePullStalled)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStalled)
	if !passing || !errors.Is(cause(ctx, ctx.Err()), errStalled) || cause(ctx, nil) != nil {
		t.Error("a pull that stands still is not tried again")
	}
}

// Needs Docker: starts dockerd, stops it while a command runs, and starts it again.
func TestRootDockerStopsInExec(t *testing.T) { testEngineStopsInExec(t, startDocker(t)) }

// Needs Podman: starts its service, stops it while a command runs, and starts it again.
func TestRootPodmanStopsInExec(t *testing.T) { testEngineStopsInExec(t, startPodman(t)) }

func testEngineStopsInExec(t *testing.T, p *engineProcess) {
	b := newBed(t, p.address)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			s, c, root := b.up(t)
			stopped := make(chan struct{})
			_, err := b.Exec(t.Context(), ExecCommand{Container: c.ID, Text: "trap '' TERM; echo ready; sleep 600 & while :; do sleep 1; done",
				Output: once(func() { defer close(stopped); p.stop(t, sig) })})
			if !failure.Is(err, failure.ContainerGone) { // an engine that stops in good order may still say what became of it
				failuretest.Produced(t, err, failure.EngineNotRunning)
			}
			<-stopped
			_, err = b.Exec(t.Context(), ExecCommand{Container: c.ID, Text: "true"})
			failuretest.Produced(t, err, failure.EngineNotRunning)
			failuretest.Produced(t, b.Stop(t.Context(), s.WorkspaceDirName), failure.EngineNotRunning)
			p.start(t)
			again, err := b.Start(t.Context(), s, StartOptions{Root: root})
			if err != nil || again.ID != c.ID {
				t.Fatalf("%+v, %v", again, err)
			}
			if rest := b.left(t, c.ID); rest != "" {
				t.Errorf("still there:\n%s", rest)
			}
		})
	}
}

// Needs Docker and ip: starts dockerd with a bridge of its own.
func TestRootEgressReachesTheBridge(t *testing.T) {
	needRoot(t)
	address := startBridge(t)
	b := newBed(t, startDocker(t, "--bridge="+bridge).address)
	served := serveHello(t, address)
	for network, want := range map[Network]bool{NetworkEgress: true, NetworkNone: false} {
		s := b.spec(t)
		s.Network = network
		c, err := b.Start(t.Context(), s, StartOptions{Root: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		r, out := b.run(t, c.ID, "wget -q -O - "+served)
		if (r.ExitCode == 0 && out == "hello") != want {
			t.Errorf("%s: %+v, %q", network, r, out)
		}
		got, err := b.raw.ContainerInspect(t.Context(), c.ID, client.ContainerInspectOptions{})
		if err != nil || strings.Contains(string(got.Container.HostConfig.NetworkMode), "host") {
			t.Errorf("%v", err)
		}
	}
}
