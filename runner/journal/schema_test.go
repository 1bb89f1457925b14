package journal

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// published holds, for each version of the schema, what a journal of that version may contain.
var published = []string{
	1: `INSERT INTO action (server, project, event, ref, digest, text, request, secret, received, deadline, begun, process)
			VALUES ('https://hub', 'p', 'exec', 'left', x'00', 'ls', CAST('{"command":"ls"}' AS BLOB), 0, 1, 2, 3, '{"pid":7}');
		INSERT INTO action (server, project, event, ref, digest, text, secret, received, finished, serial, exit_code)
			VALUES ('https://hub', 'p', 'exec', 'due', x'00', 'ls', 0, 1, 2, 5, 0);
		INSERT INTO answer (id, event, payload) VALUES (2, 'exec_result', CAST('{"exitCode":0}' AS BLOB));`,
}

// at makes a journal's file with the schema that steps lead to.
func at(t *testing.T, o Options, steps []string, content string) {
	t.Helper()
	must(t, makeFolder(o.Folder))
	j := open(t, o)
	must(t, j.exec("DROP TABLE action; DROP TABLE answer; PRAGMA user_version = 0"))
	must(t, j.migrate(steps))
	must(t, j.exec(content))
	must(t, j.Close())
}

func TestEveryEarlierVersionIsBroughtForward(t *testing.T) {
	if len(published) != len(migrations)+1 {
		t.Fatalf("content is given for %d versions of %d", len(published)-1, len(migrations))
	}
	for version := 1; version <= len(migrations); version++ {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			o := ordinary(t)
			o.Keep = 1_000_000 * 3600 * 1e9 // the content is from the year 1970
			at(t, o, migrations[:version], published[version])
			j := open(t, o)
			if j.Replaced() != nil {
				t.Fatal(j.Replaced())
			}
			left, err := j.Unfinished()
			must(t, err)
			if len(left) != 1 || left[0].Key != key("left") || left[0].Process.PID != 7 {
				t.Errorf("%+v", left)
			}
			due := outbox(t, j)
			if len(due) != 1 || due[0].Key != key("due") || due[0].Serial != 5 {
				t.Errorf("%+v", due)
			}
			done(t, j, "next")
			if due := outbox(t, j); len(due) != 2 || due[1].Serial != 6 {
				t.Errorf("%+v", due)
			}
		})
	}
}

func TestStepsBetweenVersionsAreTakenWholeAndOnce(t *testing.T) {
	j := open(t, ordinary(t))
	done(t, j, "a")
	version := func() (v int) {
		must(t, j.conn.QueryRowContext(context.Background(), "PRAGMA user_version").Scan(&v))
		return v
	}
	steps := append(migrations[:len(migrations):len(migrations)], "ALTER TABLE action ADD COLUMN note TEXT; UPDATE action SET note = 'old'",
		"ALTER TABLE action ADD COLUMN half TEXT; UPDATE nothing SET half = 1")
	if err := j.migrate(steps); err == nil {
		t.Fatal("a step that fails was taken")
	}
	if v := version(); v != len(migrations)+1 {
		t.Errorf("version %d", v)
	}
	if err := j.exec("SELECT half FROM action"); err == nil {
		t.Error("half of a step was taken")
	}
	steps[len(steps)-1] = "ALTER TABLE action ADD COLUMN half TEXT"
	must(t, j.migrate(steps)) // the step that was taken before would fail a second time
	must(t, j.exec("SELECT note, half FROM action"))
	if v := version(); v != len(steps) {
		t.Errorf("version %d", v)
	}
}

func TestNewerJournalIsRefusedAndLeftAlone(t *testing.T) {
	o := ordinary(t)
	at(t, o, append(migrations[:len(migrations):len(migrations)], "CREATE TABLE future (x)"), "")
	path := filepath.Join(o.Folder, fileName)
	before, err := os.ReadFile(path)
	must(t, err)
	_, err = Open(o)
	failuretest.Produced(t, err, failure.JournalNewer)
	after, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}
