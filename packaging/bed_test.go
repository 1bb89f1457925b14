package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// engineSocket and systemdImage are what `.ci/run prepare` starts and makes.
const (
	engineSocket = "unix:///var/lib/runner-ci/docker.sock"
	systemdImage = "local/systemd:2"
)

// bed is a small Debian with a real systemd, in a container without a network.
type bed struct {
	t         *testing.T
	container string
}

// patience is how long anything in a bed may take; nothing is told from how long it took.
const patience = 3 * time.Minute

func newBed(t *testing.T) *bed {
	t.Helper()
	asRoot(t)
	t.Parallel() // services mostly wait for their managers
	if _, err := docker(t.Context(), "image", "inspect", systemdImage); err != nil {
		missing(t, "there is no image %s: `.ci/run prepare` makes it (%v)", systemdImage, err)
	}
	id, err := docker(t.Context(), "run", "--detach", "--cap-add", "SYS_ADMIN", "--cap-add", "SYS_PTRACE", "--security-opt", "seccomp=unconfined",
		"--security-opt", "apparmor=unconfined", "--cgroupns=host", "--tmpfs", "/run", "--tmpfs", "/run/lock", "--tmpfs", "/tmp:exec",
		"--volume", "/sys/fs/cgroup:/sys/fs/cgroup:rw", systemdImage, "/sbin/init")
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{t, strings.TrimSpace(id)}
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := docker(context.Background(), "exec", b.container, "journalctl", "--no-pager", "-n", "80")
			t.Logf("the end of the journal:\n%s", out)
		}
		if _, err := docker(context.Background(), "rm", "--force", "--volumes", b.container); err != nil {
			t.Error(err)
		}
	})
	b.root(`until systemctl is-system-running --wait 2>/dev/null | grep -qE "running|degraded"; do sleep 0.2; done`)
	return b
}

func docker(ctx context.Context, args ...string) (string, error) {
	return output(ctx, "", "docker", append([]string{"--host", engineSocket}, args...)...)
}

// user makes an ordinary user whose services live on without a session.
func (b *bed) user(name string) {
	b.t.Helper()
	b.root(`useradd --create-home --shell /bin/bash ` + name + ` && loginctl enable-linger ` + name + `
until [ -S /run/user/$(id -u ` + name + `)/systemd/private ]; do sleep 0.2; done`)
}

// put copies a file into the container.
func (b *bed) put(path, to string) {
	b.t.Helper()
	if _, err := docker(b.t.Context(), "cp", path, b.container+":"+to); err != nil {
		b.t.Fatal(err)
	}
}

// putPackage puts the package of a version into root's home, and gives its name.
func (b *bed) putPackage(version string) string {
	b.t.Helper()
	name := "runner_" + version + "_amd64.deb"
	b.put(filepath.Join(here.of(b.t, version), name), "/root/"+name)
	return name
}

// install installs the package of a version.
func (b *bed) install(version string) {
	b.t.Helper()
	b.root("dpkg --install /root/" + b.putPackage(version))
}

// try runs a script in a shell of the user, and gives both outputs together and the exit code.
func (b *bed) try(user, script string) (string, int) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	shell := []string{"runuser", "--login", user, "--shell", "/bin/bash", "--command", script}
	if user == "root" {
		shell = []string{"bash", "-c", script}
	}
	cmd := exec.CommandContext(ctx, "docker", append([]string{"--host", engineSocket, "exec", b.container}, shell...)...)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		b.t.Fatalf("%s never ended: %s\n%s", user, script, out)
	}
	if cmd.ProcessState == nil {
		b.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// as runs a script that must succeed.
func (b *bed) as(user, script string) string {
	b.t.Helper()
	out, code := b.try(user, script)
	if code != 0 {
		b.t.Fatalf("%s: exit code %d: %s\n%s", user, code, script, out)
	}
	return out
}

func (b *bed) root(script string) string {
	b.t.Helper()
	return b.as("root", script)
}

// code runs a script and demands its exit code.
func (b *bed) code(user, script string, want int) string {
	b.t.Helper()
	out, code := b.try(user, script)
	if code != want {
		b.t.Fatalf("%s: exit code %d, want %d: %s\n%s", user, code, want, script, out)
	}
	return out
}

// until repeats a script until it succeeds: it waits for something that is on its way.
func (b *bed) until(user, script string) {
	b.t.Helper()
	b.as(user, "until { "+script+"\n} >/dev/null 2>&1; do sleep 0.2; done")
}
