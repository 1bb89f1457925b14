package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/workspace/git/gittest"
)

// TestMain is our credential helper, too, when git calls it.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "git-credential" {
		if err := Answer(os.Args[2], os.Stdin, os.Stdout, os.Environ()); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// bed is a person's machine with git on it.
type bed struct {
	Git
	home string
}

// newBed needs git.
func newBed(t testing.TB) *bed {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("RUNNER_TEST_REQUIRE") != "" {
			t.Fatal(err)
		}
		t.Skip("git is not installed")
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{home: home}
	b.Git = Git{
		Env:    []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_DIR=/nowhere", "BRABO_GIT_TOKEN=inherited"},
		Helper: []string{self, "git-credential"}, Scratch: b.folder(t, "scratch"),
	}
	b.raw(t, home, "config", "--global", "user.name", "Ana")
	b.raw(t, home, "config", "--global", "user.email", "ana@example.org")
	b.raw(t, home, "config", "--global", "init.defaultBranch", "main")
	return b
}

func (b *bed) folder(t testing.TB, parts ...string) string {
	t.Helper()
	dir := filepath.Join(append([]string{b.home}, parts...)...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// raw runs git as a person would, with all that is configured.
func (b *bed) raw(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func put(t testing.TB, content string, parts ...string) string {
	t.Helper()
	path := filepath.Join(parts...)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// project is a repository with one commit.
func (b *bed) project(t testing.TB) (string, Place) {
	t.Helper()
	root := b.folder(t, "shop")
	b.raw(t, root, "init", "-q")
	put(t, "one\n", root, "README")
	b.raw(t, root, "add", ".")
	b.raw(t, root, "commit", "-qm", "first")
	return root, Place{Cwd: root, Roots: []string{root}}
}

// context ends long after every test should have.
func patience(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// The credential of every host.
const (
	username = gittest.Username
	token    = gittest.Token
)

// newHost needs git's http-backend. The person's git trusts its certificate.
func (b *bed) newHost(t testing.TB, name string) *gittest.Host {
	t.Helper()
	return gittest.Serve(t, b.folder(t, name), b.home)
}
