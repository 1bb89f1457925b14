package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// statements are those of every action's way, prepared once.
type statements struct {
	begin, commit, rollback                   *sql.Stmt
	find, insert, again                       *sql.Stmt
	begun, process, finish, answer, delivered *sql.Stmt
	due, oldest, dropAnswers, dropActions     *sql.Stmt
	all                                       []*sql.Stmt
}

const ofKey = " WHERE server = ? AND project = ? AND event = ? AND ref = ?"

// amongFinished are the finished actions of a range of ids, all or the delivered ones only.
const amongFinished = " WHERE id > ?1 AND id <= ?2 AND finished IS NOT NULL AND (?3 OR serial IS NULL)"

func prepare(ctx context.Context, conn *sql.Conn) (statements, error) {
	var s statements
	for _, p := range []struct {
		at   **sql.Stmt
		text string
	}{
		{&s.begin, "BEGIN IMMEDIATE"},
		{&s.commit, "COMMIT"},
		{&s.rollback, "ROLLBACK"},
		{&s.find, "SELECT id, digest, finished IS NOT NULL FROM action" + ofKey},
		{&s.insert, `INSERT INTO action (server, project, event, ref, digest, text, request, secret, received, deadline)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`},
		{&s.again, "UPDATE action SET serial = ? WHERE id = ?"},
		{&s.begun, "UPDATE action SET begun = ?" + ofKey + " AND begun IS NULL AND finished IS NULL"},
		{&s.process, "UPDATE action SET process = ?" + ofKey + " AND finished IS NULL"},
		{&s.finish, "UPDATE action SET finished = ?, serial = ?, exit_code = ?, failure = ?, request = NULL" + ofKey +
			" AND finished IS NULL RETURNING id"},
		{&s.answer, "INSERT INTO answer (id, event, payload) VALUES (?, ?, ?)"},
		{&s.delivered, "UPDATE action SET delivered = ?, serial = NULL" + ofKey + " AND serial = ?"},
		{&s.due, `SELECT a.event, a.ref, a.serial, r.event, r.payload FROM action a JOIN answer r ON r.id = a.id
			WHERE a.server = ? AND a.project = ? AND a.serial > ? ORDER BY a.serial LIMIT ?`},
		{&s.oldest, "SELECT id, received FROM action WHERE id > ? ORDER BY id LIMIT ?"},
		{&s.dropAnswers, "DELETE FROM answer WHERE id IN (SELECT id FROM action" + amongFinished + ")"},
		{&s.dropActions, "DELETE FROM action" + amongFinished},
	} {
		stmt, err := conn.PrepareContext(ctx, p.text)
		if err != nil {
			return s, errors.Join(fmt.Errorf("preparing %q: %w", p.text, err), s.close())
		}
		*p.at = stmt
		s.all = append(s.all, stmt)
	}
	return s, nil
}

func (s *statements) close() error {
	var errs []error
	for _, stmt := range s.all {
		errs = append(errs, stmt.Close())
	}
	s.all = nil
	return errors.Join(errs...)
}
