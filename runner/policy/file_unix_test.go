//go:build unix

package policy

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestWhatOnlyPretendsToBeAFileIsRefusedWithoutWaiting(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("real"), []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": at("real"), "dangling": at("gone"), "to-fifo": at("fifo")} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct{ path, cause string }{
		{at("fifo"), "a named pipe"},
		{"/dev/null", "a device"},
		{"/dev/zero", "a device"},
		{at("link"), "a symbolic link"},
		{at("dangling"), "a symbolic link"},
		{at("to-fifo"), "a symbolic link"},
		{at("real") + "/" + FileName, "can't be read"},
		{"/" + strings.Repeat("x", 5000), "can't be read"},
		{"a\x00b", "can't be read"},
	} {
		t.Run(tc.cause, func(t *testing.T) {
			_, err := Load(tc.path)
			if f := failuretest.Produced(t, err, failure.PermissionsFileInvalid); !strings.Contains(f.Cause, tc.cause) {
				t.Error(f)
			}
			_, err = AddAllow(tc.path, "Terminal(ls)")
			failuretest.Produced(t, err, failure.PermissionsFileInvalid)
		})
	}
	for _, name := range []string{"link", "dangling"} {
		if info, err := os.Lstat(at(name)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s was replaced: %v", name, err)
		}
	}
}

func TestAFileWithoutTheRightToReadIsNamed(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	path := fileWith(t, `{}`)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path)
	failuretest.Produced(t, err, failure.PermissionsFileInvalid)
}

func TestAFolderWithoutTheRightToWriteIsNamed(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root writes everywhere")
	}
	path := fileWith(t, `{}`)
	if err := os.Chmod(filepath.Dir(path), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) })
	_, err := AddAllow(path, "Terminal(ls)")
	failuretest.Produced(t, err, failure.PermissionsFileNotWritten)
	if got := content(t, path); got != `{}` {
		t.Errorf("it is now %s", got)
	}
}

func TestAFullDiskIsNamed(t *testing.T) {
	failuretest.Produced(t, notWritten(FileName, fmt.Errorf("write: %w", syscall.ENOSPC)), failure.DiskFull)
}

func TestSavingKeepsTheMode(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o664, 0o640, 0o444} {
		path := fileWith(t, `{}`)
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := AddAllow(path, "Terminal(ls)"); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode %v became %v (%v)", mode, info.Mode(), err)
		}
	}
	path := filepath.Join(t.TempDir(), FileName)
	if _, err := AddAllow(path, "Terminal(ls)"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a new file has mode %v (%v)", info.Mode(), err)
	}
}

func TestRootSavingKeepsTheOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := fileWith(t, `{}`)
	if err := os.Chown(path, 12345, 54321); err != nil {
		t.Fatal(err)
	}
	if _, err := AddAllow(path, "Terminal(ls)"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 12345 || st.Gid != 54321 {
		t.Errorf("owner %d:%d", st.Uid, st.Gid)
	}
}

// TestAKilledSaverLeavesAWholeFile starts this test program again as a process that saves without end, and kills it.
func TestAKilledSaverLeavesAWholeFile(t *testing.T) {
	const mark = "POLICY_TEST_SAVE_WITHOUT_END"
	if path := os.Getenv(mark); path != "" {
		for i := 0; ; i++ {
			if _, err := AddAllow(path, fmt.Sprintf("Terminal(echo %d)", i)); err != nil {
				t.Fatal(err)
			}
			if i%5 == 0 {
				fmt.Println("saved")
			}
		}
	}
	path := fileWith(t, `{"deny": ["Terminal(curl)"], "note": "mine"}`)
	most := 0
	for range 10 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAKilledSaverLeavesAWholeFile$")
		cmd.Env = append(os.Environ(), mark+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, readErr := out.Read(make([]byte, 1))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if readErr != nil {
			t.Fatalf("it never saved: %v", readErr)
		}
		f, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Allow) < most || len(f.Deny) != 1 || len(f.members) != 3 {
			t.Fatalf("after a kill: %d entries, were %d; %d denies, %d members", len(f.Allow), most, len(f.Deny), len(f.members))
		}
		most = len(f.Allow)
	}
}
