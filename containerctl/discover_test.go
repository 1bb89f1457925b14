package containerctl

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// bare is a discovery that finds nothing: no variables, an empty home folder, no system-wide sockets.
func bare(t testing.TB) Discovery {
	t.Helper()
	return Discovery{Home: shortDir(t), RuntimeDir: shortDir(t), System: []string{}}
}

func (d Discovery) with(environ ...string) Discovery {
	d.Environ = append(d.Environ, environ...)
	return d
}

func refused(t testing.TB, d Discovery) error {
	t.Helper()
	e, err := Discover(t.Context(), d)
	if e != nil {
		e.Close()
		t.Fatalf("found %s at %s", e.Facts(), e.Address())
	}
	return err
}

// writeContext describes a docker context as the docker command line does.
func writeContext(t testing.TB, home, name, host string) {
	t.Helper()
	meta, err := json.Marshal(map[string]any{"Name": name, "Metadata": map[string]any{},
		"Endpoints": map[string]any{"docker": map[string]any{"Host": host, "SkipTLSVerify": false}}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, ".docker", "contexts", "meta", contextID(name), "meta.json"), string(meta))
}

func unixOnly(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("is about unix sockets")
	}
}

func TestNothingInstalled(t *testing.T) {
	unixOnly(t)
	d := bare(t)
	d.System = []string{"unix://" + filepath.Join(d.Home, "system.sock")}
	f := failuretest.Produced(t, refused(t, d), failure.EngineNotInstalled)
	for _, where := range []string{"system.sock", ".docker/desktop", ".docker/run", ".colima", d.RuntimeDir + "/docker.sock", "podman/podman.sock", "podman/machine"} {
		if !strings.Contains(f.Cause, where) {
			t.Errorf("no word of %s in: %s", where, f.Cause)
		}
	}
}

func TestInstalledButNotRunning(t *testing.T) {
	unixOnly(t)
	d := bare(t)
	write(t, filepath.Join(d.Home, "bin", "podman"), "")
	failuretest.Produced(t, refused(t, d.with("PATH=/nowhere:"+filepath.Join(d.Home, "bin"))), failure.EngineNotRunning)

	// A socket that nobody listens on any more.
	d = bare(t)
	l, err := net.Listen("unix", filepath.Join(d.RuntimeDir, "docker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	f := failuretest.Produced(t, refused(t, d), failure.EngineNotRunning)
	if f.Subject != "unix://"+filepath.Join(d.RuntimeDir, "docker.sock") {
		t.Errorf("the subject is %s", f.Subject)
	}
}

// Cannot work as root, to whom every socket is open.
func TestNoPermissionOnTheSocket(t *testing.T) {
	unixOnly(t)
	if os.Geteuid() == 0 {
		t.Skip("root may use every socket")
	}
	d := bare(t)
	path := filepath.Join(d.RuntimeDir, "docker.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(d.Home, "bin", "podman"), "") // only not running: less near to working
	f := failuretest.Produced(t, refused(t, d.with("PATH="+filepath.Join(d.Home, "bin"))), failure.EngineNoPermission)
	if f.Subject != "unix://"+path || !strings.Contains(f.Next, "group") || !strings.Contains(f.Next, "rootless") {
		t.Errorf("%+v", f)
	}
}

// answering serves HTTP on a unix socket: engines which are too old for this test bed, and what is no engine.
func answering(t testing.TB, path string, h http.HandlerFunc) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { s.Close(); <-done })
}

func TestTooOld(t *testing.T) {
	unixOnly(t)
	d := bare(t)
	answering(t, filepath.Join(d.RuntimeDir, "docker.sock"), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Api-Version", "1.39")
	})
	f := failuretest.Produced(t, refused(t, d), failure.EngineTooOld)
	if !strings.Contains(f.Cause, "1.39") {
		t.Errorf("%+v", f)
	}
}

func TestWhatAnswersIsNoEngine(t *testing.T) {
	unixOnly(t)
	for name, h := range map[string]http.HandlerFunc{
		"an error": http.NotFound,
		"a page":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"only a ping": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Api-Version", "1.41")
			if !strings.HasSuffix(r.URL.Path, "_ping") {
				http.NotFound(w, r)
			}
		},
		"bad versions": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Api-Version", "new") },
	} {
		t.Run(name, func(t *testing.T) {
			d := bare(t)
			answering(t, filepath.Join(d.RuntimeDir, "docker.sock"), h)
			failuretest.Produced(t, refused(t, d), failure.EngineNotRunning)
		})
	}
}

