package runner

import (
	"cmp"
	"context"
	"time"

	"brabo.dev/runner/containerctl"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/workspace"
)

// Containers is how project containers are run; the names are those of settings.md.
type Containers struct {
	// Discover finds the engine. Nil: this daemon knows no containers, and says so by name.
	Discover func(ctx context.Context) (*containerctl.Engine, error)
	User     string        // container.user
	Drift    string        // container.drift
	Pull     time.Duration // container.pull; zero: the deadline less pullReserve
}

const (
	// containerDeadline is for servers that send none: the engine waits 60 s (protocol.md 6.1).
	containerDeadline = 55 * time.Second
	// pullReserve is what is kept of a start's deadline to say that the pull takes longer.
	pullReserve = 5 * time.Second
)

func isContainer(event string) bool {
	return event == action.EventContainerStart || event == action.EventContainerStop || event == action.EventContainerRemove
}

func (s *session) receiveContainer(l link, in incoming) {
	c, fail := action.DecodeContainer(in.event, in.payload, l.granted)
	in.ref, in.deadline = c.Ref, in.received.Add(cmp.Or(c.Deadline, containerDeadline))
	s.receive(l, in, fail, func() *failure.Failure { return s.acceptContainer(&l, c, in) })
}

// acceptContainer queues a container action. l is the connection on which a folder is confirmed; nil where the action
// is of an earlier daemon.
func (s *session) acceptContainer(l *link, c action.Container, in incoming) *failure.Failure {
	s.log.Info("received", "ref", c.Ref, "action", c.Event)
	p, fail := s.guardContainer(c)
	if fail != nil {
		return fail
	}
	w := way{
		plan: p, text: c.Event + " " + cmp.Or(string(c.Spec), string(c.WorkspaceDirName)), cwd: p.dir, patient: c.Deadline > 0,
		again: func() (plan, *failure.Failure) { return s.guardContainer(c) },
	}
	return s.admit(w, s.m.containers, in, func(ctx context.Context, _ plan) {
		ctx, cancel := context.WithDeadline(ctx, in.deadline)
		defer cancel()
		result, err := s.container(ctx, l, c, in)
		if err != nil {
			s.refuse(in, cutShort(ctx, err, c.Event+" "+c.Ref))
			return
		}
		if s.finish(in, result) {
			s.log.Info("finished", "ref", c.Ref, "action", c.Event, "container", result.Nome)
		}
	})
}

// container carries out one container action.
func (s *session) container(ctx context.Context, l *link, c action.Container, in incoming) (action.ContainerResult, error) {
	if c.Event == action.EventContainerStart {
		return s.startContainer(ctx, l, c, in)
	}
	name, err := containerctl.ParseWorkspaceDirName(c.WorkspaceDirName)
	if err != nil {
		return action.ContainerResult{}, err
	}
	engine, err := s.m.engines.find(ctx)
	if err != nil {
		return action.ContainerResult{}, err
	}
	if err := s.ours(ctx, engine, name); err != nil {
		return action.ContainerResult{}, err
	}
	do := engine.Stop
	if c.Event == action.EventContainerRemove {
		do = engine.Remove
	}
	return action.ContainerResult{Ref: c.Ref, Sucesso: true}, do(ctx, name)
}

// startContainer prepares the folder and confirms it before the engine hears anything.
func (s *session) startContainer(ctx context.Context, l *link, c action.Container, in incoming) (action.ContainerResult, error) {
	spec, err := containerctl.ParseSpec(c.Spec, s.project.ID)
	if err != nil {
		return action.ContainerResult{}, err
	}
	folder, err := workspace.Materialize(s.project.Root, s.m.o.Folder)
	if err != nil {
		return action.ContainerResult{}, err
	}
	if l != nil && s.confirmable(l.granted) {
		if err := l.ch.Push(ctx, action.EventWorkspaceConfirm, action.WorkspaceConfirm{Path: folder.Path}); err != nil {
			return action.ContainerResult{}, failure.New(failure.ConnectionLost, "workspace_confirm").
				Because("the folder could not be confirmed to the server: %v", err).Wrap(err)
		}
	}
	engine, err := s.m.engines.find(ctx)
	if err != nil {
		return action.ContainerResult{}, err
	}
	if err := s.ours(ctx, engine, spec.WorkspaceDirName); err != nil {
		return action.ContainerResult{}, err
	}
	o := s.m.o.Containers
	pull := in.deadline.Add(-pullReserve)
	if o.Pull > 0 {
		pull = in.received.Add(o.Pull)
	}
	started, err := engine.Start(ctx, spec, containerctl.StartOptions{
		Root: folder.Path, User: o.User, Drift: o.Drift, PullDeadline: pull,
		Progress: s.pulling(c.Ref),
	})
	if err != nil {
		return action.ContainerResult{}, err
	}
	for _, note := range append(started.Drift, started.Notes...) {
		s.log.Warn("container", "name", started.Name, "note", note)
	}
	return action.ContainerResult{
		Ref: c.Ref, Sucesso: true, ContainerID: started.ID, Nome: started.Name, JaEstavaDePe: &started.AlreadyUp,
	}, nil
}

// ours refuses a container of another project: a server could name any of this machine's.
func (s *session) ours(ctx context.Context, engine *containerctl.Engine, workspaceDirName string) error {
	state, err := engine.Inspect(ctx, workspaceDirName)
	if err != nil || !state.Exists || state.ProjectID == s.project.ID {
		return err
	}
	return failure.New(failure.ContainerForeign, state.Name).Because("it belongs to another project, %s", state.ProjectID)
}

// inside gives dir as the container sees it. The root counts in both of its forms.
func (s *session) inside(dir string) string {
	return containerctl.Translate(s.folder.Path, s.asWritten(dir))
}
