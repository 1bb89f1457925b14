package runner

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"brabo.dev/runner/containerctl"
	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/journal"
	"brabo.dev/runner/runner/policy"
	"brabo.dev/runner/workspace"
)

// credentialStays is how a Brabo engine recognises that a command was refused for the sake of its credential
// (protocol.md 4.1); it has to stand in the output.
const credentialStays = "credencial-nao-atravessa-o-container"

// execute runs e as planned, where its project's commands run now, and stores its result. Cancelling ctx ends it.
func (s *session) execute(ctx context.Context, e action.Exec, p plan, in incoming) {
	engine, container, found, err := s.m.engines.running(ctx, s.project.ID)
	var result action.ExecResult
	switch {
	case err != nil:
		result = action.Refused(e.Ref, failure.From(err, "action "+e.Ref))
	case insideOnly(e.Decision) && (!found || len(e.Env) > 0 && e.GitCredentialed):
		result = action.Refused(e.Ref, failure.New(failure.ContainerGone, "project "+s.project.ID).
			Because("the command was allowed for the inside of the project's container, and would have run outside of it; nothing was run").
			Then("start the container again, or propose the command anew: it asks for the place where it then runs"))
	case !found, len(e.Env) > 0 && e.GitCredentialed:
		result = s.onHost(ctx, e, p, in)
	case len(e.Env) > 0:
		result = action.Refused(e.Ref, refusedCredential(e, container.Name))
		result.Output = "[runner recusou o comando: " + credentialStays + "] " + result.Failure.Error()
	default:
		result = s.inContainer(ctx, engine, container, e, p, in)
	}
	if s.finish(in, result) {
		s.log.Info("finished", "ref", e.Ref, "exit_code", result.ExitCode, "timed_out", result.TimedOut,
			"duration", time.Since(in.received).Round(time.Millisecond), "container", container.Name)
	}
}

// insideOnly reports whether a command was let run for the container that the server believes to run: by the rules
// (policy.md section 7, the container floor; on the host it would have asked), or by a person who was shown that.
func insideOnly(d *action.Decision) bool {
	if d == nil {
		return false
	}
	return d.Environment == action.InContainer || d.Kind != "human" && d.Rule == string(policy.ContainerFloor)
}

// refusedCredential counts the variables and names none of them.
func refusedCredential(e action.Exec, container string) *failure.Failure {
	return failure.New(failure.CredentialInContainer, container).
		Because("the command came with %d environment variables, and the project's container is running, which takes none; nothing was run", len(e.Env))
}

func (s *session) onHost(ctx context.Context, e action.Exec, p plan, in incoming) action.ExecResult {
	c := s.m.o.Commands
	shown := s.streamOutput(e.Ref)
	spool, spooled := s.m.spool(s.project.ID, e.Ref)
	r := exec.Run(ctx, exec.Command{
		Text: e.Command, Shell: c.Shell, PlainPOSIX: plainPOSIX,
		Dir: p.dir, Enter: s.enter(p.beside), Env: p.env, Bounds: s.bounds(p.confine, p.beside),
		Received: in.received, Deadline: in.deadline, Grace: c.Grace,
		// Room is kept for the words that a result without an exit code needs.
		ResultLimit: c.ResultLimit - action.NoticeRoom,
		SpoolDir:    c.SpoolDir, SpoolName: spool, SpoolLimit: c.SpoolLimit,
		Umask:   c.Umask,
		Mark:    markOf(s.key(in)),
		Filter:  s.secrets(in).Writer,
		Observe: func(chunk []byte) { _, _ = shown.Write(chunk) }, // never fails
		Started: func(pid int, identity string) {
			s.began(in, journal.Process{PID: pid, Group: pid, Identity: identity})
		},
	})
	shown.close()
	spooled()
	if r.Spool != "" {
		s.m.trimSpool()
	}
	if r.SpoolFailure != nil {
		s.log.Warn("the full output was not kept", "ref", e.Ref, "failure", r.SpoolFailure)
	}
	if r.Left > 0 || r.Survivors > 0 {
		s.log.Info("processes outlived their command", "ref", e.Ref, "ended", r.Left, "could_not_be_ended", r.Survivors)
	}
	if r.Failure != nil {
		return ended(e.Ref, r.Output, r.Failure)
	}
	return action.ExecResult{Ref: e.Ref, ExitCode: r.ExitCode, Output: r.Output}
}

// enter opens a command's folder when the command starts: what it was when the action came may have changed, above all
// while the action waited behind others.
func (s *session) enter(b beside) func(dir string) (*os.File, error) {
	return func(dir string) (*os.File, error) {
		return workspace.Enter(dir, append([]string{s.folder.Real}, b.real...)...)
	}
}

// inContainer runs e in the project's container. What is no plain POSIX text wants the image's bash.
func (s *session) inContainer(ctx context.Context, engine *containerctl.Engine, container containerctl.State, e action.Exec, p plan, in incoming) action.ExecResult {
	c := s.m.o.Commands
	shell := containerctl.ShellBashOrFail
	if plainPOSIX(e.Command) {
		shell = containerctl.ShellBashOrSh
	}
	s.began(in, journal.Process{Container: container.Name})
	out := exec.NewOutput(c.ResultLimit - action.NoticeRoom)
	shown := s.streamOutput(e.Ref)
	filter := s.secrets(in).Writer(io.MultiWriter(out, shown))
	r, err := engine.Exec(ctx, containerctl.ExecCommand{
		Container: container.ID, Text: e.Command, Cwd: s.inside(p.dir), Shell: shell, Umask: octal(c.Umask),
		Output: filter, Received: in.received, Deadline: in.deadline, Grace: c.Grace,
	})
	_ = filter.Close() // nothing behind it fails
	shown.close()
	if r.Note != "" {
		s.log.Info("container", "ref", e.Ref, "note", r.Note)
	}
	text, _, _, _ := out.Result()
	if err != nil {
		return ended(e.Ref, text, failure.From(err, container.Name))
	}
	return action.ExecResult{Ref: e.Ref, ExitCode: r.ExitCode, Output: text}
}

// octal is a umask as a shell takes it; "" for none.
func octal(umask *int) string {
	if umask == nil {
		return ""
	}
	return fmt.Sprintf("%04o", *umask)
}

// began notes what runs for an action, so that a later daemon can end it.
func (s *session) began(in incoming, p journal.Process) {
	if err := s.m.o.Ledger.Started(s.key(in), p); err != nil {
		s.log.Warn("what runs for an action could not be noted", "ref", in.ref, "failure", failure.From(err, "action "+in.ref))
	}
}

// ended answers a command that has no exit code: one that never ran is refused, one that did keeps its output.
func ended(ref, output string, fail *failure.Failure) action.ExecResult {
	switch fail.Name {
	case failure.TimedOut, failure.Cancelled, failure.KilledBySignal, failure.LimitExceeded, failure.ContainerGone, failure.EngineNotRunning:
		return action.ExecResult{
			Ref: ref, ExitCode: -1, TimedOut: fail.Name == failure.TimedOut, Failure: fail, Output: action.WithNotice(output, fail),
		}
	}
	return action.Refused(ref, fail)
}
