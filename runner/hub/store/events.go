package store

import (
	"database/sql"
	"strings"
	"time"
)

// Event is one step, as it was and stays (policy.md section 14).
type Event struct {
	Seq              int64 // given by AddEvent, without gaps
	At               time.Time
	Type             string
	ActorKind, Actor string
	Project, Session string // empty: none
	Payload          []byte // a JSON object
}

// AddEvent appends an event.
func (t Tx) AddEvent(e Event) error {
	_, err := t.exec("INSERT INTO event (at, type, actor_kind, actor, project, session, payload) VALUES (?, ?, ?, ?, ?, ?, ?)",
		micros(e.At), e.Type, e.ActorKind, e.Actor, e.Project, e.Session, e.Payload)
	return err
}

// EventFilter narrows a list. Empty fields don't.
type EventFilter struct {
	Type, Project string
	Since         int64 // only those with a higher Seq
	Limit         int   // at most so many
	Last          bool  // of those, the newest ones instead of the oldest
}

// Events lists events, the oldest first.
func (t Tx) Events(f EventFilter) ([]Event, error) {
	where, args := []string{"seq > ?"}, []any{f.Since}
	if f.Type != "" {
		where, args = append(where, "type = ?"), append(args, f.Type)
	}
	if f.Project != "" {
		where, args = append(where, "project = ?"), append(args, f.Project)
	}
	text := "SELECT seq, at, type, actor_kind, actor, project, session, payload FROM event WHERE " + strings.Join(where, " AND ")
	if f.Last {
		text = "SELECT * FROM (" + text + " ORDER BY seq DESC LIMIT ?) ORDER BY seq"
	} else {
		text += " ORDER BY seq LIMIT ?"
	}
	return all(t, func(row scanner) (e Event, err error) {
		var at sql.NullInt64
		err = row.Scan(&e.Seq, &at, &e.Type, &e.ActorKind, &e.Actor, &e.Project, &e.Session, &e.Payload)
		e.At = moment(at)
		return e, err
	}, text, append(args, f.Limit)...)
}

// LastEvent is the Seq of the newest event; 0 where there is none.
func (t Tx) LastEvent() (int64, error) {
	return one(t, func(row scanner) (seq int64, err error) {
		err = row.Scan(&seq)
		return seq, err
	}, "SELECT coalesce(max(seq), 0) FROM event")
}

// Counts are the approvals by people and by the policy, which never overlap (policy.md section 14).
type Counts struct{ ByPeople, ByPolicy int }

// CountDecisions counts the approvals in the log, those of one project or, for an empty one, all, with one query each.
func (t Tx) CountDecisions(project string) (Counts, error) {
	count := func(row scanner) (n int, err error) {
		err = row.Scan(&n)
		return n, err
	}
	people, err := one(t, count, "SELECT count(*) FROM event WHERE type = 'proposed_action.approved' AND ? IN ('', project)", project)
	if err != nil {
		return Counts{}, err
	}
	policy, err := one(t, count, `SELECT count(*) FROM event WHERE type = 'proposed_action.created'
		AND payload ->> '$.status' = 'auto_approved' AND ? IN ('', project)`, project)
	return Counts{people, policy}, err
}

// ForgetEvents removes the events from before at.
func (t Tx) ForgetEvents(at time.Time) error {
	if _, err := t.exec("UPDATE event_horizon SET before = max(before, ?)", micros(at)); err != nil {
		return err
	}
	_, err := t.exec("DELETE FROM event WHERE at < ?", micros(at))
	return err
}