func TestAChoiceIsFinal(t *testing.T) {
	unixOnly(t)
	for name, tc := range map[string]struct {
		choose func(d Discovery) Discovery
		origin string
	}{
		"the setting": {func(d Discovery) Discovery {
			d.Setting = "unix:///chosen.sock"
			return d.with("DOCKER_HOST=unix:///other.sock")
		}, "container.engine"},
		"DOCKER_HOST": {func(d Discovery) Discovery { return d.with("DOCKER_HOST=unix:///chosen.sock", "DOCKER_CONTEXT=other") }, "DOCKER_HOST"},
		"DOCKER_CONTEXT": {func(d Discovery) Discovery {
			writeContext(t, d.Home, "mine", "unix:///chosen.sock")
			write(t, filepath.Join(d.Home, ".docker", "config.json"), `{"currentContext":"other"}`)
			return d.with("DOCKER_CONTEXT=mine")
		}, "docker context mine"},
		"docker context use": {func(d Discovery) Discovery {
			writeContext(t, d.Home, "mine", "unix:///chosen.sock")
			writeContext(t, d.Home, "other", "unix:///other.sock")
			write(t, filepath.Join(d.Home, ".docker", "config.json"), `{"currentContext":"mine"}`)
			return d
		}, "docker context mine"},
		"DOCKER_CONFIG": {func(d Discovery) Discovery {
			writeContext(t, d.Home, "mine", "unix:///chosen.sock")
			write(t, filepath.Join(d.Home, ".docker", "config.json"), `{"currentContext":"mine"}`)
			d, d.Home = d.with("DOCKER_CONFIG="+filepath.Join(d.Home, ".docker")), "/nowhere"
			return d
		}, "docker context mine"},
	} {
		t.Run(name, func(t *testing.T) {
			f := failuretest.Produced(t, refused(t, tc.choose(bare(t))), failure.EngineNotInstalled)
			if f.Subject != "unix:///chosen.sock" || strings.Contains(f.Cause, "other") || !strings.Contains(f.Cause, tc.origin) || !strings.Contains(f.Next, tc.origin) {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestContextsThatNobodyChoseAreTried(t *testing.T) {
	unixOnly(t)
	d := bare(t)
	writeContext(t, d.Home, "b", "unix:///b.sock")
	writeContext(t, d.Home, "a", "unix:///a.sock")
	writeContext(t, d.Home, "far", "ssh://me@far")
	write(t, filepath.Join(d.Home, ".docker", "contexts", "meta", "broken", "meta.json"), "{")
	write(t, filepath.Join(d.Home, ".docker", "config.json"), `{"currentContext":"default"}`)
	f := failuretest.Produced(t, refused(t, d), failure.EngineUnsupported)
	if a, b := strings.Index(f.Cause, "a.sock"), strings.Index(f.Cause, "b.sock"); a < 0 || b < a {
		t.Errorf("not in order: %s", f.Cause)
	}
}

func TestAddressesThatCantBeUsed(t *testing.T) {
	for _, address := range []string{"ssh://me@there", "http://127.0.0.1:1", "fd://3", "unix://" + strings.Repeat("x", 200)} {
		failuretest.Produced(t, refused(t, bare(t).with("DOCKER_HOST="+address)), failure.EngineUnsupported)
	}
	failuretest.Produced(t, refused(t, bare(t).with("DOCKER_CONTEXT=nosuch")), failure.EngineUnsupported)
	for _, setting := range []string{"/run/docker.sock", "docker", "%"} {
		d := bare(t)
		d.Setting = setting
		failuretest.Produced(t, refused(t, d), failure.SettingInvalid)
	}
}

// testDiscovery finds the engine in every way in which it may be named.
func testDiscovery(t *testing.T, b *bed) {
	address := b.Address()
	path := strings.TrimPrefix(address, "unix://")
	link := func(t *testing.T, to string) {
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, to); err != nil {
			t.Fatal(err)
		}
	}
	for name, tell := range map[string]func(t *testing.T, d Discovery) Discovery{
		"container.engine": func(_ *testing.T, d Discovery) Discovery {
			d.Setting = address
			return d.with("DOCKER_HOST=unix:///no.sock")
		},
		"DOCKER_HOST": func(_ *testing.T, d Discovery) Discovery {
			return d.with("DOCKER_HOST=unix:///no.sock", "DOCKER_HOST="+address)
		},
		"docker context mine, chosen by DOCKER_CONTEXT": func(t *testing.T, d Discovery) Discovery {
			writeContext(t, d.Home, "mine", address)
			return d.with("DOCKER_CONTEXT=mine")
		},
		"docker context mine": func(t *testing.T, d Discovery) Discovery { writeContext(t, d.Home, "mine", address); return d },
		"Docker, system-wide": func(t *testing.T, d Discovery) Discovery {
			link(t, d.Home+"/system.sock")
			d.System = []string{"unix:///no.sock", socket(d.Home, "system.sock")}
			return d
		},
		"Docker, rootless": func(t *testing.T, d Discovery) Discovery { link(t, d.RuntimeDir+"/docker.sock"); return d },
		"Podman, rootless": func(t *testing.T, d Discovery) Discovery { link(t, d.RuntimeDir+"/podman/podman.sock"); return d },
		"Docker Desktop":   func(t *testing.T, d Discovery) Discovery { link(t, d.Home+"/.docker/desktop/docker.sock"); return d },
		"Colima":           func(t *testing.T, d Discovery) Discovery { link(t, d.Home+"/.colima/default/docker.sock"); return d },
		"Podman machine": func(t *testing.T, d Discovery) Discovery {
			link(t, d.Home+"/.local/share/containers/podman/machine/podman.sock")
			return d
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Discover(t.Context(), tell(t, bare(t)))
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			tried := e.Tried()
			last := tried[len(tried)-1]
			if last.Failure != "" || last.Origin != name || e.Facts() != b.Facts() {
				t.Errorf("found by %+v: %s", last, e.Facts())
			}
			if _, err := e.Containers(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}
