package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestSecondDaemonOnTheSameFolderIsRefused(t *testing.T) {
	o := ordinary(t)
	j := open(t, o)
	_, err := Open(o)
	failuretest.Produced(t, err, failure.StateLocked)
	must(t, j.Close())
	open(t, o)
}

func TestFilesBelongToTheirOwnerAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are those of Unix")
	}
	o := ordinary(t)
	must(t, os.Mkdir(o.Folder, 0o755))
	must(t, os.Chmod(o.Folder, 0o755)) // whatever the umask is
	j := open(t, o)
	receive(t, j, command("a", "ls"))
	entries, err := os.ReadDir(o.Folder)
	must(t, err)
	if len(entries) < 4 {
		t.Errorf("only %v", entries)
	}
	for _, e := range entries {
		info, err := e.Info()
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
	}
	info, err := os.Stat(o.Folder)
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v", info.Mode())
	}
}

func TestFolderMayHaveAnyName(t *testing.T) {
	for _, name := range []string{"a b", "what?", "100%41#x", "é&=;"} {
		if runtime.GOOS == "windows" && name == "what?" {
			continue
		}
		o := ordinary(t)
		o.Folder = filepath.Join(t.TempDir(), name, "deep")
		j := open(t, o)
		receive(t, j, command("a", "ls"))
		if _, err := os.Stat(filepath.Join(o.Folder, fileName)); err != nil {
			t.Error(err)
		}
	}
}

func TestDamagedFileIsMovedAsideAndAFreshOneStarted(t *testing.T) {
	for name, harm := range map[string]func(content []byte) []byte{
		"noise": func([]byte) []byte {
			return []byte("this is no database, and long enough to be looked at ............")
		},
		"cut":                func(c []byte) []byte { return c[:len(c)/2] },
		"cut to a page":      func(c []byte) []byte { return c[:4096] },
		"a page of zeros":    func(c []byte) []byte { clear(c[8192:12288]); return c },
		"zeros at the start": func(c []byte) []byte { clear(c[:100]); return c },
	} {
		t.Run(name, func(t *testing.T) {
			o := ordinary(t)
			o.Now = func() time.Time { return time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC) }
			j, err := Open(o)
			must(t, err)
			for i := range 200 {
				done(t, j, fmt.Sprint(i))
			}
			must(t, j.Close())
			path := filepath.Join(o.Folder, fileName)
			content, err := os.ReadFile(path)
			must(t, err)
			bad := harm(content)
			must(t, os.WriteFile(path, bad, 0o600))

			j = open(t, o)
			failuretest.Produced(t, j.Replaced(), failure.JournalCorrupt)
			kept, err := os.ReadFile(path + ".corrupt-20260504T030201.000Z")
			if err != nil || len(kept) != len(bad) {
				t.Errorf("the damaged file was not kept: %d bytes, %v", len(kept), err)
			}
			if known := receive(t, j, command("0", "ls")); known != New {
				t.Errorf("%v", known)
			}
			must(t, j.Close())
			if j = open(t, o); j.Replaced() != nil {
				t.Errorf("the fresh file was replaced: %v", j.Replaced())
			}
		})
	}
}

func TestDamageMetLaterEndsNeitherTheDaemonNorWhatRuns(t *testing.T) {
	o := ordinary(t)
	j := open(t, o)
	for i := range 200 {
		done(t, j, fmt.Sprint(i))
	}
	receive(t, j, command("running", "make"))
	must(t, j.Begin(key("running")))
	receive(t, j, command("waiting", "make"))
	seen := outbox(t, j)
	must(t, j.exec("PRAGMA wal_checkpoint(TRUNCATE)"))
	must(t, j.exec("PRAGMA shrink_memory")) // what is read from now on comes from the disk
	file, err := os.OpenFile(filepath.Join(o.Folder, fileName), os.O_RDWR, 0)
	must(t, err)
	info, err := file.Stat()
	must(t, err)
	_, err = file.WriteAt(make([]byte, info.Size()-4096), 4096)
	must(t, errors.Join(err, file.Close()))

	must(t, j.Finish(key("running"), result("made")))
	failuretest.Produced(t, j.Replaced(), failure.JournalCorrupt)
	due, err := j.Due(server, project, seen[len(seen)-1].Serial)
	must(t, err)
	if len(due) != 1 || due[0].Key != key("running") {
		t.Errorf("due behind what was seen: %+v", due)
	}
	if known := receive(t, j, command("running", "make")); known != Finished {
		t.Errorf("%v", known)
	}
	if known := receive(t, j, command("waiting", "make")); known != Running {
		t.Errorf("%v", known)
	}
	must(t, j.Begin(key("waiting")))
	done(t, j, "next")
	must(t, j.Close())
	j = open(t, o)
	left, err := j.Unfinished()
	must(t, err)
	if j.Replaced() != nil || len(left) != 1 || left[0].Key != key("waiting") || left[0].Begun.IsZero() {
		t.Errorf("%v, %+v", j.Replaced(), left)
	}
}

func TestEmptyFileIsAFreshJournal(t *testing.T) {
	o := ordinary(t)
	must(t, os.MkdirAll(o.Folder, 0o700))
	must(t, os.WriteFile(filepath.Join(o.Folder, fileName), nil, 0o600))
	if j := open(t, o); j.Replaced() != nil {
		t.Error(j.Replaced())
	}
}

func TestFolderThatCannotBeWrittenIsNamed(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("modes bind ordinary users of Unix only")
	}
	o := ordinary(t)
	parent := filepath.Dir(o.Folder)
	must(t, os.Chmod(parent, 0o500))
	t.Cleanup(func() { must(t, os.Chmod(parent, 0o700)) })
	_, err := Open(o)
	failuretest.Produced(t, err, failure.JournalUnwritable)
}

func TestFileInPlaceOfTheFolderIsNamed(t *testing.T) {
	o := ordinary(t)
	must(t, os.WriteFile(o.Folder, nil, 0o600))
	_, err := Open(o)
	failuretest.Produced(t, err, failure.JournalUnwritable)
}

func TestJournalThatCannotBeWrittenAnyMoreRefusesNewWork(t *testing.T) {
	j := open(t, ordinary(t))
	receive(t, j, command("waiting", "make"))
	must(t, j.exec("PRAGMA query_only = ON")) // as SQLite answers on a disk that was remounted read-only
	_, err := j.Receive(command("new", "make"))
	failuretest.Produced(t, err, failure.JournalUnwritable)
	failuretest.Produced(t, j.Begin(key("waiting")), failure.JournalUnwritable)
	must(t, j.exec("PRAGMA query_only = OFF"))
	must(t, j.Begin(key("waiting")))
	receive(t, j, command("new", "make"))
}

func TestTablesOfSomebodyElseAreMovedAside(t *testing.T) {
	o := ordinary(t)
	j := open(t, o)
	must(t, j.exec("DROP TABLE action; CREATE TABLE action (whatever TEXT)"))
	must(t, j.Close())
	j = open(t, o)
	failuretest.Produced(t, j.Replaced(), failure.JournalCorrupt)
	done(t, j, "a")
}
