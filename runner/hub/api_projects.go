package hub

import (
	"encoding/json"
	"net/http"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
)

// projectShown is a project as the API shows it.
type projectShown struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Mode       Mode       `json:"mode"`
	Root       string     `json:"root"`
	DirName    string     `json:"workspaceDirName"`
	AlsoInside []string   `json:"also_inside"`
	Verified   *time.Time `json:"workspaceVerifiedAt"`
	Activated  *time.Time `json:"activatedAt"`
	Connected  bool       `json:"connected"`
}

// shownProjects are all projects, in the order of their creation.
func (h *Hub) shownProjects() ([]projectShown, error) {
	var rows []store.Project
	err := h.store.View(func(tx store.Tx) (err error) {
		rows, err = tx.Projects()
		return err
	})
	list := make([]projectShown, 0, len(rows))
	for _, row := range rows {
		p := projectOf(row)
		if place, err := h.place(p); err == nil && p.Mode == ModeContainer {
			p.Root = place.Root
		}
		list = append(list, projectShown{p.ID, p.Name, p.Mode, p.Root, p.DirName, append([]string{}, p.AlsoInside...),
			present(row.Verified), present(row.Activated), h.RunnerConnected(p.ID)})
	}
	return list, err
}

func (h *Hub) shownProject(id string) (projectShown, error) {
	all, err := h.shownProjects()
	for _, p := range all {
		if p.ID == id {
			return p, nil
		}
	}
	if err == nil {
		err = failure.New(failure.ProjectNotFound, "project "+printable(id))
	}
	return projectShown{}, err
}

func (h *Hub) getProjects(w http.ResponseWriter, _ *http.Request, _ Principal) {
	list, err := h.shownProjects()
	answer(w, http.StatusOK, map[string]any{"projects": list}, err)
}

func (h *Hub) getProject(w http.ResponseWriter, r *http.Request, _ Principal) {
	p, err := h.shownProject(r.PathValue("id"))
	answer(w, http.StatusOK, p, err)
}

func (h *Hub) postProject(w http.ResponseWriter, r *http.Request, who Principal) {
	var spec ProjectSpec
	err := h.read(w, r, &spec)
	var p Project
	if err == nil {
		p, err = h.AddProject(who.actor(), spec)
	}
	var shown projectShown
	if err == nil {
		shown, err = h.shownProject(p.ID)
	}
	answer(w, http.StatusCreated, shown, err)
}

func (h *Hub) patchProject(w http.ResponseWriter, r *http.Request, who Principal) {
	var c ProjectChange
	err := h.read(w, r, &c)
	if err == nil {
		_, err = h.ChangeProject(who.actor(), r.PathValue("id"), c)
	}
	var shown projectShown
	if err == nil {
		shown, err = h.shownProject(r.PathValue("id"))
	}
	answer(w, http.StatusOK, shown, err)
}

func (h *Hub) deleteProject(w http.ResponseWriter, r *http.Request, who Principal) {
	none(w, h.RemoveProject(who.actor(), r.PathValue("id")))
}

// none answers that something was done and there is nothing to say about it.
func none(w http.ResponseWriter, err error) {
	if err != nil {
		writeError(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *Hub) postActivate(w http.ResponseWriter, r *http.Request, who Principal) {
	a, err := h.Activate(who.actor(), r.PathValue("id"))
	answer(w, http.StatusOK, a, err)
}

func (h *Hub) postHandoff(w http.ResponseWriter, r *http.Request, who Principal) {
	var body struct {
		Agent string `json:"agent"`
	}
	err := h.read(w, r, &body)
	if err == nil {
		err = h.AcceptHandoff(who.actor(), r.PathValue("id"), body.Agent)
	}
	h.answerAutonomy(w, r.PathValue("id"), err)
}

func (h *Hub) getAutonomy(w http.ResponseWriter, r *http.Request, _ Principal) {
	h.answerAutonomy(w, r.PathValue("id"), nil)
}

func (h *Hub) answerAutonomy(w http.ResponseWriter, id string, err error) {
	var rows []Autonomy
	if err == nil {
		rows, err = h.Autonomy(id)
	}
	answer(w, http.StatusOK, map[string]any{"rows": rows}, err)
}

// putAutonomy takes one row, or several as `rows`.
func (h *Hub) putAutonomy(w http.ResponseWriter, r *http.Request, who Principal) {
	var body struct {
		Autonomy
		Rows []Autonomy `json:"rows"`
	}
	err := h.read(w, r, &body)
	if err == nil {
		if body.Rows == nil {
			body.Rows = []Autonomy{body.Autonomy}
		}
		err = h.SetAutonomy(who.actor(), r.PathValue("id"), body.Rows)
	}
	h.answerAutonomy(w, r.PathValue("id"), err)
}

// getContainers lists what is known of the projects' containers.
func (h *Hub) getContainers(w http.ResponseWriter, _ *http.Request, _ Principal) {
	type shown struct {
		Project string          `json:"project"`
		Name    string          `json:"name"`
		State   string          `json:"state"`
		Image   string          `json:"image"`
		Spec    json.RawMessage `json:"spec"`
		Changed time.Time       `json:"changedAt"`
	}
	list := []shown{}
	err := h.store.View(func(tx store.Tx) error {
		rows, err := tx.Containers()
		for _, c := range rows {
			list = append(list, shown{c.Project, c.Name, c.State, c.Image, c.Spec, c.Changed})
		}
		return err
	})
	answer(w, http.StatusOK, map[string]any{"containers": list}, err)
}
