package main

import (
	"log/slog"
	"os"
	"time"

	"brabo.dev/runner/runner"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/journal"
)

// daemon is a Machine with what stands around it in this process.
type daemon struct {
	folder  string // its state folder
	since   time.Time
	journal *journal.Journal
	machine *runner.Machine
	log     *slog.Logger
}

// answer opens the local socket and gives what closes it again. A daemon without one serves all the same: its work
// matters more than its answers about it.
func (d *daemon) answer() (stop func() error) {
	server, err := control.Listen(control.Options{Folder: d.folder, Status: d.status, History: func(q control.Query) ([]control.Action, error) { return historyOf(d.journal, q) }, Log: d.log})
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
