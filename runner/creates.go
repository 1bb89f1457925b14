package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/journal"
	"brabo.dev/runner/runner/machinepolicy"
	"brabo.dev/runner/workspace"
	"brabo.dev/runner/workspace/git"
)

// Workspaces is how project folders are made for a server (protocol.md 4.3).
type Workspaces struct {
	// Base is the folder below which they are made; empty: none are made.
	Base string
	// Root is that of the one project that this execution serves, which Base may not be or lie in; empty where it serves
	// many.
	Root string
	// Deadline is for a server that sends none (settings.md, `workspace.clone_deadline`); zero: 55 s.
	Deadline time.Duration
}

const (
	createParallel = 4 // of the whole machine; a project's follow each other
	createQueue    = 16
	// createDeadline is for a daemon that was told none: the engine waits 60 s (protocol.md 6.1).
	createDeadline = 55 * time.Second
)

// receiveCreate takes a workspace_create.
func (s *session) receiveCreate(l link, in incoming) {
	c, fail := action.DecodeWorkspaceCreate(in.payload, l.granted)
	in.ref, in.deadline = c.Ref, in.received.Add(cmp.Or(c.Deadline, s.m.o.Workspaces.Deadline, createDeadline))
	fail = cmp.Or(fail, s.hide(&in, c.Env))
	s.receive(l, in, fail, func() *failure.Failure { return s.acceptCreate(l, c, in) })
}

// withoutAddressSecrets is a workspace_create as the journal may have it. It is never run from there. An address that
// holds a secret is refused, but the refusal is kept too.
func withoutAddressSecrets(raw json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return raw
	}
	for name, member := range members {
		var address string
		if strings.EqualFold(name, "repoUrl") && json.Unmarshal(member, &address) == nil && address != "" {
			members[name], _ = json.Marshal(git.Shown(address)) // a string always has a form
		}
	}
	kept, err := json.Marshal(members)
	if err != nil {
		return raw // can't be: each member was read from valid JSON
	}
	return kept
}

// acceptCreate queues the making of a folder.
func (s *session) acceptCreate(l link, c action.WorkspaceCreate, in incoming) *failure.Failure {
	s.log.Info("received", "ref", c.Ref, "action", in.event, "segment", s.secrets(in).Text(c.Segmento), "clone", c.RepoURL != "")
	if c.ProjectID != s.project.ID {
		return failure.New(failure.MalformedAction, in.event).Because("`projectId` is not the project of this channel")
	}
	o := s.m.o.Workspaces
	create := workspace.Create{Base: o.Base, ProjectRoot: o.Root, Segment: filepath.FromSlash(c.Segmento), Options: s.m.o.Folder}
	create.Options.Origin = "" // it says where the path of the project's root came from
	if len(l.granted) == 0 {
		create.Takes = workspace.Confirmable
	}
	if s.m.o.Git == nil {
		return failure.New(failure.GitMissing, "git")
	}
	if fail := s.guardCreate(create, in); fail != nil {
		return fail
	}
	g, fail := s.cloner(c.Env, in)
	if fail != nil {
		return fail
	}
	create.Init = g.Init
	if c.RepoURL != "" {
		tell := s.progress(c.Ref)
		create.Clone = func(ctx context.Context, dir string) error {
			return g.Clone(ctx, dir, git.Clone{
				URL: c.RepoURL, Credential: git.CredentialOf(c.Env),
				Progress: func(stage string, current, total int64) {
					tell("clone", stage[strings.LastIndexByte(stage, ' ')+1:], current, total) // receiving objects, updating files
				},
			})
		}
	}
	w := way{again: func() (plan, *failure.Failure) { return plan{}, s.guardCreate(create, in) }}
	return s.queue(w, s.m.creates, in, func(ctx context.Context, _ plan) { s.create(ctx, create, in) })
}

// guardCreate is the second lock on the making of a folder. One that can't be made is refused by who makes it.
func (s *session) guardCreate(c workspace.Create, in incoming) *failure.Failure {
	lock, fail := s.lock()
	if fail == nil {
		fail = unconfinedGit(lock.Confine())
	}
	if folder, err := c.Path(); fail == nil && err == nil {
		fail = s.guardFolder(machinepolicy.TypeWorkspaceCreate, in.ref, folder)
	}
	return fail
}

// cloner is a git in the person's own environment. What came with the action is judged like that of a command, but
// only a credential is taken from it.
func (s *session) cloner(env map[string]string, in incoming) (git.Git, *failure.Failure) {
	if _, err := s.m.environment(env); err != nil {
		return git.Git{}, failure.From(err, "env")
	}
	own, err := s.m.environment(nil)
	if err != nil {
		return git.Git{}, failure.From(err, "env")
	}
	return s.git(in, own), nil
}

// git is git for an action, in env. What it starts carries the action's mark, so that a later daemon can end it.
func (s *session) git(in incoming, env []string) git.Git {
	g := *s.m.o.Git
	g.Env = env
	run, mark := g.Run, markOf(s.key(in))
	if run == nil {
		run = git.Process
	}
	g.Run = func(ctx context.Context, c git.Command) (git.Output, error) {
		c.Env = exec.Marked(c.Env, mark)
		return run(ctx, c)
	}
	return g
}

// create makes the folder. That it is confirmed before its result is told is the delivery's to see to.
func (s *session) create(ctx context.Context, c workspace.Create, in incoming) {
	ctx, cancel := context.WithDeadline(ctx, in.deadline)
	defer cancel()
	var made workspace.Created
	release, err := s.m.making.enter(ctx, filepath.Join(c.Base, c.Segment))
	if err == nil {
		made, err = workspace.MakeProject(ctx, c)
		release()
	}
	if err != nil {
		fail := withoutSecrets(s.secrets(in), cutShort(ctx, err, "action "+in.ref))
		s.log.Warn("refused", "ref", in.ref, "failure", fail)
		s.finish(in, action.WorkspaceNotCreated(in.ref, action.Motivo(workspace.ReasonOf(err)), fail))
		return
	}
	if s.finish(in, action.WorkspaceCreateResult{Ref: in.ref, Sucesso: true, Caminho: made.Path}) {
		s.log.Info("finished", "ref", in.ref, "action", in.event, "folder", made.Path, "kept", made.Kept,
			"duration", time.Since(in.received).Round(time.Millisecond))
	}
}

// confirmMade confirms the folder that a result tells of, on the connection that the result goes out on and directly
// before it: the server stamps its record before whoever waits wakes up (protocol.md 4.3).
func (s *session) confirmMade(ctx context.Context, l link, d journal.Due) error {
	path, made := action.Made(d.Result.Event, d.Result.Payload)
	if !made {
		return nil
	}
	return l.ch.Push(ctx, action.EventWorkspaceConfirm, action.WorkspaceConfirm{Path: path})
}
