package journal

import (
	"context"
	"fmt"
	"time"
)

// How often the bounds are looked at: after so many steps, bytes, or so much time, whatever comes first.
const (
	trimSteps = 256
	trimBytes = 256 << 10
	trimEvery = time.Hour
)

// trimState says how long ago the bounds were looked at.
type trimState struct {
	steps int
	bytes int
	at    time.Time
}

// keepLocked holds the journal to its bounds after a step that stored size bytes, now and then. What it can't forget
// now, for want of room perhaps, it forgets later. It returns the results that were dropped undelivered.
func (j *Journal) keepLocked(size int) []Due {
	if j.closed {
		return nil
	}
	j.trimmed.steps++
	j.trimmed.bytes += size
	since := j.o.Now().Sub(j.trimmed.at)
	if j.trimmed.steps < trimSteps && j.trimmed.bytes < trimBytes && since < trimEvery && since >= 0 {
		return nil
	}
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
		var gone []int64
		var due []Due
		if gone, due, last, more, err = j.candidates(r, last); err != nil {
			return dropped, err
		}
		err := j.transaction(func() error {
			for _, id := range gone {
				if _, err := j.stmts.dropAnswer.Exec(id); err != nil {
					return fmt.Errorf("forgetting a result: %w", err)
				}
				if _, err := j.stmts.dropAction.Exec(id); err != nil {
					return fmt.Errorf("forgetting an action: %w", err)
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

// candidates looks at the actions behind the id last, oldest first, and tells which go by r, the undelivered results
// among them, and whether there is more to look at.
func (j *Journal) candidates(r rule, last int64) (gone []int64, due []Due, next int64, more bool, err error) {
	rows, err := j.stmts.oldest.Query(last, oldestRows)
	if err != nil {
		return nil, nil, last, false, fmt.Errorf("looking for old actions: %w", err)
	}
	defer rows.Close()
	var waiting []int64
	seen := 0
	for rows.Next() {
		var id, received int64
		var finished, isDue bool
		if err := rows.Scan(&id, &received, &finished, &isDue); err != nil {
			return nil, nil, last, false, fmt.Errorf("looking for old actions: %w", err)
		}
		if r.aim == 0 && received >= r.before {
			seen = 0 // all behind it are younger
			break
		}
		last = id
		seen++
		if finished && (r.undelivered || !isDue) {
			gone = append(gone, id)
			if isDue {
				waiting = append(waiting, id)
			}
		}
	}
	if err := rows.Err(); err != nil {
		return nil, nil, last, false, fmt.Errorf("looking for old actions: %w", err)
	}
	for _, id := range waiting {
		var d Due
		k := &d.Key
		row := j.stmts.given.QueryRow(id)
		if err := row.Scan(&k.Server, &k.Project, &k.Event, &k.Ref, &d.Serial, &d.Result.Event, (*[]byte)(&d.Result.Payload)); err != nil {
			return nil, nil, last, false, fmt.Errorf("reading a result that has to go: %w", err)
		}
		due = append(due, d)
	}
	return gone, due, last, seen == oldestRows, nil
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
