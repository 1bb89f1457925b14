package journal

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"brabo.dev/runner/runner/failure"
)

// errClosed is what every method says after Close.
var errClosed = errors.New("the journal is closed")

// Receive stores the action unless its key is known. Failures: DiskFull, JournalUnwritable; then nothing is stored,
// and the action must not run.
func (j *Journal) Receive(a Action) (Known, error) {
	request, text, secret := without(a.Payload)
	j.mu.Lock()
	var known Known
	err := j.step(func() (err error) {
		known, err = j.receiveLocked(a, request, text, secret)
		return err
	})
	dropped := j.keepLocked(len(request))
	j.mu.Unlock()
	j.tell(dropped)
	return known, named(err, j.path(fileName))
}

func (j *Journal) receiveLocked(a Action, request []byte, text string, secret bool) (Known, error) {
	var id int64
	var digest []byte
	var finished bool
	k := a.Key
	switch err := j.stmts.find.QueryRow(k.Server, k.Project, k.Event, k.Ref).Scan(&id, &digest, &finished); {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return New, fmt.Errorf("looking for an action: %w", err)
	case !bytes.Equal(digest, a.Digest[:]):
		return Reused, nil
	case !finished:
		return Running, nil
	default:
		return Finished, j.roomFor(func() error {
			_, err := j.stmts.again.Exec(j.serial+1, id)
			if err == nil {
				j.serial++
			}
			return err
		})
	}
	now := j.o.Now()
	if err := j.reserved.ready(now); err != nil {
		return New, err
	}
	if a.Received.IsZero() {
		a.Received = now
	}
	_, err := j.stmts.insert.Exec(k.Server, k.Project, k.Event, k.Ref, a.Digest[:], text, request, secret,
		a.Received.UnixMilli(), millis(a.Deadline))
	if err != nil {
		return New, fmt.Errorf("storing an action: %w", err)
	}
	j.open[k] = mark{digest: a.Digest}
	return New, nil
}

// Begin notes that the action is about to start, and returns when that is on the disk: an action for which it failed
// must not start. Failures: DiskFull, JournalUnwritable.
func (j *Journal) Begin(k Key) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return named(j.step(func() error { return j.beginLocked(k) }), j.path(fileName))
}

func (j *Journal) beginLocked(k Key) error {
	now := j.o.Now()
	if err := j.reserved.ready(now); err != nil {
		return err
	}
	if err := j.exec("PRAGMA synchronous = FULL"); err != nil {
		return fmt.Errorf("asking for a durable step: %w", err)
	}
	done, err := j.stmts.begun.Exec(now.UnixMilli(), k.Server, k.Project, k.Event, k.Ref)
	if err := j.exec("PRAGMA synchronous = NORMAL"); err != nil {
		return fmt.Errorf("going back to ordinary steps: %w", err)
	}
	if err != nil {
		return fmt.Errorf("noting the start of an action: %w", err)
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return errors.Join(fmt.Errorf("action %s is not waiting to start", k.Ref), err)
	}
	if m, here := j.open[k]; here {
		m.begun = true
		j.open[k] = m
	}
	return nil
}

// Started adds what runs for an action that was begun.
func (j *Journal) Started(k Key, p Process) error {
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("writing what runs for an action: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return named(j.lastWords(func() error {
		_, err := j.stmts.process.Exec(string(text), k.Server, k.Project, k.Event, k.Ref)
		return err
	}), j.path(fileName))
}

// Finish stores the result of a received action and makes it due. A second result, and one of an action that was
// never received, are ignored. On a full disk it uses the reserve.
func (j *Journal) Finish(k Key, r Result) error {
	exitCode, fail := outcome(r.Payload)
	j.mu.Lock()
	err := j.lastWords(func() error {
		return j.transaction(func() error { return j.finishLocked(k, r, exitCode, fail) })
	})
	if err == nil {
		delete(j.open, k)
	}
	dropped := j.keepLocked(len(r.Payload))
	j.mu.Unlock()
	j.tell(dropped)
	return named(err, j.path(fileName))
}

func (j *Journal) finishLocked(k Key, r Result, exitCode *int, fail *string) error {
	var id int64
	err := j.stmts.finish.QueryRow(j.o.Now().UnixMilli(), j.serial+1, exitCode, fail, k.Server, k.Project, k.Event, k.Ref).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("noting the end of an action: %w", err)
	}
	if _, err := j.stmts.answer.Exec(id, r.Event, nonNil(r.Payload)); err != nil {
		return fmt.Errorf("storing a result: %w", err)
	}
	j.serial++
	return nil
}

// Delivered takes a result out of the outbox. A result that became due again since d was listed stays.
func (j *Journal) Delivered(d Due) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	k := d.Key
	err := j.step(func() error {
		_, err := j.stmts.delivered.Exec(j.o.Now().UnixMilli(), k.Server, k.Project, k.Event, k.Ref, int64(d.Serial))
		return err
	})
	if err != nil {
		return named(fmt.Errorf("noting a delivery: %w", err), j.path(fileName))
	}
	return nil
}

// lastWords runs a step that work which already ran depends on. The caller holds mu.
func (j *Journal) lastWords(do func() error) error {
	return j.step(func() error { return j.roomFor(do) })
}

// roomFor gives do, on a full disk, a second time with the room of the reserve. The caller holds mu.
func (j *Journal) roomFor(do func() error) error {
	err := do()
	if !full(err) || !j.reserved.release() {
		return err
	}
	j.log.Error("the disk is full: the journal uses its reserve, and new actions are refused",
		"failure", failure.New(failure.DiskFull, j.o.Folder))
	return do()
}

// transaction makes one step of what do does. The caller holds mu.
func (j *Journal) transaction(do func() error) error {
	if _, err := j.stmts.begin.Exec(); err != nil {
		return fmt.Errorf("beginning a step: %w", err)
	}
	err := do()
	if err == nil {
		_, err = j.stmts.commit.ExecContext(context.Background())
	}
	if err != nil {
		_, _ = j.stmts.rollback.Exec() // SQLite may have rolled back by itself, as it does on a full disk
	}
	return err
}

func millis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
