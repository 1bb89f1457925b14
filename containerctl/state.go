package containerctl

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"brabo.dev/runner/runner/failure"
)

// The labels of protocol.md 4.4. labelManaged marks what is ours to touch.
const (
	labelManaged      = "brabo.managed"
	labelProject      = "brabo.project.id"
	labelSlug         = "brabo.project.slug"
	labelWorkspace    = "brabo.workspace.id"
	labelImageVersion = "brabo.image.version"
)

const namePrefix = "brabo-"

// Name is the name of the container of a project folder.
func Name(workspaceDirName string) string { return namePrefix + workspaceDirName }

// State is what the engine says about one container at the moment of asking.
type State struct {
	Exists           bool
	Running          bool   // also while paused
	Status           string // absent, created, running, paused, restarting, removing, exited, dead
	ID               string
	Name             string // brabo-<WorkspaceDirName>
	WorkspaceDirName string
	ProjectID        string
	ProjectSlug      string
	WorkspaceID      string
	Image            string
	ImageVersion     string
	Root             string // the host folder that is mounted at MountPoint
	ExitCode         int    // of the last run, where it ended
	OOMKilled        bool
	StartedAt        time.Time
	FinishedAt       time.Time
}

// Inspect asks about the container of a project folder. Absence is a State with Exists false; a container of that
// name which is not ours is container_foreign.
func (e *Engine) Inspect(ctx context.Context, workspaceDirName string) (State, error) {
	name := Name(workspaceDirName)
	c, found, err := e.find(ctx, name)
	if err != nil || !found {
		return State{Name: name, WorkspaceDirName: workspaceDirName, Status: "absent"}, err
	}
	return stateOf(c), nil
}

// Running finds the running container of a project, by labels and not by anything remembered: this is the truth by
// which commands are routed (protocol.md 4.1). Of several the one that was started last counts.
func (e *Engine) Running(ctx context.Context, projectID string) (State, bool, error) {
	filters := client.Filters{}.Add("label", labelManaged+"=true", labelProject+"="+projectID)
	all, err := e.list(ctx, client.ContainerListOptions{Filters: filters})
	if err != nil {
		return State{}, false, err
	}
	var best State
	for _, s := range all {
		if s.Running && s.ProjectID == projectID && (!best.Exists || s.StartedAt.After(best.StartedAt)) {
			best = s
		}
	}
	return best, best.Exists, nil
}

// Containers lists every container of ours, running or not, by name.
func (e *Engine) Containers(ctx context.Context) ([]State, error) {
	return e.list(ctx, client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", labelManaged+"=true")})
}

func (e *Engine) list(ctx context.Context, opts client.ContainerListOptions) ([]State, error) {
	listed, err := e.api.ContainerList(ctx, opts)
	if err != nil {
		return nil, e.named(ctx, err, "the list of containers")
	}
	var all []State
	for _, item := range listed.Items {
		c, err := e.api.ContainerInspect(ctx, item.ID, client.ContainerInspectOptions{})
		if isGone(err) {
			continue // removed between the two questions
		}
		if err != nil {
			return nil, e.named(ctx, err, item.ID)
		}
		if s := stateOf(c.Container); strings.HasPrefix(s.Name, namePrefix) {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b State) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// find looks a container up by name and makes sure that it is ours.
func (e *Engine) find(ctx context.Context, name string) (container.InspectResponse, bool, error) {
	got, err := e.api.ContainerInspect(ctx, name, client.ContainerInspectOptions{})
	if isGone(err) {
		return container.InspectResponse{}, false, nil
	}
	if err != nil {
		return container.InspectResponse{}, false, e.named(ctx, err, name)
	}
	c := got.Container
	if c.Config == nil || c.Config.Labels[labelManaged] != "true" {
		return container.InspectResponse{}, false, failure.New(failure.ContainerForeign, name)
	}
	return c, true, nil
}

func stateOf(c container.InspectResponse) State {
	name := strings.TrimPrefix(c.Name, "/")
	s := State{Exists: true, ID: c.ID, Name: name, WorkspaceDirName: strings.TrimPrefix(name, namePrefix)}
	if c.Config != nil {
		s.Image = c.Config.Image
		s.ProjectID, s.ProjectSlug = c.Config.Labels[labelProject], c.Config.Labels[labelSlug]
		s.WorkspaceID, s.ImageVersion = c.Config.Labels[labelWorkspace], c.Config.Labels[labelImageVersion]
	}
	s.Root = mountSource(c)
	if st := c.State; st != nil {
		s.Status, s.Running = string(st.Status), st.Running
		s.ExitCode, s.OOMKilled = st.ExitCode, st.OOMKilled
		s.StartedAt, s.FinishedAt = instant(st.StartedAt), instant(st.FinishedAt)
	}
	return s
}

// mountSource is the host folder at MountPoint.
func mountSource(c container.InspectResponse) string {
	for _, m := range c.Mounts {
		if m.Destination == MountPoint {
			return m.Source
		}
	}
	return ""
}

// instant reads an engine's time; what can't be read, and the year 1 that stands for "never", is the zero Time.
func instant(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.Year() <= 1 {
		return time.Time{}
	}
	return t
}
