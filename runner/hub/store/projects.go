package store

import (
	"database/sql"
	"encoding/json"
	"time"
)

// Project is one row of the projects.
type Project struct {
	ID, Workspace, Name, Mode string
	Root                      string // absolute; empty where the folder is the hub's own
	DirName                   string // frozen at creation (policy.md section 1)
	AlsoInside                []string
	Verified, Activated       time.Time // zero: never
	Created                   time.Time
}

const projectColumns = "SELECT id, workspace, name, mode, root, dir_name, also_inside, verified, activated, created FROM project"

func readProject(row scanner) (p Project, err error) {
	var also string
	var verified, activated, created sql.NullInt64
	if err := row.Scan(&p.ID, &p.Workspace, &p.Name, &p.Mode, &p.Root, &p.DirName, &also, &verified, &activated, &created); err != nil {
		return p, err
	}
	p.Verified, p.Activated, p.Created = moment(verified), moment(activated), moment(created)
	return p, json.Unmarshal([]byte(also), &p.AlsoInside)
}

// PutProject adds a project, or replaces everything but the DirName and the time of creation of the one with this id.
func (t Tx) PutProject(p Project) error {
	also, err := json.Marshal(append([]string{}, p.AlsoInside...))
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO project (id, workspace, name, mode, root, dir_name, also_inside, verified, activated, created)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name, mode = excluded.mode,
		root = excluded.root, also_inside = excluded.also_inside, verified = excluded.verified, activated = excluded.activated`,
		p.ID, p.Workspace, p.Name, p.Mode, p.Root, p.DirName, string(also), micros(p.Verified), micros(p.Activated), micros(p.Created))
	return err
}

// Projects lists all, in the order of their creation.
func (t Tx) Projects() ([]Project, error) {
	return all(t, readProject, projectColumns+" ORDER BY created, id")
}

// RemoveProject removes a project with its agents and their autonomy. Its actions and events stay.
func (t Tx) RemoveProject(id string) error {
	for _, text := range []string{
		"DELETE FROM agent WHERE project = ?", "DELETE FROM autonomy WHERE project = ?", "DELETE FROM container WHERE project = ?",
	} {
		if _, err := t.exec(text, id); err != nil {
			return err
		}
	}
	return t.change("DELETE FROM project WHERE id = ?", id)
}

// Autonomy is one row of policy.md section 7. Agent and Type may be "*".
type Autonomy struct{ Agent, Type, Mode string }

func readAutonomy(row scanner) (a Autonomy, err error) {
	err = row.Scan(&a.Agent, &a.Type, &a.Mode)
	return a, err
}

// Autonomy lists the rows of a project.
func (t Tx) Autonomy(project string) ([]Autonomy, error) {
	return all(t, readAutonomy, "SELECT agent, type, mode FROM autonomy WHERE project = ? ORDER BY agent, type", project)
}

// AutonomyFor lists the rows that may be about an agent and a type.
func (t Tx) AutonomyFor(project, agent, kind string) ([]Autonomy, error) {
	return all(t, readAutonomy, "SELECT agent, type, mode FROM autonomy WHERE project = ? AND agent IN (?, '*') AND type IN (?, '*')",
		project, agent, kind)
}

// PutAutonomy sets a row. An empty mode removes it.
func (t Tx) PutAutonomy(project string, a Autonomy) error {
	if a.Mode == "" {
		_, err := t.exec("DELETE FROM autonomy WHERE project = ? AND agent = ? AND type = ?", project, a.Agent, a.Type)
		return err
	}
	_, err := t.exec(`INSERT INTO autonomy (project, agent, type, mode) VALUES (?, ?, ?, ?)
		ON CONFLICT (project, agent, type) DO UPDATE SET mode = excluded.mode`, project, a.Agent, a.Type, a.Mode)
	return err
}

// Container is what is known of a project's container.
type Container struct {
	Project, Name, State, Image string
	Spec                        []byte // as it was sent
	Changed                     time.Time
}

// PutContainer sets what is known of a project's container.
func (t Tx) PutContainer(c Container) error {
	_, err := t.exec(`INSERT INTO container (project, name, state, image, spec, changed) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (project) DO UPDATE SET name = excluded.name, state = excluded.state, image = excluded.image,
		spec = excluded.spec, changed = excluded.changed`, c.Project, c.Name, c.State, c.Image, c.Spec, micros(c.Changed))
	return err
}

// Containers lists all, by project.
func (t Tx) Containers() ([]Container, error) {
	return all(t, func(row scanner) (c Container, err error) {
		var changed sql.NullInt64
		err = row.Scan(&c.Project, &c.Name, &c.State, &c.Image, &c.Spec, &changed)
		c.Changed = moment(changed)
		return c, err
	}, "SELECT project, name, state, image, spec, changed FROM container ORDER BY project")
}

// RemoveContainer forgets a project's container.
func (t Tx) RemoveContainer(project string) error {
	_, err := t.exec("DELETE FROM container WHERE project = ?", project)
	return err
}

// PutTask sets the status of a task.
func (t Tx) PutTask(project, id, status string, at time.Time) error {
	_, err := t.exec(`INSERT INTO task (project, id, status, changed) VALUES (?, ?, ?, ?)
		ON CONFLICT (project, id) DO UPDATE SET status = excluded.status, changed = excluded.changed`, project, id, status, micros(at))
	return err
}

// TaskStatus is the status of a task.
func (t Tx) TaskStatus(project, id string) (string, error) {
	return one(t, func(row scanner) (status string, err error) {
		err = row.Scan(&status)
		return status, err
	}, "SELECT status FROM task WHERE project = ? AND id = ?", project, id)
}

// AddMerged notes that a pull request was merged by an action, and reports whether that is news.
func (t Tx) AddMerged(project, pullRequest, action string) (news bool, err error) {
	result, err := t.exec("INSERT INTO merged_pull_request (project, pull_request, action) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
		project, pullRequest, action)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
