package service

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"

	"github.com/google/renameio/v2/maybe"

	"brabo.dev/runner/runner/failure"
)

// Manager installs, starts and asks about the services of one user or of the system.
type Manager struct {
	Host
	manager manager
}

// ThisHost is this machine, for the user whose home and settings folders are given, without a look at its manager.
func ThisHost(home, configHome string) Host {
	return Host{System: runtime.GOOS, Home: home, ConfigHome: configHome, UID: os.Getuid()}
}

// Here is the manager of this machine, for the user whose home and settings folders are given. environ is the
// environment that the system's own programs are called with.
func Here(ctx context.Context, home, configHome string, environ []string) Manager {
	h := ThisHost(home, configHome)
	h.Manager = systemdVersion(ctx, environ)
	return Manager{h, newManager(h, environ)}
}

// Install writes the unit of d, replacing an earlier one of ours, and starts it. It fails with ServiceForeignUnit or
// ServiceNotWritten where no unit was written, and with ServiceNotActivated or ServiceManagerSilent where it was.
func (m Manager) Install(ctx context.Context, d Definition) error { return m.put(ctx, d, true) }

// Update replaces the unit of an installed service; it starts anew where it runs, and stays stopped where it does not.
func (m Manager) Update(ctx context.Context, d Definition) error { return m.put(ctx, d, false) }

func (m Manager) put(ctx context.Context, d Definition, start bool) error {
	text, err := m.Unit(d)
	if err != nil {
		return err
	}
	if path := m.Path(d.ID); path != "" {
		if err := m.write(path, text, d.System); err != nil {
			return err
		}
	}
	return m.manager.activate(ctx, d, start)
}

// write puts a unit into place, whole or not at all.
func (m Manager) write(path, text string, system bool) error {
	if _, err := os.Stat(path); err == nil {
		if _, err := m.readUnit(read(path)); err != nil {
			return failure.New(failure.ServiceForeignUnit, path).Wrap(err)
		}
	}
	// The system's manager complains of units that not everybody may read; the user's is nobody else's business.
	folderMode, mode := fs.FileMode(0o700), fs.FileMode(0o600)
	if system {
		folderMode, mode = 0o755, 0o644
	}
	err := os.MkdirAll(filepath.Dir(path), folderMode)
	if err == nil {
		err = maybe.WriteFile(path, []byte(text), mode)
	}
	if err != nil {
		return failure.New(failure.ServiceNotWritten, path).Because("the unit could not be written: %v", err).Wrap(err)
	}
	return nil
}

// Uninstall stops the service and removes its unit; keys, settings and state stay. It fails with ServiceNotInstalled
// where there is none, and with ServiceManagerSilent where the unit is gone and what it started may still run.
func (m Manager) Uninstall(ctx context.Context, id ID) error {
	d, err := m.Find(id)
	if err != nil {
		return err
	}
	stopped := m.manager.deactivate(ctx, d)
	if stopped != nil && !failure.Is(stopped, failure.ServiceManagerSilent) {
		return stopped
	}
	if path := m.Path(id); path != "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failure.New(failure.ServiceNotWritten, path).Because("the unit can't be removed: %v", err).Wrap(err)
		}
	}
	if stopped != nil {
		return stopped
	}
	return m.manager.forget(ctx, id)
}

// Find reads the definition of an installed service. It fails with ServiceNotInstalled, or with ServiceForeignUnit for
// a unit of that name that is not ours.
func (m Manager) Find(id ID) (Definition, error) {
	for _, d := range m.Installed(id.System) {
		if d.ID == id {
			return d, nil
		}
	}
	if path := m.Path(id); path != "" {
		if _, err := os.Lstat(path); err == nil {
			return Definition{}, failure.New(failure.ServiceForeignUnit, path)
		}
	}
	return Definition{}, failure.New(failure.ServiceNotInstalled, m.Name(id))
}

// Answers fails, with ServiceManagerSilent, where the manager of id's level can't be asked for anything.
func (m Manager) Answers(ctx context.Context, id ID) error { return m.manager.reach(ctx, id) }

// Holds reports whether the installed unit is, to the letter, the one that Install would write for d.
func (m Manager) Holds(d Definition) bool {
	path := m.Path(d.ID)
	if path == "" {
		there, err := m.Find(d.ID)
		d.Password = ""
		return err == nil && reflect.DeepEqual(there, d)
	}
	text, err := m.Unit(d)
	return err == nil && string(read(path)) == text
}

// Start starts an installed service; one that runs goes on.
func (m Manager) Start(ctx context.Context, id ID) error { return m.step(ctx, id, m.manager.start) }

// Stop stops an installed service until the next login or boot.
func (m Manager) Stop(ctx context.Context, id ID) error { return m.step(ctx, id, m.manager.stop) }

// Restart starts an installed service anew.
func (m Manager) Restart(ctx context.Context, id ID) error { return m.step(ctx, id, m.manager.restart) }

func (m Manager) step(ctx context.Context, id ID, do func(context.Context, ID) error) error {
	if _, err := m.Find(id); err != nil {
		return err
	}
	return do(ctx, id)
}

// Status asks the disk whether the service is installed and the manager whether it runs. The four states never
// collapse: where the manager is silent, that is the state, with its failure.
func (m Manager) Status(ctx context.Context, id ID) (Status, error) {
	if _, err := m.Find(id); err != nil {
		return Status{State: NotInstalled}, err
	}
	st, err := m.manager.status(ctx, id)
	if err != nil {
		return Status{State: Unanswered}, err
	}
	return st, nil
}
