package runner

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/workspace"
	"brabo.dev/runner/workspace/git"
)

// receiveTyped takes a typed action (protocol.md section 12, action).
func (s *session) receiveTyped(l link, in incoming) {
	t, fail := action.DecodeAction(in.payload, l.granted)
	in.ref, in.deadline = t.Ref, in.received.Add(s.typedDeadline(t))
	fail = cmp.Or(fail, s.hide(&in, t.Env))
	s.receive(l, in, fail, func() *failure.Failure { return s.acceptTyped(t, in) })
}

// typedDeadline is that of the server, else the default of what the action is: git talks to other machines.
func (s *session) typedDeadline(t action.Typed) time.Duration {
	switch {
	case t.Deadline > 0:
		return t.Deadline
	case t.WriteFile == nil:
		return s.m.o.Commands.GitDeadline
	}
	return s.m.o.Commands.Deadline
}

// acceptTyped checks a typed action and queues it.
func (s *session) acceptTyped(t action.Typed, in incoming) *failure.Failure {
	s.log.Info("received", "ref", t.Ref, "action", t.Type, "cwd", s.secrets(in).Text(t.Cwd()))
	p, fail := s.guardTyped(t)
	if fail != nil {
		return fail
	}
	w := way{
		plan: p, text: describeTyped(t), cwd: p.dir, patient: t.Deadline > 0,
		again: func() (plan, *failure.Failure) { return s.guardTyped(t) },
	}
	return s.admit(w, s.m.commands, in, func(ctx context.Context, p plan) {
		ctx, cancel := context.WithDeadline(ctx, in.deadline)
		defer cancel()
		result, err := s.typed(ctx, t, p, in)
		if err != nil {
			s.refuse(in, cutShort(ctx, err, "action "+t.Ref))
			return
		}
		if s.finish(in, action.ActionResult{Ref: t.Ref, OK: true, Result: result}) {
			s.log.Info("finished", "ref", t.Ref, "action", t.Type, "duration", time.Since(in.received).Round(time.Millisecond))
		}
	})
}

// cutShort names err; what the deadline or a cancellation ended is called so.
func cutShort(ctx context.Context, err error, subject string) *failure.Failure {
	switch f := failure.As(err); {
	case f != nil:
		return f
	case ctx.Err() == context.DeadlineExceeded:
		return failure.New(failure.TimedOut, subject).Wrap(err)
	case ctx.Err() != nil:
		return failure.New(failure.Cancelled, subject).Wrap(err)
	}
	return failure.From(err, subject)
}

// typed carries out one typed action.
func (s *session) typed(ctx context.Context, t action.Typed, p plan, in incoming) (any, error) {
	if w := t.WriteFile; w != nil {
		done, err := workspace.WriteFile(ctx, s.folder.Path, workspace.Write{
			Path: filepath.ToSlash(w.Path), Content: w.Content, Expect: w.Expect, Mode: fs.FileMode(w.Mode),
		})
		if err != nil {
			return nil, err
		}
		return action.WriteFileResult{Path: done.Path, Bytes: done.Bytes, SHA256: done.SHA256, Created: done.Created}, nil
	}
	if s.m.o.Git == nil {
		return nil, failure.New(failure.GitMissing, "git")
	}
	if fail := unconfinedGit(p.confine); fail != nil {
		return nil, fail
	}
	g := s.git(in, p.env)
	at := git.Place{Cwd: p.dir, Roots: append([]string{s.folder.Path}, p.beside.written...)}
	switch {
	case t.Commit != nil:
		done, err := g.Commit(ctx, at, git.Commit{
			Message: t.Commit.Message, Paths: t.Commit.Paths, AuthorName: t.Commit.AuthorName, AuthorEmail: t.Commit.AuthorEmail,
		})
		return action.GitCommitResult{Commit: done.Commit, Branch: done.Branch, Files: done.Files}, err
	case t.Branch != nil:
		done, err := g.CreateBranch(ctx, at, git.Branch{Name: t.Branch.Name, From: t.Branch.From})
		return action.GitBranchCreateResult{Branch: done.Branch, Commit: done.Commit}, err
	default:
		done, err := g.Push(ctx, at, git.Push{
			Remote: t.Push.Remote, Branch: t.Push.Branch, SetUpstream: t.Push.SetUpstream, Credential: git.CredentialOf(t.Env),
		})
		return action.GitPushResult{Remote: done.Remote, Branch: done.Branch, Commit: done.Commit}, err
	}
}
