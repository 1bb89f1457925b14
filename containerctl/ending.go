package containerctl

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
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

// killTries is how often the killing shell is started before the container is restarted: where the pids limit is
// reached, the first may fail.
const killTries = 3

// kill ends whatever of the command still runs. The error says that it could not be made sure of.
func (s *stream) kill(ctx context.Context) error {
	e, name := s.engine, s.c.Container
	var err error
	tries := killTries
	if s.report.has("unmarked") {
		tries = 0 // there is nothing by which to find it
	}
	for range tries {
		var r *scanner
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
func (e *Engine) runScript(ctx context.Context, name, script string, lowest, highest mark) (*scanner, error) {
	word := rand.Text()
	r := newScanner(word, nil)
	_, conn, err := e.startExec(ctx, name, client.ExecCreateOptions{
		Cmd: []string{shell, "-c", script, "sh", lowest.bytes(), highest.bytes(), word},
	})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, conn.Close)()
	if _, err := stdcopy.StdCopy(r, io.Discard, conn.Reader); err != nil {
		return nil, e.named(ctx, err, name)
	}
	if r.flush(); !r.has("term") && !r.has("ended") {
		return nil, failure.New(failure.CouldNotStart, name).Because("the shell that ends commands did not run: %s", r.said())
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
