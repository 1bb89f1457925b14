package containerctl

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func testRoots(t *testing.T, b *bed) {
	s := b.spec(t)
	for _, root := range []string{"", "relative", "/", "/etc/x", "/root", "/var/lib/x", "/home/../etc", "/home/a\x00b", "/usr", "//proc/1",
		filepath.Join(t.TempDir(), "absent")} {
		_, err := b.Start(t.Context(), s, StartOptions{Root: root, User: imageUser})
		failuretest.Produced(t, err, failure.ContainerRoot)
		if st, err := b.Inspect(t.Context(), s.WorkspaceDirName); err != nil || st.Exists {
			t.Errorf("%q: a container was made: %v", root, err)
		}
	}
}

func testNoLink(t *testing.T, b *bed) {
	// Where the host path is a folder of the image, or lies in the mount itself, there can be no link.
	for root, note := range map[string]string{"/tmp": "something else", "/work/below": "lie in the mount", "/work": ""} {
		_, c, real := b.up(t)
		got, err := b.link(t.Context(), c.ID, c.Name, root)
		if err != nil || (note == "") != (got == "") || !strings.Contains(got, note) {
			t.Errorf("%s: %q, %v", root, got, err)
		}
		if out := b.must(t, c.ID, "", "test -w /tmp && ls /work"); out != "" {
			t.Errorf("%s: something is in the project folder: %s", root, out)
		}
		if left, err := os.ReadDir(real); err != nil || len(left) > 0 {
			t.Errorf("%s: %v, %v", root, left, err)
		}
	}
	// The image's own folders keep their mode.
	_, c, root := b.up(t)
	if out := b.must(t, c.ID, "", "stat -c %a /tmp; readlink '"+root+"'"); out != "1777\n/work\n" {
		t.Errorf("/tmp and the link: %q", out)
	}
}

// Needs root: mounts a small tmpfs as the project folder.
func testFolderFull(t *testing.T, b *bed) {
	if os.Geteuid() != 0 {
		t.Skip("mounts a tmpfs, which only root can")
	}
	root := t.TempDir()
	mountSmall(t, root)
	s := b.spec(t)
	c, err := b.Start(t.Context(), s, StartOptions{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	r, out := b.run(t, c.ID, "dd if=/dev/zero of=big bs=1024 count=4096")
	if r.ExitCode == 0 || !strings.Contains(out, "No space left") {
		t.Errorf("%+v, %s", r, out)
	}
	b.must(t, c.ID, "", "true")
	if err := b.Remove(t.Context(), s.WorkspaceDirName); err != nil {
		t.Error(err)
	}
}

// testUsers shows that what is made inside belongs to the person outside.
func testUsers(t *testing.T, b *bed) {
	me := User{UID: int64(os.Geteuid()), GID: int64(os.Getegid())}
	if me.UID == 0 {
		me = User{UID: 4711, GID: 4712} // root may give the folder to somebody
	}
	for _, tc := range []struct {
		name    string
		sent    *User
		setting string
		inside  string // uid:gid on a rootful engine
	}{
		{"nothing said", nil, "", ids(me)},
		{"the server says", &me, "", ids(me)},
		{"the setting says", nil, ids(me), ids(me)},
		{"the server is stronger than the setting", &me, "99:99", ids(me)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, root := b.spec(t), t.TempDir()
			if os.Geteuid() == 0 {
				if err := os.Chown(root, int(me.UID), int(me.GID)); err != nil {
					t.Fatal(err)
				}
			}
			if b.Facts().Rootless && (tc.sent != nil || tc.setting != "") {
				t.Skip("on a rootless engine another uid inside is a subordinate one outside")
			}
			s.User = tc.sent
			c, err := b.Start(t.Context(), s, StartOptions{Root: root, User: tc.setting})
			if err != nil {
				t.Fatal(err)
			}
			want := tc.inside
			if b.Facts().Rootless {
				want = "0:0"
			}
			if out := b.must(t, c.ID, "", "echo $(id -u):$(id -g); mkdir -p a/b && echo x >a/b/f"); strings.TrimSpace(out) != want {
				t.Errorf("inside it is %s, want %s", out, want)
			}
			for _, p := range []string{"a", "a/b", "a/b/f"} {
				info, err := os.Stat(filepath.Join(root, p))
				if err != nil {
					t.Fatal(err)
				}
				if uid, _, _ := owner(info); uid != me.UID {
					t.Errorf("%s belongs to %d, not to %d", p, uid, me.UID)
				}
			}
			if os.Geteuid() != 0 {
				if err := os.RemoveAll(filepath.Join(root, "a")); err != nil {
					t.Errorf("the person can't remove it: %v", err)
				}
			}
		})
	}
	for _, bad := range []string{"0:0", "me", "1", "1:", "-1:1", "1:2147483648", "1:2:3"} {
		_, err := b.Start(t.Context(), b.spec(t), StartOptions{Root: t.TempDir(), User: bad})
		failuretest.Produced(t, err, failure.SettingInvalid)
	}
	s := b.spec(t)
	c, err := b.Start(t.Context(), s, StartOptions{Root: t.TempDir(), User: imageUser})
	if err != nil {
		t.Fatal(err)
	}
	if out := b.must(t, c.ID, "", "id -u"); out != "0\n" {
		t.Errorf("the image's user is %s", out)
	}
}

func ids(u User) string { s, _ := (&Engine{}).userFor(Spec{User: &u}, StartOptions{}); return s }

func testCancelledStart(t *testing.T, b *bed) {
	s := b.spec(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.Start(ctx, s, StartOptions{Root: t.TempDir()})
	failuretest.Produced(t, err, failure.Cancelled)
	late, stop := context.WithTimeout(t.Context(), 0)
	defer stop()
	_, err = b.Start(late, s, StartOptions{Root: t.TempDir()})
	failuretest.Produced(t, err, failure.TimedOut)
	if st, err := b.Inspect(t.Context(), s.WorkspaceDirName); err != nil || st.Exists {
		t.Errorf("%+v, %v", st, err)
	}
}

func testRefused(t *testing.T, b *bed) {
	if b.Facts().NoMemoryLimit {
		t.Skip("this engine takes no notice of limits")
	}
	s := b.spec(t)
	s.MemoryMiB = 0.001 // less than any engine gives
	_, err := b.Start(t.Context(), s, StartOptions{Root: t.TempDir()})
	failuretest.Produced(t, err, failure.EngineRefused)
	if st, err := b.Inspect(t.Context(), s.WorkspaceDirName); err != nil || cmp.Diff(st.Status, "absent") != "" {
		t.Errorf("%+v, %v", st, err)
	}
}
