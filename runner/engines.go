package runner

import (
	"context"
	"errors"
	"sync"
	"time"

	"brabo.dev/runner/containerctl"
	"brabo.dev/runner/runner/failure"
)

// absentFor is how long a machine without an engine is not searched again for the sake of a command. A container
// action searches anew each time.
const absentFor = 10 * time.Second

// engines keeps the container engine that was found, for all sessions. It is looked for when it is needed first, and
// again after it stopped answering.
type engines struct {
	discover func(context.Context) (*containerctl.Engine, error)

	mu     sync.Mutex // guards what follows, and lets one search run at a time
	engine *containerctl.Engine
	old    []*containerctl.Engine // those that stopped answering, to be closed in the end
	absent time.Time              // of the last search that found nothing
	// used is set once a project's container was seen: from then on an engine that does not answer may hide one.
	used bool
}

// find gives the engine, or the failure that lists where it was looked for.
func (e *engines) find(ctx context.Context) (*containerctl.Engine, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.findLocked(ctx)
}

func (e *engines) findLocked(ctx context.Context) (*containerctl.Engine, error) {
	if e.engine != nil {
		return e.engine, nil
	}
	if e.discover == nil {
		return nil, failure.New(failure.EngineNotInstalled, "container engine").Because("this daemon was started without containers")
	}
	engine, err := e.discover(ctx)
	if err != nil {
		e.absent = time.Now()
		return nil, err
	}
	e.engine = engine
	return engine, nil
}

// running gives the project's running container by the engine's own word. Where there is no engine there is no
// container; where one was seen before and the engine does not answer now, that is the failure: a command that was
// meant for the container must not run on the host instead.
func (e *engines) running(ctx context.Context, projectID string) (*containerctl.Engine, containerctl.State, bool, error) {
	e.mu.Lock()
	if e.discover == nil || e.engine == nil && !e.used && time.Since(e.absent) < absentFor {
		e.mu.Unlock()
		return nil, containerctl.State{}, false, nil
	}
	engine, err := e.findLocked(ctx)
	used := e.used
	e.mu.Unlock()
	if err != nil {
		if used {
			return nil, containerctl.State{}, false, err
		}
		return nil, containerctl.State{}, false, nil
	}
	state, found, err := engine.Running(ctx, projectID)
	if err != nil {
		e.forget(engine)
		if !used {
			err = nil
		}
		return nil, containerctl.State{}, false, err
	}
	if found {
		e.mu.Lock()
		e.used = true
		e.mu.Unlock()
	}
	return engine, state, found, nil
}

// now gives the engine that is in use, or nil. It never searches.
func (e *engines) now() *containerctl.Engine {
	if !e.mu.TryLock() {
		return nil // a search is under way
	}
	defer e.mu.Unlock()
	return e.engine
}

// forget drops an engine that does not answer, so that the next need looks for it again. It stays open until the
// daemon ends: others may be using it.
func (e *engines) forget(engine *containerctl.Engine) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.engine == engine {
		e.engine = nil
		e.old = append(e.old, engine)
	}
}

// close ends what the engine still does for us. It is called once, when nobody uses the engine any more.
func (e *engines) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	for _, engine := range append(e.old, e.engine) {
		if engine != nil {
			errs = append(errs, engine.Close())
		}
	}
	return errors.Join(errs...)
}
