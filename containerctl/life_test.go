package containerctl

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/client"
)

func testLife(t *testing.T, b *bed) {
	ctx, s, root := t.Context(), b.spec(t), t.TempDir()
	opts := StartOptions{Root: root}
	if st, err := b.Inspect(ctx, s.WorkspaceDirName); err != nil || st.Exists || st.Status != "absent" {
		t.Fatalf("before: %+v, %v", st, err)
	}
	for name, do := range map[string]func() error{
		"stop":   func() error { return b.Stop(ctx, s.WorkspaceDirName) },
		"remove": func() error { return b.Remove(ctx, s.WorkspaceDirName) },
	} {
		if err := do(); err != nil {
			t.Errorf("%s of an absent container: %v", name, err)
		}
	}
	first, err := b.Start(ctx, s, opts)
	if err != nil {
		t.Fatal(err)
	}
	if first.AlreadyUp || first.ID == "" || first.Name != "brabo-"+s.WorkspaceDirName || len(first.Drift) > 0 {
		t.Errorf("first start: %+v", first)
	}
	state, ok, err := b.Running(ctx, s.ProjectID)
	if err != nil || !ok || state.ID != first.ID || state.Root != root || state.WorkspaceDirName != s.WorkspaceDirName || state.StartedAt.IsZero() {
		t.Errorf("running: %v, %v, %+v", ok, err, state)
	}
	if _, ok, err := b.Running(ctx, "another"); ok || err != nil {
		t.Errorf("another project has a container too: %v", err)
	}
	again, err := b.Start(ctx, s, opts)
	if err != nil || !again.AlreadyUp || again.ID != first.ID || len(again.Drift) > 0 {
		t.Errorf("second start: %+v, %v", again, err)
	}
	if r, out := b.run(t, first.ID, "echo hello; exit 3"); r.ExitCode != 3 || out != "hello\n" {
		t.Errorf("a command inside: %+v, %q", r, out)
	}
	if err := b.Stop(ctx, s.WorkspaceDirName); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := b.Running(ctx, s.ProjectID); ok || err != nil {
		t.Errorf("still running after the stop: %v", err)
	}
	if err := b.Stop(ctx, s.WorkspaceDirName); err != nil {
		t.Errorf("second stop: %v", err)
	}
	third, err := b.Start(ctx, s, opts)
	if err != nil || third.AlreadyUp || third.ID != first.ID {
		t.Errorf("a stopped one is started again: %+v, %v", third, err)
	}
	all, err := b.Containers(ctx)
	if err != nil || !slices.ContainsFunc(all, func(s State) bool { return s.ID == first.ID }) {
		t.Errorf("the list lacks it: %v", err)
	}
	for range 2 {
		if err := b.Remove(ctx, s.WorkspaceDirName); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := b.Inspect(ctx, s.WorkspaceDirName); err != nil || st.Exists {
		t.Errorf("after: %+v, %v", st, err)
	}
}

func testContract(t *testing.T, b *bed) {
	s, root := b.spec(t), t.TempDir()
	s.CPUs, s.MemoryMiB, s.Pids, s.User = 0.5, 96, 33, &User{UID: 1234, GID: 4321}
	started, err := b.Start(t.Context(), s, StartOptions{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.raw.ContainerInspect(t.Context(), started.ID, client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, h := got.Container.Config, got.Container.HostConfig
	labels := map[string]string{}
	for k, v := range c.Labels {
		if len(k) > 6 && k[:6] == "brabo." {
			labels[k] = v
		}
	}
	want := map[string]string{"brabo.managed": "true", "brabo.project.id": s.ProjectID, "brabo.project.slug": "slug",
		"brabo.workspace.id": "workspace", "brabo.image.version": "3"}
	if d := cmp.Diff(want, labels); d != "" {
		t.Errorf("labels:\n%s", d)
	}
	if c.WorkingDir != "/work" || c.User != "1234:4321" || !slices.Contains(c.Env, "HOME=/tmp") {
		t.Errorf("folder %q, user %q, environment %q", c.WorkingDir, c.User, c.Env)
	}
	if h.Privileged || len(h.CapAdd) > 0 || len(h.CapDrop) == 0 || !slices.Contains(h.SecurityOpt, "no-new-privileges") ||
		h.Init == nil || !*h.Init || h.NetworkMode != "none" || h.PidMode == "host" || h.IpcMode == "host" {
		t.Errorf("host side: %+v", h)
	}
	if f := b.Facts(); f.limitsNote() != "" {
		if len(started.Notes) == 0 {
			t.Error("no word of the limits that this engine can't hold")
		}
	} else if cpusOf(h.Resources) != 5e8 || h.Memory != 96<<20 || h.PidsLimit == nil || *h.PidsLimit != 33 {
		t.Errorf("limits: %+v", h.Resources)
	}
	if m := got.Container.Mounts; len(m) != 1 || m[0].Source != root || m[0].Destination != "/work" || !m[0].RW {
		t.Errorf("mounts: %+v", m)
	}
	_, out := b.run(t, started.ID, `pwd; id -u; id -g; echo $HOME; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status | tr -d '\t'; ls /sys/class/net; tr '\0' ' ' </proc/1/cmdline`)
	wantOut := "/work\n1234\n4321\n/tmp\n"
	if len(out) < len(wantOut) || out[:len(wantOut)] != wantOut {
		t.Errorf("inside: %s", out)
	}
	for _, line := range []string{"CapEff:0000000000000000", "CapBnd:0000000000000000", "NoNewPrivs:1", "\nlo\n", "sleep infinity"} {
		if !strings.Contains(out, line) {
			t.Errorf("inside there is no %q:\n%s", line, out)
		}
	}
}
