package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"brabo.dev/runner/runner"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/doctor"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/journal"
)

// daemon is a Machine with what stands around it in this process.
type daemon struct {
	folder  string // its state folder
	since   time.Time
	journal *journal.Journal
	machine *runner.Machine
	checks  []doctor.Check
	log     *slog.Logger
}

// answer opens the local socket and gives what closes it again. A daemon without one serves all the same: its work
// matters more than its answers about it.
func (d *daemon) answer() (stop func() error) {
	server, err := control.Listen(control.Options{
		Folder: d.folder, Log: d.log, Status: d.status,
		History: func(q control.Query) ([]control.Action, error) { return historyOf(d.journal, q) },
		Checks:  func(ctx context.Context) []control.Finding { return doctor.Run(ctx, d.checks) },
	})
	if err != nil {
		d.log.Error("nobody can ask this daemon for its status", "failure", err)
		return func() error { return nil }
	}
	return server.Close
}

// status is the Machine's, with what only this process knows.
func (d *daemon) status() control.Status {
	s := d.machine.Status()
	s.Version, s.PID, s.Since, s.Folder = version, os.Getpid(), d.since, d.folder
	var err error
	if s.Journal.Bytes, err = d.journal.Bytes(); err != nil {
		s.Health = append(s.Health, control.Item{Severity: control.Error, Failure: failure.From(err, d.folder)})
	}
	if f := d.journal.Replaced(); f != nil {
		s.Health = append(s.Health, control.Item{Severity: control.Warning, Failure: f})
	}
	control.SortHealth(s.Health)
	return s
}

// journalWell is the check of the journal that this process has open.
func (d *daemon) journalWell() error {
	if f := d.journal.Replaced(); f != nil {
		return f
	}
	_, err := d.journal.Bytes()
	return err
}
