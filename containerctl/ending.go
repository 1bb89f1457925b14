package containerctl

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"brabo.dev/runner/runner/failure"
)

// endTime bounds the killing of one command. It has a time of its own, since it also follows a cancellation.
const endTime = 20 * time.Second

// lateOutput is how long output is still read after the command has been killed; then something outside our reach
// holds the pipe.
const lateOutput = 2 * time.Second

// end ends a command that still runs: TERM, the grace, KILL.
func (s *stream) end(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), endTime+grace)
	defer cancel()
	killAt := time.NewTimer(grace)
	defer killAt.Stop()
	if _, err := s.engine.runScript(ctx, s.c.Container, scriptTerm, s.mark, s.mark); err == nil {
		select {
		case <-s.done:
		case <-killAt.C:
		}
	}
}

// result waits for the end of the stream and says how the command ended. stop is why it was ended, or nil.
func (s *stream) result(ctx context.Context, stop error) (ExecResult, error) {
	defer s.conn.Close()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	var lost error
	if !s.ended() {
		lost = s.kill(ctx)
	}
	select {
	case <-s.done:
	case <-time.After(lateOutput):
		s.conn.Close()
		<-s.done
	}
	r := ExecResult{ExitCode: -1, Left: s.left + s.report.number("end", 1, 0), Note: s.note}
	switch {
	case errors.Is(stop, errDeadline):
		r.TimedOut = true
		return r, failure.New(failure.TimedOut, s.c.Container).Wrap(lost)
	case stop != nil:
		r.Cancelled = true
		return r, failure.New(failure.Cancelled, s.c.Container).Wrap(lost)
	case s.report.has("end"):
		r.ExitCode = s.report.number("end", 0, -1)
		if s.report.has("nobash") {
			r.Note = strings.TrimSpace("the image has no bash; /bin/sh ran the text. " + r.Note)
		}
		return r, nil
	}
	return r, s.fault(ctx, lost)
}

// ended reports whether the shell inside said that nothing is left of the command.
func (s *stream) ended() bool {
	select {
	case <-s.done:
		return s.report.number("end", 2, 1) == 0 || s.refusedInside()
	default:
		return false
	}
}

// refusedInside reports whether the shell inside ran nothing, for a reason of its own.
func (s *stream) refusedInside() bool {
	return s.report.has("nocwd") || s.report.has("nobash") && s.c.Shell == ShellBashOrFail
}

// fault says why a command's stream ended without the shell's last report.
func (s *stream) fault(ctx context.Context, lost error) error {
	name := s.c.Container
	switch {
	case s.report.has("nocwd"):
		return failure.New(failure.CwdMissing, s.c.Cwd).Because("there is no such folder inside the container %s", name)
	case s.refusedInside():
		return failure.New(failure.BashMissing, name).Because("the text uses Bash, and the image has none").
			Then("use an image with bash")
	}
	got, err := s.engine.api.ContainerInspect(ctx, name, client.ContainerInspectOptions{})
	if err != nil {
		return s.engine.named(ctx, err, name)
	}
	state := stateOf(got.Container)
	switch {
	case !state.Running:
		return failure.New(failure.ContainerGone, name).Because("%s, while the command ran", fate(state)).Wrap(lost)
	case state.StartedAt.After(s.began):
		return failure.New(failure.ContainerGone, name).
			Because("somebody else restarted it at %s, while the command ran", state.StartedAt.Local().Format("15:04:05")).Wrap(lost)
	case !s.report.has("begin"):
		return s.startFault()
	}
	f := failure.New(failure.KilledBySignal, name).Wrap(lost)
	if code, err := s.engine.api.ExecInspect(ctx, s.id, client.ExecInspectOptions{}); err == nil && code.ExitCode != 0 {
		f = f.Because("the shell inside ended with code %d before the command did", code.ExitCode)
	}
	return f
}

