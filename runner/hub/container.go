package hub

import (
	"encoding/json"
	"errors"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/workspace"
)

// The states of a project's container.
const (
	containerProvisioning = "provisioning"
	containerRunning      = "running"
	containerStopped      = "stopped"
	containerFailed       = "failed"
)

// containerOf finds what is known of a project's container: nothing is the zero value.
func containerOf(tx store.Tx, project string) (store.Container, error) {
	all, err := tx.Containers()
	for _, c := range all {
		if c.Project == project {
			return c, nil
		}
	}
	return store.Container{}, err
}

// prepare does what comes before a container_start is sent (policy.md section 15): the spec with its minimum, and for a
// folder on this machine the proof that it is writable. What fails here is the action's outcome, and the container is
// not marked.
func (h *Hub) prepare(p Project, r *running) {
	spec, verified, err := h.prepared(p, *r.proposal.Container)
	var raw []byte
	if err == nil {
		raw, err = json.Marshal(spec)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	current := h.projects[p.ID]
	if h.running[r.ID] != r || h.closed {
		return
	}
	if err == nil && current == nil {
		err = failure.New(failure.ProjectNotFound, "project "+p.ID)
	}
	if err == nil {
		now := time.Now()
		err = h.commitLocked(func(tx store.Tx) error {
			c := store.Container{Project: p.ID, Name: "brabo-" + p.DirName, State: containerProvisioning, Image: spec.Image, Spec: raw, Changed: now}
			if before, err := containerOf(tx, p.ID); err != nil {
				return err
			} else if before.State == containerRunning {
				c.State = containerRunning // it may well be up already
			}
			if err := errors.Join(tx.SetMessage(r.ID, raw), tx.PutContainer(c)); err != nil || !verified {
				return err
			}
			return stampVerified(tx, p.ID, now)
		})
	}
	if err != nil {
		h.endOrLogLocked(r, Failed, &Outcome{Failure: failure.From(err, "project "+p.ID)})
		return
	}
	r.Message = raw
	h.queueLocked(current, r)
}

// prepared makes the folder where it is on this machine, and completes the spec.
func (h *Hub) prepared(p Project, asked ContainerSpec) (spec specMessage, verified bool, err error) {
	place, err := h.placeOf(p)
	if err != nil {
		return spec, false, err
	}
	if p.Mode != ModeRunner && h.c.Home != "" {
		o := workspace.Options{Home: h.c.Home, Ours: h.c.Ours, Origin: "hub.projects_base"}
		o.Roots = []string{h.c.ProjectsBase}
		if p.Mode == ModeContainer {
			o.Roots, o.Origin = []string{h.c.WorkspacesRoot}, "hub.workspaces_root"
		}
		if _, err := workspace.Materialize(place.Root, o); err != nil {
			return spec, false, err
		}
		verified = true
	}
	spec, err = specFor(p, place.Root, asked)
	return spec, verified, err
}

// placeOf is place, or the bare root where something else than the rules decides.
func (h *Hub) placeOf(p Project) (Place, error) {
	if h.c.Decider != nil {
		return Place{Root: p.Root}, nil
	}
	return h.place(p)
}

// stampVerified notes that a project's folder was proven writable.
func stampVerified(tx store.Tx, id string, at time.Time) error {
	row, err := projectRow(tx, id)
	if err != nil {
		return err
	}
	row.Verified = at
	return tx.PutProject(row)
}

// containerEnded keeps what an action has made of its project's container, or has told about it.
func containerEnded(tx store.Tx, at time.Time, r *running, status Status, out *Outcome) error {
	gone := r.Type == typeTerminal && out.Failure != nil && out.Failure.Name == failure.ContainerGone
	if kindOf(r.Type) != byContainer && !gone {
		return nil
	}
	c, err := containerOf(tx, r.Project)
	if err != nil || c.Project == "" && r.Type != typeContainerStart {
		return err
	}
	c.Changed = at
	switch {
	case gone: // so that the next command asks
		if c.State == containerRunning {
			c.State = containerStopped
		}
	case status == Failed && r.Type == typeContainerStart:
		if c.State != containerProvisioning {
			return nil
		}
		c.State = containerFailed
	case status == Failed:
		return nil
	case r.Type == typeContainerRemove:
		return tx.RemoveContainer(r.Project)
	case r.Type == typeContainerStop:
		c.State = containerStopped
	default:
		c.Project, c.State = r.Project, containerRunning
		if out.Container != "" {
			c.Name = out.Container
		}
	}
	return tx.PutContainer(c)
}
