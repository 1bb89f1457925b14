package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/journal"
	"brabo.dev/runner/runner/settings"
)

// BenchmarkRecovery starts a daemon whose journal has 100,000 actions, until it has joined. Goal: under 1 s. The floor is
// the start with a journal of one action.
func BenchmarkRecovery(b *testing.B) {
	home := b.TempDir()
	b.Setenv("HOME", home)
	b.Setenv("XDG_STATE_HOME", "")
	h, url, root, _ := startHub(b, home)
	start := func(then func()) float64 {
		began := time.Now()
		p := startProcess(b, home, root, url)
		awaitRunner(b, h)
		took := time.Since(began)
		then()
		p.signal(b, syscall.SIGTERM)
		p.wait(b, exitOK)
		awaitNoRunner(b, h)
		return float64(took.Microseconds()) / 1000
	}
	start(func() { // leaves a journal of one action
		if a := awaitAction(b, h, proposeText(b, h, "true")); a.Status != hub.Executed {
			b.Fatal(a.Status)
		}
	})
	var floor, recovery []float64
	for range 5 {
		floor = append(floor, start(func() {}))
	}
	state := settings.Folders{State: filepath.Join(home, ".local", "state", "runner")}
	multiply(b, journal.Path(stateFolder(state, "p")), 100_000)
	for b.Loop() {
		recovery = append(recovery, start(func() {}))
	}
	b.ReportMetric(middle(recovery), "ms-to-joined")
	b.ReportMetric(middle(recovery)/middle(floor), "ratio")
}

// multiply brings the journal's one action, with its answer, to n, which differ in their refs.
func multiply(b *testing.B, path string, n int) {
	b.Helper()
	if _, err := os.Stat(path); err != nil {
		b.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // the recursive table and the transaction are one connection's
	var columns string
	row := db.QueryRow("SELECT group_concat(name) FROM pragma_table_info('action') WHERE name NOT IN ('id', 'ref')")
	if err := row.Scan(&columns); err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	for _, step := range []string{
		"BEGIN",
		`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO action (ref, COLUMNS) SELECT 'again-' || i, COLUMNS FROM n, (SELECT * FROM action LIMIT 1)`,
		`INSERT INTO answer SELECT action.id, answer.event, answer.payload FROM action, (SELECT * FROM answer LIMIT 1) AS answer
			WHERE action.id NOT IN (SELECT id FROM answer)`,
		"COMMIT",
	} {
		var args []any
		if strings.Contains(step, "?") {
			args = append(args, n)
		}
		if _, err := db.ExecContext(ctx, strings.ReplaceAll(step, "COLUMNS", columns), args...); err != nil {
			b.Fatal(err)
		}
	}
	var actions int
	if err := db.QueryRow("SELECT count(*) FROM action").Scan(&actions); err != nil || actions != n {
		b.Fatal(actions, err)
	}
}

func awaitNoRunner(b *testing.B, h *hub.Hub) {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); h.RunnerConnected("p"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatal("the hub has not noticed the end of the daemon")
		}
	}
}
