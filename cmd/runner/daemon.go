package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"brabo.dev/runner/runner"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/doctor"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/journal"
	"brabo.dev/runner/runner/machinepolicy"
	"brabo.dev/runner/runner/settings"
	"brabo.dev/runner/service/notify"
)

// daemon is a Machine with what stands around it in this process.
type daemon struct {
	folder  string // its state folder
	since   time.Time
	journal *journal.Journal
	machine *runner.Machine
	checks  []doctor.Check
	limits  settings.Limits
	lock    func(projectID string) (machinepolicy.Lock, error)
	again   chan struct{} // has the list of projects asked for at once; holds one
	log     *slog.Logger
}

// accompany opens the local socket and keeps the service manager told, until the function that it gives is called. ctx
// ends when the daemon is to stop. A daemon without a socket serves all the same: its work matters more than its
// answers about it.
func (d *daemon) accompany(ctx context.Context, manager notify.Manager) (stop func() error) {
	server, err := control.Listen(control.Options{
		Folder: d.folder, Log: d.log, Status: d.status,
		History: func(q control.Query) ([]control.Action, error) { return historyOf(d.journal, q) },
		Confirm: d.machine.Confirm,
		Checks:  func(ctx context.Context) []control.Finding { return doctor.Run(ctx, d.checks) },
		LookAgain: func() {
			select {
			case d.again <- struct{}{}:
			default: // it is to be asked for already
			}
		},
	})
	if err != nil {
		d.log.Error("nobody can ask this daemon for its status", "failure", err)
	}
	limit := cmp.Or(manager.Watchdog, time.Minute)
	watching, end := context.WithCancel(context.WithoutCancel(ctx))
	var watch sync.WaitGroup
	watch.Go(func() {
		manager.Watch(watching, notify.Phases{Ready: d.machine.Ready(), Stopping: ctx.Done()}, func() notify.Look {
			return notify.Look{Status: summary(d.machine.Status()), Stuck: d.machine.Stuck(time.Now(), limit)}
		}, d.log)
	})
	watch.Go(func() { leaveStartup(watching, d.machine.Ready(), d.log) })
	return func() error {
		end()
		watch.Wait()
		if server == nil {
			return nil
		}
		return server.Close()
	}
}

// summary is a status on one line.
func summary(s control.Status) string {
	joined, running := 0, 0
	for _, p := range s.Projects {
		running += len(p.Running)
		if p.State == control.Joined {
			joined++
		}
	}
	text := fmt.Sprintf("%d of %d projects joined, %d actions running, %d results waiting", joined, len(s.Projects), running, s.Counters.Waiting)
	if s.Stopping {
		text = "stopping: " + text
	}
	return text
}

// ended writes the last line of the log and gives the error for the exit code; err is what Run and the closing said.
func (d *daemon) ended(err error) error {
	e := d.machine.Ended()
	counts := []any{"finished", e.Finished, "cancelled", e.Cancelled, "unstored", e.Unstored, "undelivered", e.Undelivered}
	switch {
	case err != nil:
		d.log.Error("stopped", append(counts, "outcome", "with an error", "failure", failure.From(err, d.folder))...)
	case e.Unstored > 0 || e.Undelivered > 0:
		f := failure.New(failure.ResultsWaiting, fmt.Sprintf("%d results", e.Unstored+e.Undelivered))
		d.log.Warn("stopped", append(counts, "outcome", "some results are not delivered", "failure", f)...)
		return f
	case e.Cancelled > 0:
		d.log.Warn("stopped", append(counts, "outcome", "some actions were cancelled, and all results delivered")...)
	default:
		d.log.Info("stopped", append(counts, "outcome", "all actions were finished and their results delivered")...)
	}
	return err
}

// status is the Machine's, with what only this process knows.
func (d *daemon) status() control.Status {
	s := d.machine.Status()
	s.Version, s.PID, s.Since, s.Folder = version, os.Getpid(), d.since, d.folder
	var err error
	if s.Journal.Bytes, err = d.journal.Bytes(); err != nil {
		s.Health = append(s.Health, control.Item{Severity: control.Error, Failure: failure.From(err, d.folder)})
	}
	if f := d.journal.Short(); f != nil {
		s.Health = append(s.Health, control.Item{Severity: control.Error, Failure: f})
	}
	if f := d.journal.Replaced(); f != nil {
		s.Health = append(s.Health, control.Item{Severity: control.Warning, Failure: f})
	}
	s.Health = append(s.Health, doctor.Bounds{Limits: d.limits, Demanded: func() (bool, error) { return d.confines(s.Projects) }}.Unmet()...)
	control.SortHealth(s.Health)
	return s
}

// confines reports whether policy.json wants the commands of one of the projects confined.
func (d *daemon) confines(projects []control.Project) (bool, error) {
	for _, p := range projects {
		if lock, err := d.lock(p.ID); err != nil || lock.Confine().On {
			return err == nil, err
		}
	}
	return false, nil
}

// journalWell is the check of the journal that this process has open.
func (d *daemon) journalWell() error {
	if f := d.journal.Replaced(); f != nil {
		return f
	}
	_, err := d.journal.Bytes()
	return err
}
