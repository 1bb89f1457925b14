package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"brabo.dev/runner/runner/failure"
)

// step does one thing with the file. Where that meets damage, the file is replaced by a fresh one, which knows what is
// not finished here, and the step is done again. The caller holds mu.
func (j *Journal) step(do func() error) error {
	if j.closed {
		return errClosed
	}
	if j.conn == nil { // an earlier replacement failed half way
		if err := j.renew(); err != nil {
			return err
		}
	}
	err := do()
	if !damaged(err) {
		return err
	}
	if closing := j.closeFile(); closing != nil {
		j.log.Warn("the damaged journal was not closed well", "error", closing)
	}
	if err := j.replace(err); err != nil {
		return err
	}
	if err := j.renew(); err != nil {
		return err
	}
	return do()
}

// load opens the file, and a fresh one where it can't be read.
func (j *Journal) load() error {
	err := j.openFile()
	if !damaged(err) && !foreign(err) {
		return err
	}
	if err := j.replace(err); err != nil {
		return err
	}
	return j.openFile()
}

// renew loads the file once more and takes into it what is not finished here.
func (j *Journal) renew() error {
	if err := j.load(); err != nil {
		return err
	}
	j.before = 0 // what earlier daemons left was told, or is lost
	err := j.transaction(func() error {
		now := j.o.Now().UnixMilli()
		for k, m := range j.open {
			if _, err := j.stmts.insert.Exec(k.Server, k.Project, k.Event, k.Ref, m.digest[:], "", nil, false, now, nil); err != nil {
				return fmt.Errorf("storing an action anew: %w", err)
			}
			if !m.begun {
				continue
			}
			if _, err := j.stmts.begun.Exec(now, k.Server, k.Project, k.Event, k.Ref); err != nil {
				return fmt.Errorf("storing an action anew: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return errors.Join(err, j.closeFile()) // the next step tries again
	}
	return nil
}

// replace moves a file aside that can't be read, with what belongs to it, so that a fresh one can be started.
func (j *Journal) replace(cause error) error {
	aside := j.path(fileName) + ".corrupt-" + j.o.Now().UTC().Format("20060102T150405.000Z")
	for _, suffix := range []string{"-wal", "-shm", ""} {
		err := os.Rename(j.path(fileName)+suffix, aside+suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("moving the damaged journal aside: %w", err)
		}
	}
	j.replaced = failure.New(failure.JournalCorrupt, j.path(fileName)).
		Because("the file can't be read; it lies at %s now, and a fresh one was started: what ran before is not known any more", aside).Wrap(cause)
	j.log.Error("the journal was replaced", "failure", j.replaced)
	return nil
}