// startFault says why the shell inside never began, from the engine's words.
func (s *stream) startFault() error {
	words := s.out.words()
	name := failure.CouldNotStart
	switch text := strings.ToLower(words); {
	case strings.Contains(text, "argument list too long"):
		name = failure.CommandTooLong
	case strings.Contains(text, shell) && (strings.Contains(text, "no such file") || strings.Contains(text, "not found")):
		return failure.New(failure.ImageUnusable, s.c.Container).Because("the image has no %s to run a command with", shell)
	}
	if words == "" {
		words = "nothing"
	}
	return failure.New(name, s.c.Container).Because("the command could not be started inside; %s says: %s", s.engine.facts.Name, words).
		Then("see whether the container has room for another process and for its output, then try again")
}

// killTries is how often the killing shell is started before the container is restarted: where the pids limit is
// reached, the first may fail.
const killTries = 3

// kill ends whatever of the command still runs. The error says that it could not be made sure of.
func (s *stream) kill(ctx context.Context) error {
	e, name := s.engine, s.c.Container
	var err error
	for range killTries {
		var r *reports
		r, err = e.runScript(ctx, name, scriptEnd, s.mark, s.mark)
		switch {
		case failure.Is(err, failure.ContainerGone):
			return nil // with everything that ran in it
		case failure.Is(err, failure.EngineNotRunning):
			e.remember(name, s.mark)
			return err
		case err == nil && r.number("ended", 1, 1) == 0:
			s.left += r.number("ended", 0, 0)
			return nil
		}
	}
	// What can't be reached from inside ends with the container; a project whose processes can't be ended is of no
	// use to the commands that run beside this one either.
	none := 0
	if _, restartErr := e.api.ContainerRestart(ctx, name, client.ContainerRestartOptions{Timeout: &none}); restartErr != nil {
		e.remember(name, s.mark)
		return errors.Join(err, restartErr)
	}
	s.note = "the container was restarted, because what the command had started could not be ended otherwise"
	return nil
}

// runScript runs scriptTerm or scriptEnd for the marks from lowest to highest, as the user of the commands.
func (e *Engine) runScript(ctx context.Context, name, script string, lowest, highest mark) (*reports, error) {
	r := &reports{word: rand.Text()}
	_, conn, err := e.startExec(ctx, name, nil, shell, "-c", script, "sh", lowest.bytes(), highest.bytes(), r.word)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, conn.Close)()
	said := &gate{}
	if _, err := stdcopy.StdCopy(said, r, conn.Reader); err != nil {
		return nil, e.named(ctx, err, name)
	}
	if len(r.lines) == 0 {
		return nil, failure.New(failure.CouldNotStart, name).Because("the shell that ends commands did not run: %s", said.words())
	}
	return r, nil
}

// remember notes a command that may still run, because its engine could not be reached.
func (e *Engine) remember(name string, m mark) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unended[name] = append(e.unended[name], m)
}

// endLost ends what remember has noted, before anything else runs in the container.
func (e *Engine) endLost(ctx context.Context, name string) {
	e.mu.Lock()
	marks := e.unended[name]
	delete(e.unended, name)
	e.mu.Unlock()
	for _, m := range marks {
		if _, err := e.runScript(ctx, name, scriptEnd, m, m); err != nil && !failure.Is(err, failure.ContainerGone) {
			e.remember(name, m)
		}
	}
}

// EndCommands ends every command that Exec has started in a container, also those of a daemon that died, and says
// how many processes there were. The daemon calls it on start; a container that does not run has none.
func (e *Engine) EndCommands(ctx context.Context, name string) (ended int, err error) {
	r, err := e.runScript(ctx, name, scriptEnd, markLowest, markHighest)
	if failure.Is(err, failure.ContainerGone) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if left := r.number("ended", 1, 0); left > 0 {
		return 0, failure.New(failure.Internal, name).Because("%d processes of earlier commands could not be ended", left)
	}
	return r.number("ended", 0, 0), nil
}
