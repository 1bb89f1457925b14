package containerctl

// The real components of these tests: Docker and Podman. A TestRoot… starts engines of its own; the ordinary user's
// tests run against the engines whose addresses stand in RUNNER_TEST_ENGINES, separated by commas.

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"
)

// patience is how long a test waits for an event before it gives up.
const patience = 90 * time.Second

// need skips the test, or fails it where RUNNER_TEST_REQUIRE=1 is set.
func need(t testing.TB, have bool, what string) {
	t.Helper()
	if have {
		return
	}
	if os.Getenv("RUNNER_TEST_REQUIRE") == "1" {
		t.Fatalf("needs %s", what)
	}
	t.Skipf("needs %s", what)
}

func needProgram(t testing.TB, name string) string {
	t.Helper()
	p, err := exec.LookPath(name)
	need(t, err == nil, name+" in PATH")
	return p
}

// needRoot skips a TestRoot… for an ordinary user, also under the switch: the other run has it.
func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("starts engines of its own, which only root can")
	}
}

func poll(t testing.TB, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

// engineProcess is an engine that the test started and may stop and start again.
type engineProcess struct {
	address string
	dir     string
	args    []string
	env     []string
	cmd     *exec.Cmd
	log     bytes.Buffer
}

func (p *engineProcess) start(t testing.TB) {
	t.Helper()
	p.cmd = exec.Command(p.args[0], p.args[1:]...)
	p.cmd.Env = append(os.Environ(), p.env...)
	p.log.Reset()
	// A killed dockerd leaves this behind, and waits for the containerd in it where nobody has collected its zombie.
	_ = os.Remove(filepath.Join(p.dir, "exec", "containerd", "containerd.pid"))
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	api, err := client.New(client.WithHost(p.address))
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	poll(t, p.args[0]+" to answer", func() bool {
		_, err := api.Ping(context.Background(), client.PingOptions{})
		return err == nil
	})
}

// stop ends the engine and waits for it.
func (p *engineProcess) stop(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(sig)
	_ = p.cmd.Wait() // its exit code says nothing that matters here
	p.cmd = nil
	if t.Failed() {
		t.Logf("%s said:\n%s", p.args[0], tail(p.log.String(), 4000))
	}
}

func tail(s string, n int) string {
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}

// shortDir is a temporary folder with a path short enough for a socket in it.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, dir) })
	return dir
}

// removeAll removes a folder in which an engine may have left mounts behind.
func removeAll(t testing.TB, dir string) {
	mounts, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], dir+"/") {
			_ = exec.Command("umount", "-l", f[1]).Run()
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Logf("left behind: %v", err)
	}
}

// startDocker starts dockerd; extra are further arguments, which may replace the network's.
func startDocker(t testing.TB, extra ...string) *engineProcess {
	t.Helper()
	needRoot(t)
	dir := shortDir(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	if len(extra) == 0 {
		extra = []string{"--bridge=none"}
	}
	p := &engineProcess{address: "unix://" + in("d.sock"), dir: dir, args: append([]string{
		needProgram(t, "dockerd"), "--data-root", in("data"), "--exec-root", in("exec"), "--pidfile", in("pid"),
		"-H", "unix://" + in("d.sock"), "--iptables=false"}, extra...)}
	p.start(t)
	t.Cleanup(func() { p.stop(t, syscall.SIGTERM) })
	return p
}

// startPodman starts Podman's service. insecure are registries without TLS that it may pull from.
func startPodman(t testing.TB, insecure ...string) *engineProcess {
	t.Helper()
	needRoot(t)
	dir := shortDir(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	write(t, in("containers.conf"), "[containers]\ndefault_ulimits = [\"nofile=1024:1024\",\"nproc=1024:1024\"]\n[engine]\ncgroup_manager = \"cgroupfs\"\n")
	registries := "unqualified-search-registries = []\n"
	for _, r := range insecure {
		registries += fmt.Sprintf("[[registry]]\nlocation = %q\ninsecure = true\n", r)
	}
	write(t, in("registries.conf"), registries)
	p := &engineProcess{address: "unix://" + in("p.sock"), dir: dir,
		env: []string{"CONTAINERS_CONF=" + in("containers.conf"), "CONTAINERS_REGISTRIES_CONF=" + in("registries.conf")},
		args: []string{needProgram(t, "podman"), "--root", in("data"), "--runroot", in("run"), "--tmpdir", in("tmp"),
			"system", "service", "--time=0", "unix://" + in("p.sock")}}
	p.start(t)
	t.Cleanup(func() {
		// Podman's containers outlive its service, each under a process of its own.
		args := append(p.args[1:7:7], "rm", "-af", "-t", "0")
		cmd := exec.Command(p.args[0], args...)
		cmd.Env = append(os.Environ(), p.env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Logf("removing Podman's containers: %v: %s", err, out)
		}
		p.stop(t, syscall.SIGTERM)
	})
	return p
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// bed is an engine with the test image in it.
type bed struct {
	*Engine
	raw   *client.Client // the same engine, past our package
	image string
}

// newBed finds the engine at an address as the daemon would and gives it the image.
func newBed(t testing.TB, address string) *bed {
	t.Helper()
	b := &bed{Engine: discover(t, address)}
	raw, err := client.New(client.WithHost(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() })
	b.raw = raw
	b.image = b.importImage(t, imageTar(t, nil), nil)
	return b
}

func discover(t testing.TB, address string) *Engine {
	t.Helper()
	e, err := Discover(t.Context(), Discovery{Setting: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// importImage imports a tar under a name of its own.
func (b *bed) importImage(t testing.TB, layer []byte, changes []string) string {
	t.Helper()
	name := "local/" + strings.ToLower(rand.Text()[:10]) + ":1"
	got, err := b.raw.ImageImport(t.Context(), client.ImageImportSource{Source: bytes.NewReader(layer), SourceName: "-"}, name,
		client.ImageImportOptions{Changes: changes})
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	d := json.NewDecoder(got)
	for {
		var m struct{ Error string }
		if err := d.Decode(&m); err != nil {
			break
		}
		if m.Error != "" {
			t.Fatal(m.Error)
		}
	}
	t.Cleanup(func() {
		_, _ = b.raw.ImageRemove(context.Background(), name, client.ImageRemoveOptions{Force: true})
	})
	return name
}

// spec describes a project of its own for each test.
func (b *bed) spec(t testing.TB) Spec {
	t.Helper()
	dir := "t-" + strings.ToLower(rand.Text()[:12])
	t.Cleanup(func() { _ = b.Remove(context.Background(), dir) })
	return Spec{WorkspaceDirName: dir, ProjectID: "project-" + dir, ProjectSlug: "slug", WorkspaceID: "workspace",
		Image: b.image, ImageVersion: "3", Network: NetworkNone, CPUs: 1, MemoryMiB: 128, Pids: 64}
}

// up starts a container for the test.
func (b *bed) up(t testing.TB) (Spec, Started, string) {
	t.Helper()
	s, root := b.spec(t), t.TempDir()
	started, err := b.Start(t.Context(), s, StartOptions{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	return s, started, root
}

// run runs a command without a deadline and gives its output.
func (b *bed) run(t testing.TB, container, text string) (ExecResult, string) {
	t.Helper()
	var out bytes.Buffer
	r, err := b.Exec(t.Context(), ExecCommand{Container: container, Text: text, Output: &out})
	if err != nil {
		t.Fatalf("%s: %v\n%s", text, err, out.String())
	}
	return r, out.String()
}
