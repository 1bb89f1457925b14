package workspace

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can change owners and mount file systems")
	}
}

// small mounts an empty file system of 64 KiB for the time of the test.
func small(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=0777"); err != nil {
		t.Skipf("this root may not mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

func TestRootMaterializeNamesAFullDisk(t *testing.T) {
	asRoot(t)
	home, o := home(t)
	disk := mkdir(t, home, "disk")
	small(t, disk)
	root := mkdir(t, disk, "shop")
	if _, err := Materialize(root, o); err != nil {
		t.Fatalf("while there is space: %v", err)
	}
	fill, err := os.Create(filepath.Join(disk, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	defer fill.Close()
	for err == nil {
		_, err = fill.Write(bytes.Repeat([]byte("x"), 4096))
	}
	_, err = Materialize(root, o)
	failuretest.Produced(t, err, failure.DiskFull)
	if left, err := filepath.Glob(filepath.Join(root, ".*")); err != nil || len(left) != 0 {
		t.Errorf("the probe left %v (%v)", left, err)
	}
}

func TestRootMaterializeNamesAReadOnlyMount(t *testing.T) {
	asRoot(t)
	home, o := home(t)
	disk := mkdir(t, home, "disk")
	small(t, disk)
	root := mkdir(t, disk, "shop")
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skipf("this root may not remount: %v", err)
	}
	_, err := Materialize(root, o)
	f := failuretest.Produced(t, err, failure.RootNotWritable)
	if !strings.Contains(f.Cause, "read-only") {
		t.Errorf("the cause is not named: %s", f.Cause)
	}
	_, err = Materialize(filepath.Join(disk, "new"), o)
	f = failuretest.Produced(t, err, failure.RootNotCreated)
	if !strings.Contains(f.Cause, "read-only") {
		t.Errorf("the cause is not named: %s", f.Cause)
	}
}

// otherUser is the variable that tells the test binary, started again as another user, which root to make.
const otherUser = "WORKSPACE_TEST_ROOT"

// TestRootMaterializeNamesAnotherOwner starts this test binary again as a user to whom the folder does not belong.
func TestRootMaterializeNamesAnotherOwner(t *testing.T) {
	if root := os.Getenv(otherUser); root != "" {
		_, err := Materialize(root, Options{Home: filepath.Dir(filepath.Dir(root))})
		_ = json.NewEncoder(os.Stdout).Encode(failure.As(err))
		return
	}
	asRoot(t)
	top, err := os.MkdirTemp("/tmp", "workspace") // below a folder that everybody can look into
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	if err := os.Chmod(top, 0o755); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(top, "foreign")
	if err := os.Mkdir(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(foreign, 12345, 12346); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(top, "again")
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, data, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-test.run=^TestRootMaterializeNamesAnotherOwner$")
	cmd.Env = []string{otherUser + "=" + filepath.Join(foreign, "shop")}
	cmd.Dir = top
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var f failure.Failure
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&f); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	failuretest.Produced(t, &f, failure.RootNotCreated)
	for _, want := range []string{"uid 12345", "gid 12346", "mode 0755", "we are uid 54321"} {
		if !strings.Contains(f.Cause, want) {
			t.Errorf("the cause lacks %q: %s", want, f.Cause)
		}
	}
}
