package journal

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// How often the bounds are looked at: after so many steps, bytes, or so much time, whatever comes first.
const (
	trimSteps = 256
	trimBytes = 256 << 10
	trimEvery = time.Hour
)

// batchRows is how many actions are looked at, and forgotten, in one step.
const batchRows = 100

// trimState says how long ago the bounds were looked at.
type trimState struct {
	steps int
	bytes int
	at    time.Time
}

// keepLocked holds the journal to its bounds after a step that stored size bytes, now and then. What it can't forget
// now, for want of room perhaps, it forgets later. It returns the results that were dropped undelivered.
func (j *Journal) keepLocked(size int) []Due {
	if j.closed || j.conn == nil {
		return nil
	}
	j.trimmed.steps++
	j.trimmed.bytes += size
	since := j.o.Now().Sub(j.trimmed.at)
	if j.trimmed.steps < trimSteps && j.trimmed.bytes < trimBytes && since < trimEvery && since >= 0 {
		return nil
	}
	return j.trimOrWarnLocked()
}

func (j *Journal) trimOrWarnLocked() []Due {
	dropped, err := j.trimLocked()
	if err != nil {
		j.log.Warn("old actions could not be forgotten", "failure", named(err, j.path(fileName)))
	}
	return dropped
}

// trimLocked forgets finished actions: all that are too old, then delivered ones and at last undelivered ones, oldest
// first, until the size holds. What is not finished stays.
func (j *Journal) trimLocked() ([]Due, error) {
	j.trimmed = trimState{at: j.o.Now()}
	dropped, err := j.forget(rule{before: j.trimmed.at.Add(-j.o.Keep).UnixMilli(), undelivered: true})
	if err != nil {
		return dropped, err
	}
	pages, err := j.pages()
	if err != nil || pages.used <= j.o.Size {
		return dropped, err
	}
	// A tenth is left free, so that not every action has to push out another.
	aim := j.o.Size - j.o.Size/10
	for _, undelivered := range []bool{false, true} {
		more, err := j.forget(rule{aim: aim, undelivered: undelivered})
		dropped = append(dropped, more...)
		if err != nil {
			return dropped, err
		}
	}
	return dropped, j.exec("PRAGMA incremental_vacuum")
}

// rule says which finished actions are forgotten.
type rule struct {
	before      int64 // those received before, in ms; or
	aim         int64 // as many as it takes to use this many bytes; zero: before counts
	undelivered bool  // also those that are not delivered
}

func (j *Journal) forget(r rule) (dropped []Due, err error) {
	for last, more := int64(0), true; more; {
		if r.aim > 0 {
			if pages, err := j.pages(); err != nil || pages.used <= r.aim {
				return dropped, err
			}
		}
		from := last
		if last, more, err = j.batch(r, from); err != nil {
			return dropped, fmt.Errorf("looking for old actions: %w", err)
		}
		var due []Due
		if r.undelivered {
			if due, err = j.undelivered(from, last); err != nil {
				return dropped, err
			}
		}
		err := j.transaction(func() error {
			for _, drop := range []*sql.Stmt{j.stmts.dropAnswers, j.stmts.dropActions} {
				if _, err := drop.Exec(from, last, r.undelivered); err != nil {
					return fmt.Errorf("forgetting old actions: %w", err)
				}
			}
			return nil
		})
		if err != nil {
			return dropped, err
		}
		dropped = append(dropped, due...)
	}
	return dropped, nil
}

// batch gives the last id of the next actions behind from, oldest first, that r is about, and whether there are more.
func (j *Journal) batch(r rule, from int64) (last int64, more bool, err error) {
	rows, err := j.stmts.oldest.Query(from, batchRows)
	if err != nil {
		return from, false, err
	}
	defer rows.Close()
	last = from
	seen := 0
	for rows.Next() {
		var id, received int64
		if err := rows.Scan(&id, &received); err != nil {
			return from, false, err
		}
		if r.aim == 0 && received >= r.before {
			return last, false, nil // all behind it are younger
		}
		last = id
		seen++
	}
	return last, seen == batchRows, rows.Err()
}

// undelivered lists what is due among the actions behind from up to last, without the payloads.
func (j *Journal) undelivered(from, last int64) (due []Due, err error) {
	err = j.rows(func(rows *sql.Rows) error {
		var d Due
		k := &d.Key
		if err := rows.Scan(&k.Server, &k.Project, &k.Event, &k.Ref, &d.Serial, &d.Result.Event); err != nil {
			return err
		}
		due = append(due, d)
		return nil
	}, `SELECT a.server, a.project, a.event, a.ref, a.serial, r.event FROM action a JOIN answer r ON r.id = a.id
		WHERE a.id > ? AND a.id <= ? AND a.serial IS NOT NULL ORDER BY a.id`, from, last)
	return due, err
}

// filePages is the file's size in bytes, and how much of it is used.
type filePages struct{ size, used int64 }

func (j *Journal) pages() (filePages, error) {
	var size, count, free int64
	for _, q := range []struct {
		pragma string
		into   *int64
	}{{"page_size", &size}, {"page_count", &count}, {"freelist_count", &free}} {
		if err := j.conn.QueryRowContext(context.Background(), "PRAGMA "+q.pragma).Scan(q.into); err != nil {
			return filePages{}, fmt.Errorf("reading the journal's size: %w", err)
		}
	}
	return filePages{size: size * count, used: size * (count - free)}, nil
}
