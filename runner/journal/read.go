package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// Bounds of one answer of Due, and of List.
const (
	dueRows  = 1000
	dueBytes = 8 << 20
	maxList  = 1000
	someList = 100
)

// Due lists results of a project that are not delivered, in the order in which they became due, from the first with
// a serial above after. One call gives at most 1,000 of them and stops behind 8 MiB; an empty answer means that there
// is no more.
func (j *Journal) Due(server, project string, after uint64) ([]Due, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var due []Due
	err := j.step(func() (err error) {
		due, err = j.dueLocked(server, project, after)
		return err
	})
	if err != nil {
		return nil, named(fmt.Errorf("reading the outbox: %w", err), j.path(fileName))
	}
	return due, nil
}

func (j *Journal) dueLocked(server, project string, after uint64) ([]Due, error) {
	rows, err := j.stmts.due.Query(server, project, int64(after), dueRows)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var due []Due
	for size := 0; size < dueBytes && rows.Next(); {
		d := Due{Key: Key{Server: server, Project: project}}
		if err := rows.Scan(&d.Key.Event, &d.Key.Ref, &d.Serial, &d.Result.Event, (*[]byte)(&d.Result.Payload)); err != nil {
			return nil, err
		}
		size += len(d.Result.Payload)
		due = append(due, d)
	}
	return due, rows.Err()
}

// Waiting counts the results of a project that are not delivered, or, for an empty project, of all of the server's.
func (j *Journal) Waiting(server, project string) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var n int
	err := j.query(func() {}, func(rows *sql.Rows) error { return rows.Scan(&n) },
		"SELECT count(*) FROM action WHERE server = ?1 AND ?2 IN ('', project) AND serial IS NOT NULL", server, project)
	return n, err
}

// Bytes is how much of the file is in use.
func (j *Journal) Bytes() (int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var p filePages
	err := j.step(func() (err error) {
		p, err = j.pages()
		return err
	})
	if err != nil {
		return 0, named(err, j.path(fileName))
	}
	return p.used, nil
}

// Unfinished lists what earlier daemons left behind, in order of receipt: actions that were received and never
// finished. Those of this journal's own time are not among them.
func (j *Journal) Unfinished() ([]Unfinished, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var left []Unfinished
	err := j.query(func() { left = nil }, func(rows *sql.Rows) error {
		var u Unfinished
		var received int64
		var deadline, begun sql.NullInt64
		var process sql.NullString
		k := &u.Key
		if err := rows.Scan(&k.Server, &k.Project, &k.Event, &k.Ref, (*[]byte)(&u.Payload), &u.HadEnv, &received, &deadline, &begun, &process); err != nil {
			return err
		}
		u.Received, u.Deadline, u.Begun = time.UnixMilli(received), moment(deadline), moment(begun)
		if process.Valid {
			if err := json.Unmarshal([]byte(process.String), &u.Process); err != nil {
				j.log.Warn("what ran for an action can't be read", "ref", k.Ref, "error", err)
			}
		}
		left = append(left, u)
		return nil
	}, `SELECT server, project, event, ref, request, secret, received, deadline, begun, process FROM action
		WHERE finished IS NULL AND id <= ? ORDER BY id`, j.before)
	return left, err
}

// List gives the history, newest first.
func (j *Journal) List(f Filter) ([]Record, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = someList
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []Record
	err := j.query(func() { list = nil }, func(rows *sql.Rows) error {
		var r Record
		var received int64
		var begun, finished, delivered, exitCode sql.NullInt64
		var fail sql.NullString
		k := &r.Key
		if err := rows.Scan(&k.Server, &k.Project, &k.Event, &k.Ref, &r.Text, &received, &begun, &finished, &delivered, &exitCode, &fail); err != nil {
			return err
		}
		r.Received, r.Begun, r.Finished, r.Delivered = time.UnixMilli(received), moment(begun), moment(finished), moment(delivered)
		r.Failure = fail.String
		if exitCode.Valid {
			code := int(exitCode.Int64)
			r.ExitCode = &code
		}
		list = append(list, r)
		return nil
	}, `SELECT server, project, event, ref, text, received, begun, finished, delivered, exit_code, failure FROM action
		WHERE ?1 IN ('', server) AND ?2 IN ('', project) AND ?3 IN ('', ref) AND received >= ?4
		AND (NOT ?5 OR failure IS NOT NULL OR coalesce(exit_code, 0) <> 0) ORDER BY id DESC LIMIT ?6`,
		f.Server, f.Project, f.Ref, since(f.Since), f.Failed, min(limit, maxList))
	return list, err
}

// query gives each row to read. Where it has to start again it calls reset before. The caller holds mu.
func (j *Journal) query(reset func(), read func(*sql.Rows) error, text string, args ...any) error {
	err := j.step(func() error {
		reset()
		return j.rows(read, text, args...)
	})
	if err != nil {
		return named(fmt.Errorf("reading the journal: %w", err), j.path(fileName))
	}
	return nil
}

func (j *Journal) rows(read func(*sql.Rows) error, text string, args ...any) error {
	rows, err := j.conn.QueryContext(context.Background(), text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func moment(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64)
}

func since(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
