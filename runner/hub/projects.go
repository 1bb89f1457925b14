package hub

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// projectRow finds a project's row, or ErrNone.
func projectRow(tx store.Tx, id string) (store.Project, error) {
	rows, err := tx.Projects()
	for _, row := range rows {
		if row.ID == id {
			return row, nil
		}
	}
	return store.Project{}, errors.Join(err, store.ErrNone)
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// maxSlug leaves room for the id in a folder name of 64 characters (policy.md section 1).
const maxSlug = 50

// slug is name as part of a folder's name; other where nothing is left of it.
func slug(name, other string) string {
	s := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if len(s) > maxSlug {
		s = strings.Trim(s[:maxSlug], "-")
	}
	if s == "" {
		return other
	}
	return s
}

// ProjectSpec is what a new project is made from.
type ProjectSpec struct {
	Name string `json:"name,omitempty"` // empty: the folder's name
	Mode Mode   `json:"mode,omitempty"` // empty: mounted
	Root string `json:"root,omitempty"` // absolute; none in mode container
}

// AddProject makes a project. It fails with BadRequest, RootNotConfirmable, RootHoldsOurs, RootNotAllowed or
// AlreadyExists.
func (h *Hub) AddProject(by Actor, spec ProjectSpec) (Project, error) {
	if spec.Mode == "" {
		spec.Mode = ModeMounted
	}
	if !spec.Mode.known() || len(spec.Name) > 200 || (spec.Mode == ModeContainer) != (spec.Root == "") {
		return Project{}, failure.New(failure.BadRequest, "project").
			Because("the mode is mounted, runner or container; the first two have a root, the last has none; a name has at most 200 bytes")
	}
	if spec.Name == "" {
		spec.Name = filepath.Base(spec.Root)
		if spec.Root == "" {
			spec.Name = "project"
		}
	}
	id := strings.ToLower(rand.Text())
	p := Project{ID: id, Name: spec.Name, Mode: spec.Mode, Root: spec.Root, DirName: slug(spec.Name, "project") + "-" + id[:8]}
	if _, err := h.place(p); err != nil {
		return Project{}, err
	}
	if spec.Mode == ModeMounted && h.c.ProjectsBase != "" && (!within(p.Root, h.c.ProjectsBase) || within(h.c.ProjectsBase, p.Root)) {
		return Project{}, failure.New(failure.RootNotAllowed, p.Root).Because("it does not lie below %s (hub.projects_base)", h.c.ProjectsBase)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, other := range h.projects {
		if p.Root != "" && other.Root == p.Root {
			return Project{}, failure.New(failure.AlreadyExists, p.Root).Because("it is the root of project %s", other.ID)
		}
	}
	now := time.Now()
	err := h.commitLocked(func(tx store.Tx) error {
		row := store.Project{ID: p.ID, Workspace: workspaceID, Name: p.Name, Mode: string(p.Mode), Root: p.Root, DirName: p.DirName, Created: now}
		if err := tx.PutProject(row); err != nil {
			return err
		}
		return emit(tx, now, eventProject, by, p.ID, "", payload{"change": "added", "name": p.Name, "mode": p.Mode})
	})
	if err != nil {
		return Project{}, err
	}
	h.projects[p.ID] = &project{Project: p}
	return p, nil
}

// ProjectChange is what is changed of a project; nil stays as it is.
type ProjectChange struct {
	Name       *string   `json:"name,omitempty"`
	AlsoInside *[]string `json:"also_inside,omitempty"`
}

// ChangeProject changes a project. It fails with ProjectNotFound, BadRequest, or the failure of a folder that can't
// count as inside.
func (h *Hub) ChangeProject(by Actor, id string, c ProjectChange) (Project, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.projects[id]
	if p == nil {
		return Project{}, failure.New(failure.ProjectNotFound, "project "+printable(id))
	}
	changed, now := p.Project, time.Now()
	what := payload{"change": "settings"}
	if c.Name != nil {
		if *c.Name == "" || len(*c.Name) > 200 {
			return Project{}, failure.New(failure.BadRequest, "name").Because("it is empty or has more than 200 bytes")
		}
		changed.Name, what["name"] = *c.Name, *c.Name
	}
	if c.AlsoInside != nil {
		for _, folder := range *c.AlsoInside {
			if err := h.alsoAllowedLocked(folder, p.Project); err != nil {
				return Project{}, err
			}
		}
		changed.AlsoInside, what["also_inside"] = *c.AlsoInside, len(*c.AlsoInside)
	}
	err := h.commitLocked(func(tx store.Tx) error {
		row, err := projectRow(tx, id)
		if err != nil {
			return err
		}
		row.Name, row.AlsoInside = changed.Name, changed.AlsoInside
		if err := tx.PutProject(row); err != nil {
			return err
		}
		return emit(tx, now, eventProject, by, id, "", what)
	})
	if err != nil {
		return Project{}, err
	}
	p.Project = changed
	return changed, nil
}

// alsoAllowedLocked judges a folder that is to count as inside a project (settings.md, also_inside).
func (h *Hub) alsoAllowedLocked(folder string, p Project) error {
	if err := h.rootAllowed(folder); err != nil {
		return err
	}
	refuse := func(format string, args ...any) error {
		return failure.New(failure.RootNotAllowed, folder).Because(format, args...)
	}
	if h.c.Home != "" && within(h.c.Home, folder) {
		return refuse("it is or holds the home folder")
	}
	if h.c.Home != "" && within(folder, h.c.Home) {
		if rel, err := filepath.Rel(h.c.Home, folder); err == nil && strings.HasPrefix(rel, ".") {
			return refuse("it lies in a dot folder of the home folder")
		}
	}
	for _, other := range h.projects {
		if root := other.Root; root != "" && (other.ID == p.ID && within(root, folder) || other.ID != p.ID && within(root, folder)) {
			return refuse("it is or holds the root of project %s", other.ID)
		}
	}
	return nil
}

// RemoveProject removes a project: its agents' tokens are worth nothing any more, its runner is cut off, and what is
// under way ends as failed. It fails with ProjectNotFound.
func (h *Hub) RemoveProject(by Actor, id string) error {
	h.mu.Lock()
	p := h.projects[id]
	if p == nil {
		h.mu.Unlock()
		return failure.New(failure.ProjectNotFound, "project "+printable(id))
	}
	now := time.Now()
	err := h.commitLocked(func(tx store.Tx) error {
		if err := tx.RemoveProject(id); err != nil {
			return err
		}
		return emit(tx, now, eventProject, by, id, "", payload{"change": "removed", "name": p.Name})
	})
	socket := ""
	if err == nil {
		for _, r := range h.running {
			if r.Project == id {
				h.endOrLogLocked(r, Failed, &Outcome{Failure: failure.New(failure.ProjectNotFound, "project "+id).Because("it was removed")})
			}
		}
		if p.runner != nil {
			socket = p.runner.socketID
		}
		delete(h.projects, id)
	}
	h.mu.Unlock()
	if socket != "" {
		h.server.Disconnect(socket)
	}
	return err
}

// Activation is what activating execution has written.
type Activation struct {
	Patterns []string   `json:"patterns"` // those that were missing
	Autonomy []Autonomy `json:"autonomy"`
}

// Activate seeds a project's rules (policy.md section 10): the two lists of patterns, and git_commit for each module's
// agent. It fails with ProjectNotFound, ModulesFileInvalid, PermissionsFileInvalid or PermissionsFileNotWritten.
func (h *Hub) Activate(by Actor, id string) (Activation, error) {
	p, known, err := h.projectNow(id)
	if err != nil {
		return Activation{}, err
	}
	place, err := h.place(known)
	if err != nil {
		return Activation{}, err
	}
	modules, err := LoadModules(place.Root)
	if err != nil {
		return Activation{}, err
	}
	a := Activation{Patterns: []string{}, Autonomy: []Autonomy{}}
	for _, m := range modules {
		a.Autonomy = append(a.Autonomy, Autonomy{"dev-" + m.Name, "git_commit", policy.AutoApprove})
	}
	p.rules.Lock()
	defer p.rules.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	return a, h.commitDurablyLocked(func(tx store.Tx) error {
		row, err := projectRow(tx, id)
		if err != nil {
			return err
		}
		row.Activated = now
		if err := tx.PutProject(row); err != nil {
			return err
		}
		for _, rule := range a.Autonomy {
			if err := tx.PutAutonomy(id, rule.row()); err != nil {
				return err
			}
		}
		if err := os.MkdirAll(filepath.Dir(place.File), 0o700); err != nil {
			return failure.New(failure.PermissionsFileNotWritten, place.File).Wrap(err)
		}
		source, ours := policy.Seeded()
		added, err := policy.AddAllow(place.File, append(source, ours...)...)
		if err != nil {
			return err
		}
		a.Patterns = append(a.Patterns, added...)
		return emit(tx, now, eventProject, by, id, "", payload{"change": "activated", "patterns": len(added), "autonomy": a.Autonomy})
	})
}

// joined is a list of patterns as one text (policy.md section 14).
func joined(patterns []string) string { return strings.Join(patterns, ", ") }

// projectNow gives a project, and what is known of it at this moment. It fails with ProjectNotFound.
func (h *Hub) projectNow(id string) (*project, Project, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.projects[id]
	if p == nil {
		return nil, Project{}, failure.New(failure.ProjectNotFound, "project "+printable(id))
	}
	return p, p.Project, nil
}

// knows fails with ProjectNotFound where projectNow does.
func (h *Hub) knows(id string) error {
	_, _, err := h.projectNow(id)
	return err
}
