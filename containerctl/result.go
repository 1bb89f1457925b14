package containerctl

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/moby/moby/client"

	"brabo.dev/runner/runner/failure"
)

// result waits for the end of the stream and says how the command ended. stop is why it was ended, or nil.
func (s *stream) result(ctx context.Context, stop error) (ExecResult, error) {
	defer s.release()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	var gone, lost error
	if !s.ended() && !s.neverBegan(ctx) {
		if gone = s.settle(ctx); gone == nil {
			lost = s.kill(ctx)
		}
	}
	select {
	case <-s.done:
	case <-time.After(lateOutput):
		s.hangUp()
		<-s.done
	}
	r := ExecResult{ExitCode: -1, Left: s.left + s.report.number("end", 1, 0), Note: s.note}
	if s.report.has("unmarked") {
		r.Note = "the image's shell can't mark processes, so that background processes may have stayed"
	}
	if s.report.has("nobash") {
		r.Note = strings.TrimSpace("the image has no bash; /bin/sh ran the text. " + r.Note)
	}
	switch {
	case errors.Is(stop, errDeadline):
		r.TimedOut = true
		return r, failure.New(failure.TimedOut, s.c.Container).Wrap(lost)
	case stop != nil:
		r.Cancelled = true
		return r, failure.New(failure.Cancelled, s.c.Container).Wrap(lost)
	case s.report.has("nocwd"):
		return r, failure.New(failure.CwdMissing, s.c.Cwd).Because("there is no such folder inside the container %s", s.c.Container)
	case s.report.has("nosh"):
		return r, noShell(s.c.Container)
	case s.report.has("nobash") && s.c.Shell == ShellBashOrFail:
		return r, failure.New(failure.BashMissing, s.c.Container).Because("the text uses Bash, and the image has none").
			Then("use an image with bash")
	case s.report.has("end"):
		r.ExitCode = s.report.number("end", 0, -1)
		return r, nil
	}
	if gone == nil {
		gone = s.fault(ctx, lost)
	}
	return r, gone
}

// isDone reports whether the stream has been read to its end.
func (s *stream) isDone() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// ended reports whether the shell inside said that nothing is left of the command.
func (s *stream) ended() bool {
	return s.isDone() && s.report.number("end", 2, 1) == 0
}

// neverBegan reports whether the engine could not start the shell inside, so that there is nothing to end.
func (s *stream) neverBegan(ctx context.Context) bool {
	if !s.isDone() || s.report.has("begin") || s.report.has("end") {
		return false
	}
	got, err := s.engine.api.ExecInspect(ctx, s.id, client.ExecInspectOptions{})
	return err == nil && !got.Running
}

// settle looks a few times whether the container is gone, when a command's stream has broken off: its processes end
// before the engine has noticed, and Podman 4 can't finish a restart into which another command is started.
func (s *stream) settle(ctx context.Context) error {
	if !s.isDone() {
		return nil
	}
	for range 3 {
		if err := s.containerGone(ctx); err != nil {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return s.containerGone(ctx)
}

// containerGone says what has become of the container since the command began, nil where it still runs.
func (s *stream) containerGone(ctx context.Context) error {
	name := s.c.Container
	got, err := s.engine.api.ContainerInspect(ctx, name, client.ContainerInspectOptions{})
	if err != nil {
		err = s.engine.named(ctx, err, name)
		if failure.Is(err, failure.EngineNotRunning) {
			s.engine.remember(name, s.mark)
		}
		return err
	}
	state := stateOf(got.Container)
	switch {
	case !state.Running:
		return failure.New(failure.ContainerGone, name).Because("%s, while the command ran", fate(state))
	case state.StartedAt.After(s.began):
		return failure.New(failure.ContainerGone, name).
			Because("somebody else restarted it at %s, while the command ran", state.StartedAt.Local().Format("15:04:05"))
	}
	return nil
}

// fault says why a command's stream ended without the shell's last report.
func (s *stream) fault(ctx context.Context, lost error) error {
	if err := s.containerGone(ctx); err != nil {
		return err
	}
	if !s.report.has("begin") {
		return s.startFault(ctx)
	}
	f := failure.New(failure.KilledBySignal, s.c.Container).Wrap(lost)
	if code, err := s.engine.api.ExecInspect(ctx, s.id, client.ExecInspectOptions{}); err == nil && code.ExitCode != 0 {
		f = f.Because("the shell inside ended with code %d before the command did", code.ExitCode)
	}
	return f
}

// startFault says why the shell inside never began, from the engine's words.
func (s *stream) startFault(ctx context.Context) error {
	words := s.report.said()
	name := failure.CouldNotStart
	// Podman keeps its words to itself, but both engines use a shell's code for a program that is not there.
	exit, err := s.engine.api.ExecInspect(ctx, s.id, client.ExecInspectOptions{})
	missing := err == nil && exit.ExitCode == 127
	switch text := strings.ToLower(words); {
	case strings.Contains(text, "argument list too long"):
		name = failure.CommandTooLong
	case missing, strings.Contains(text, shell) && (strings.Contains(text, "no such file") || strings.Contains(text, "not found")):
		return noShell(s.c.Container)
	}
	if words == "" {
		words = "nothing"
	}
	return failure.New(name, s.c.Container).Because("the command could not be started inside; %s says: %s", s.engine.facts.Name, words).
		Then("see whether the container has room for another process and for its output, then try again")
}

func noShell(container string) error {
	return failure.New(failure.ImageUnusable, container).Because("there is no %s inside to run a command with", shell)
}
