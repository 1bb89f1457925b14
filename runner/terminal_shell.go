package runner

import (
	"context"

	"brabo.dev/runner/containerctl"
	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/action"
)

// openShell opens a terminal's shell where the project's commands run now. place says where that is, for the log.
func (s *session) openShell(ctx context.Context, open action.PtyOpen) (shell terminalShell, place string, err error) {
	engine, container, found, err := s.m.engines.running(ctx, s.project.ID)
	if err != nil {
		return nil, "", err
	}
	c := s.m.o.Commands
	if found {
		t, err := engine.OpenTerminal(ctx, containerctl.TerminalOptions{
			Container: container.ID, Umask: octal(c.Umask), Grace: c.Grace,
			Cols: min(open.Cols, exec.MaxTerminalSize), Rows: min(open.Rows, exec.MaxTerminalSize),
		})
		if err != nil {
			return nil, "", err
		}
		return containerShell{t}, container.Name, nil
	}
	path, err := exec.LoginShell(c.Inherited)
	if err != nil {
		return nil, "", err
	}
	env, err := exec.TerminalEnvironment(c.Inherited, c.Environment, path)
	if err != nil {
		return nil, "", err
	}
	lock, fail := s.lock()
	if fail != nil {
		return nil, "", fail
	}
	t, err := exec.OpenTerminal(ctx, exec.TerminalOptions{
		Shell: path, Dir: s.folder.Path, Env: env, Bounds: s.bounds(lock.Confine(), s.besides(lock)),
		Cols: open.Cols, Rows: open.Rows, Umask: c.Umask, Grace: c.Grace,
	})
	if err != nil {
		return nil, "", err
	}
	return hostShell{t}, "host", nil
}

// containerShell is a terminal of the project's container.
type containerShell struct{ *containerctl.Terminal }

func (c containerShell) Resize(cols, rows int) error {
	return c.Terminal.Resize(min(cols, exec.MaxTerminalSize), min(rows, exec.MaxTerminalSize))
}

func (c containerShell) Wait() shellExit {
	e := c.Terminal.Wait()
	return shellExit{code: e.ExitCode, note: e.Note}
}

// hostShell is a terminal of this machine.
type hostShell struct{ *exec.Terminal }

func (h hostShell) Wait() shellExit {
	e := h.Terminal.Wait()
	exit := shellExit{code: e.ExitCode, signal: e.Signal}
	if e.Survivors > 0 {
		exit.note = "some processes could not be ended"
	}
	return exit
}
