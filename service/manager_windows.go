package service

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/kardianos/service"
)

// scm is Windows' service control manager.
type scm struct{ host Host }

func newManager(h Host, _ []string) manager { return scm{h} }

// handle gives the library's view of the service; d may hold the id alone where nothing is registered.
func (m scm) handle(d Definition) (service.Service, error) {
	env := maps.Clone(d.Environment)
	if env == nil {
		env = map[string]string{}
	}
	// A Windows service begins in a system folder; this variable tells ours where it is at home.
	env["INIT_CWD"] = d.Folder
	s, err := service.New(nil, &service.Config{
		Name: m.host.Name(d.ID), DisplayName: display(d.ID), Description: describe(d.ID),
		Executable: d.Program, Arguments: d.Arguments, UserName: account(d.User), EnvVars: env,
		Option: service.KeyValue{
			"DelayedAutoStart":             true,
			"Password":                     d.Password,
			service.OnFailure:              service.OnFailureRestart,
			service.OnFailureDelayDuration: recoveryDelay.String(),
			service.OnFailureResetPeriod:   int(recoveryReset.Seconds()),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("finding the service manager: %w", err)
	}
	return s, nil
}

// call does one step with the service called id.
func (m scm) call(d Definition, step func(service.Service) error) error {
	s, err := m.handle(d)
	if err != nil {
		return silent(err, "")
	}
	if err := step(s); err != nil {
		return notActivated(m.host.Name(d.ID), err, "run the command again as an administrator")
	}
	return nil
}

func (m scm) reach(context.Context, ID) error { return nil } // it is part of the system

func (m scm) activate(_ context.Context, d Definition, start bool) error {
	return m.call(d, func(s service.Service) error {
		state, err := s.Status()
		if err == nil {
			if state == service.StatusRunning {
				if err := s.Stop(); err != nil {
					return err
				}
			}
			if err := s.Uninstall(); err != nil {
				return err
			}
		}
		if err := errors.Join(s.Install(), writeRecord(m.host.Name(d.ID), d)); err != nil {
			return err
		}
		if start || state == service.StatusRunning {
			return s.Start()
		}
		return nil
	})
}

func (m scm) deactivate(_ context.Context, d Definition) error {
	return m.call(d, func(s service.Service) error {
		if state, err := s.Status(); err == nil && state == service.StatusRunning {
			if err := s.Stop(); err != nil {
				return err
			}
		}
		return s.Uninstall()
	})
}

func (m scm) forget(context.Context, ID) error { return nil }

func (m scm) start(_ context.Context, id ID) error {
	return m.call(Definition{ID: id}, func(s service.Service) error { return s.Start() })
}

func (m scm) stop(_ context.Context, id ID) error {
	return m.call(Definition{ID: id}, func(s service.Service) error { return s.Stop() })
}

func (m scm) restart(_ context.Context, id ID) error {
	return m.call(Definition{ID: id}, func(s service.Service) error { return s.Restart() })
}

func (m scm) status(_ context.Context, id ID) (Status, error) {
	s, err := m.handle(Definition{ID: id})
	if err != nil {
		return Status{}, silent(err, "")
	}
	state, err := s.Status()
	switch {
	case errors.Is(err, service.ErrNotInstalled):
		return Status{State: NotInstalled}, nil
	case err != nil:
		return Status{}, silent(err, "")
	case state == service.StatusRunning:
		return Status{State: Running, Enabled: true}, nil
	}
	return Status{State: Stopped, Enabled: true}, nil
}

func systemdVersion(context.Context, []string) int { return 0 }

// Lingers is true of everybody: services of Windows live without a session.
func Lingers(string) bool { return true }

// Linger has nothing to do: services of Windows live without a session.
func Linger(context.Context, []string, string) error { return nil }
