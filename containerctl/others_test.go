package containerctl

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func testDrift(t *testing.T, b *bed) {
	s, c, root := b.up(t)
	other := s
	other.Image, other.MemoryMiB, other.CPUs, other.Pids, other.Network = "registry.example/other:2", 256, 1.5, 65, NetworkEgress
	got, err := b.Start(t.Context(), other, StartOptions{Root: t.TempDir()})
	if err != nil || !got.AlreadyUp || got.ID != c.ID {
		t.Fatalf("%+v, %v", got, err)
	}
	all := []string{"image", "mounted folder", "network"}
	if b.Facts().limitsNote() == "" {
		all = append(all, "CPUs", "memory", "pids limit")
	}
	for _, what := range all {
		if !slices.ContainsFunc(got.Drift, func(l string) bool { return strings.HasPrefix(l, what+" ") }) {
			t.Errorf("no word of the %s in %q", what, got.Drift)
		}
	}
	refuse := StartOptions{Root: root, Drift: DriftRefuse}
	for range 2 { // running, then stopped
		_, err = b.Start(t.Context(), other, refuse)
		failuretest.Produced(t, err, failure.ContainerDrift)
		if err := b.Stop(t.Context(), s.WorkspaceDirName); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := b.Start(t.Context(), s, refuse); err != nil || got.ID != c.ID || len(got.Drift) > 0 {
		t.Errorf("the same is refused: %+v, %v", got, err)
	}
}

func testForeign(t *testing.T, b *bed) {
	ctx, s := t.Context(), b.spec(t)
	opts := createOptions(s, t.TempDir(), "")
	delete(opts.Config.Labels, labelManaged)
	made, err := b.raw.ContainerCreate(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = b.raw.ContainerRemove(context.Background(), made.ID, client.ContainerRemoveOptions{Force: true})
	})
	if _, err := b.raw.ContainerStart(ctx, made.ID, client.ContainerStartOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = b.Start(ctx, s, StartOptions{Root: t.TempDir()})
	failuretest.Produced(t, err, failure.ContainerForeign)
	failuretest.Produced(t, b.Stop(ctx, s.WorkspaceDirName), failure.ContainerForeign)
	failuretest.Produced(t, b.Remove(ctx, s.WorkspaceDirName), failure.ContainerForeign)
	_, err = b.Inspect(ctx, s.WorkspaceDirName)
	failuretest.Produced(t, err, failure.ContainerForeign)
	if _, ok, err := b.Running(ctx, s.ProjectID); ok || err != nil {
		t.Errorf("commands would be routed into it: %v", err)
	}
	got, err := b.raw.ContainerInspect(ctx, made.ID, client.ContainerInspectOptions{})
	if err != nil || !got.Container.State.Running {
		t.Errorf("it was touched: %v", err)
	}
}

func testEntrypoint(t *testing.T, b *bed) {
	s := b.spec(t)
	changes := []string{`ENTRYPOINT ["/bin/false"]`, `CMD ["oops"]`, `VOLUME /data`, `WORKDIR /tmp`, `ENV A=b`}
	if b.Facts().Name == docker { // Podman's import can't set one
		changes = append(changes, `HEALTHCHECK --interval=1s CMD touch /work/health`)
	}
	s.Image = b.importImage(t, imageTar(t, nil), changes)
	c, err := b.Start(t.Context(), s, StartOptions{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if out := b.must(t, c.ID, "", "pwd; echo $A; ls"); out != "/work\nb\n" {
		t.Errorf("inside: %q", out)
	}
	got, err := b.raw.ContainerInspect(t.Context(), c.ID, client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Remove(t.Context(), s.WorkspaceDirName); err != nil {
		t.Fatal(err)
	}
	for _, m := range got.Container.Mounts {
		if m.Name == "" {
			continue
		}
		if _, err := b.raw.VolumeInspect(t.Context(), m.Name, client.VolumeInspectOptions{}); err == nil {
			t.Errorf("the volume %s that the image declares stayed", m.Name)
		}
	}
}

func testGone(t *testing.T, b *bed) {
	ctx := t.Context()
	for _, tc := range []struct {
		name, says string
		do         func(id string) error
	}{
		{"stopped", "exit", func(id string) error {
			none := 0
			_, err := b.raw.ContainerStop(ctx, id, client.ContainerStopOptions{Timeout: &none})
			return err
		}},
		{"killed", "exit code 137", func(id string) error {
			_, err := b.raw.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: "KILL"})
			return err
		}},
		{"removed", "", func(id string) error {
			_, err := b.raw.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true})
			return err
		}},
		{"restarted", "while the command ran", func(id string) error {
			none := 0
			_, err := b.raw.ContainerRestart(ctx, id, client.ContainerRestartOptions{Timeout: &none})
			return err
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, c, root := b.up(t)
			did := make(chan error, 1)
			_, err := b.Exec(ctx, ExecCommand{Container: c.ID, Text: "echo ready; sleep 600", Output: once(func() { did <- tc.do(c.ID) })})
			if err := <-did; err != nil {
				t.Error(err)
			}
			if f := failuretest.Produced(t, err, failure.ContainerGone); !strings.Contains(f.Cause, tc.says) {
				t.Errorf("the cause says nothing of %q: %s", tc.says, f.Cause)
			}
			_, up, err := b.Running(ctx, s.ProjectID)
			if err != nil || up != (tc.name == "restarted") {
				t.Errorf("running: %v, %v", up, err)
			}
			if !up {
				_, err := b.Exec(ctx, ExecCommand{Container: c.ID, Text: "true"})
				failuretest.Produced(t, err, failure.ContainerGone)
			}
			again, err := b.Start(ctx, s, StartOptions{Root: root})
			if err != nil || again.AlreadyUp != up {
				t.Errorf("start afterwards: %+v, %v", again, err)
			}
			b.must(t, again.ID, "", "test -d '"+root+"'")
		})
	}
	t.Run("paused", func(t *testing.T) {
		if b.Facts().limitsNote() != "" {
			t.Skip("an engine without cgroups of its own can't pause")
		}
		s, c, root := b.up(t)
		if _, err := b.raw.ContainerPause(ctx, c.ID, client.ContainerPauseOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err := b.Exec(ctx, ExecCommand{Container: c.ID, Text: "true"})
		failuretest.Produced(t, err, failure.ContainerGone)
		again, err := b.Start(ctx, s, StartOptions{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		b.must(t, again.ID, "", "true")
	})
}

// once is an output that does something when the first bytes come.
func once(do func()) writerFunc {
	var o sync.Once
	return func(p []byte) (int, error) {
		o.Do(func() { go do() })
		return len(p), nil
	}
}

func testStubborn(t *testing.T, b *bed) {
	s := b.spec(t)
	// What keeps the container alive ignores TERM here, so that the stop has to wait its ten seconds and kill.
	s.Image = b.importImage(t, imageTar(t, map[string]string{
		"bin/sleep": "#!/bin/sh\ntrap '' TERM\necho up >/work/up\nwhile :; do /bin/busybox sleep 1; done\n"}), nil)
	c, err := b.Start(t.Context(), s, StartOptions{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	poll(t, "its process", func() bool {
		r, _ := b.run(t, c.ID, "test -f /work/up")
		return r.ExitCode == 0
	})
	if err := b.Stop(t.Context(), s.WorkspaceDirName); err != nil {
		t.Fatal(err)
	}
	st, err := b.Inspect(t.Context(), s.WorkspaceDirName)
	if err != nil || st.Running || st.ExitCode != 137 {
		t.Errorf("%+v, %v", st, err)
	}
}

func testRemoveRunning(t *testing.T, b *bed) {
	s, c, _ := b.up(t)
	removed := make(chan error, 1)
	_, err := b.Exec(t.Context(), ExecCommand{Container: c.ID, Text: "trap '' TERM; echo ready; while :; do sleep 1; done",
		Output: once(func() { removed <- b.Remove(t.Context(), s.WorkspaceDirName) })})
	failuretest.Produced(t, err, failure.ContainerGone)
	if err := <-removed; err != nil {
		t.Error(err)
	}
	if st, err := b.Inspect(t.Context(), s.WorkspaceDirName); err != nil || st.Exists {
		t.Errorf("%+v, %v", st, err)
	}
}

func testTwoDaemons(t *testing.T, b *bed) {
	second := discover(t, b.Address())
	for range 5 {
		s, root := b.spec(t), t.TempDir()
		var wg sync.WaitGroup
		var got [6]Started
		for i := range got {
			e := []*Engine{b.Engine, second}[i%2]
			wg.Go(func() {
				var err error
				if got[i], err = e.Start(t.Context(), s, StartOptions{Root: root}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, g := range got {
			if g.ID != got[0].ID {
				t.Errorf("two containers: %+v", got)
			}
		}
		if !t.Failed() {
			b.must(t, got[0].ID, "", "test -d '"+root+"'")
		}
		// And both remove it at once.
		for _, e := range []*Engine{b.Engine, second} {
			wg.Go(func() {
				if err := e.Remove(t.Context(), s.WorkspaceDirName); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}

func testMany(t *testing.T, b *bed) {
	ctx, s, root := t.Context(), b.spec(t), t.TempDir()
	for i := range 50 {
		c, err := b.Start(ctx, s, StartOptions{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		if i%10 == 0 {
			b.must(t, c.ID, "", "test -d '"+root+"'")
		}
		if err := b.Stop(ctx, s.WorkspaceDirName); err != nil {
			t.Fatal(err)
		}
		if i%5 == 4 {
			if err := b.Remove(ctx, s.WorkspaceDirName); err != nil {
				t.Fatal(err)
			}
		}
	}
	all, err := b.raw.ContainerList(ctx, client.ContainerListOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(all.Items, func(c container.Summary) bool {
		return strings.Contains(strings.Join(c.Names, " "), s.WorkspaceDirName)
	}) {
		t.Errorf("left behind: %+v", all.Items)
	}
}
