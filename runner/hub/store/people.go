package store

import (
	"crypto/sha256"
	"database/sql"
	"time"
)

// Hash is how a secret is kept. The secrets are long and random, so that a plain digest can't be guessed back.
func Hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// Workspace is what members and projects belong to.
type Workspace struct {
	ID, Name string
	Created  time.Time
}

// PutWorkspace adds a workspace unless its id is there.
func (t Tx) PutWorkspace(w Workspace) error {
	_, err := t.exec("INSERT INTO workspace (id, name, created) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", w.ID, w.Name, micros(w.Created))
	return err
}

// Member is a person with a role in the workspace.
type Member struct {
	ID, Workspace, Role string
	Token               []byte // its Hash
	Created             time.Time
}

const memberColumns = "SELECT id, workspace, role, token, created FROM member"

func readMember(row scanner) (m Member, err error) {
	var created sql.NullInt64
	err = row.Scan(&m.ID, &m.Workspace, &m.Role, &m.Token, &created)
	m.Created = moment(created)
	return m, err
}

// AddMember adds a member, whose id must be new.
func (t Tx) AddMember(m Member) error {
	_, err := t.exec("INSERT INTO member (id, workspace, role, token, created) VALUES (?, ?, ?, ?, ?)",
		m.ID, m.Workspace, m.Role, m.Token, micros(m.Created))
	return err
}

// Member finds a member by id.
func (t Tx) Member(id string) (Member, error) {
	return one(t, readMember, memberColumns+" WHERE id = ?", id)
}

// MemberByToken finds a member by the Hash of the token.
func (t Tx) MemberByToken(hash []byte) (Member, error) {
	return one(t, readMember, memberColumns+" WHERE token = ?", hash)
}

// Members lists all, by id.
func (t Tx) Members() ([]Member, error) { return all(t, readMember, memberColumns+" ORDER BY id") }

// SetRole changes a member's role.
func (t Tx) SetRole(id, role string) error {
	return t.change("UPDATE member SET role = ? WHERE id = ?", role, id)
}

// SetMemberToken replaces a member's token.
func (t Tx) SetMemberToken(id string, hash []byte) error {
	return t.change("UPDATE member SET token = ? WHERE id = ?", hash, id)
}

// RemoveMember removes a member with everything that acts in that person's name: browser sessions, codes, agents.
// Daemons stay, to be revoked one by one.
func (t Tx) RemoveMember(id string) error {
	for _, text := range []string{
		"DELETE FROM browser_session WHERE member = ?", "DELETE FROM login_code WHERE member = ?", "DELETE FROM agent WHERE issuer = ?",
	} {
		if _, err := t.exec(text, id); err != nil {
			return err
		}
	}
	return t.change("DELETE FROM member WHERE id = ?", id)
}

// Agent proposes actions in a project.
type Agent struct {
	ID      string
	Project string // empty: in every project
	Token   []byte // its Hash
	Issuer  string // the member whose role counts
	Created time.Time
}

const agentColumns = "SELECT project, id, token, issuer, created FROM agent"

func readAgent(row scanner) (a Agent, err error) {
	var created sql.NullInt64
	err = row.Scan(&a.Project, &a.ID, &a.Token, &a.Issuer, &created)
	a.Created = moment(created)
	return a, err
}

// PutAgent adds an agent; one that is there gets the new token and issuer.
func (t Tx) PutAgent(a Agent) error {
	_, err := t.exec(`INSERT INTO agent (project, id, token, issuer, created) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (project, id) DO UPDATE SET token = excluded.token, issuer = excluded.issuer`,
		a.Project, a.ID, a.Token, a.Issuer, micros(a.Created))
	return err
}

// AgentByToken finds an agent by the Hash of its token.
func (t Tx) AgentByToken(hash []byte) (Agent, error) {
	return one(t, readAgent, agentColumns+" WHERE token = ?", hash)
}

// Agents lists all, by project and id.
func (t Tx) Agents() ([]Agent, error) {
	return all(t, readAgent, agentColumns+" ORDER BY project, id")
}

// RemoveAgent removes an agent, whose token is worth nothing from then on. Its autonomy stays for one that is added
// under the same name.
func (t Tx) RemoveAgent(project, id string) error {
	return t.change("DELETE FROM agent WHERE project = ? AND id = ?", project, id)
}
