package service

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// alone is a manager of a machine whose systemd does not answer: no session says where it is.
func alone(t *testing.T) (Manager, Definition) {
	t.Helper()
	dir := t.TempDir()
	m := Here(context.Background(), dir, filepath.Join(dir, ".config"), append(os.Environ(), "XDG_RUNTIME_DIR="+filepath.Join(dir, "nowhere")))
	d := cases()["project"]
	d.Folder = dir
	return m, d
}

func TestUnitStaysWhereNobodyAnswers(t *testing.T) {
	m, d := alone(t)
	_, err := m.Status(t.Context(), d.ID)
	failuretest.Produced(t, err, failure.ServiceNotInstalled)
	failuretest.Produced(t, m.Install(t.Context(), d), failure.ServiceManagerSilent)
	st, err := m.Status(t.Context(), d.ID)
	failuretest.Produced(t, err, failure.ServiceManagerSilent)
	if st.State != Unanswered {
		t.Errorf("state %q", st.State)
	}
	info, err := os.Stat(m.Path(d.ID))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the unit: %v, %v", info, err)
	}
	// The link of an enabled unit goes with it, so that no later manager looks for a unit that is gone.
	link := filepath.Join(filepath.Dir(m.Path(d.ID)), "default.target.wants", m.Name(d.ID))
	put(t, link, "")
	failuretest.Produced(t, m.Uninstall(t.Context(), d.ID), failure.ServiceManagerSilent)
	for _, path := range []string{link, m.Path(d.ID)} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s: %v", path, err)
		}
	}
	failuretest.Produced(t, m.Start(t.Context(), d.ID), failure.ServiceNotInstalled)
}

func TestUnitOfSomebodyElseIsLeftAlone(t *testing.T) {
	m, d := alone(t)
	put(t, m.Path(d.ID), "[Service]\nExecStart=/bin/true\n")
	failuretest.Produced(t, m.Install(t.Context(), d), failure.ServiceForeignUnit)
	failuretest.Produced(t, m.Uninstall(t.Context(), d.ID), failure.ServiceForeignUnit)
}

func TestUnitThatCanNotBeWritten(t *testing.T) {
	m, d := alone(t)
	put(t, m.ConfigHome, "a file is in the way\n")
	failuretest.Produced(t, m.Install(t.Context(), d), failure.ServiceNotWritten)
}

// TestWordsOfTheManagerReachThePerson stands a systemctl in front of the real one that answers and refuses to start.
func TestWordsOfTheManagerReachThePerson(t *testing.T) {
	m, d := alone(t)
	bin := t.TempDir()
	put(t, filepath.Join(bin, "systemctl"), "#!/bin/sh\ncase \"$*\" in *restart*) echo 'the unit is masked' >&2; exit 1;; *show*) echo ExecMainStatus=2;; esac\n")
	if err := os.Chmod(filepath.Join(bin, "systemctl"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	f := failuretest.Produced(t, m.Install(t.Context(), d), failure.ServiceNotActivated)
	if !strings.Contains(f.Cause, "the unit is masked; the program ended with exit code 2") {
		t.Error(f.Cause)
	}
	failuretest.Produced(t, Linger(t.Context(), os.Environ(), "no-such-user"), failure.LingerRefused)
}
