package notify

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// Look is how a daemon stands at one moment.
type Look struct {
	Status string // for a person, on one line
	// Stuck says which of its loops do not go round any more; empty: all do, or wait for something to do.
	Stuck string
}

// Phases are the moments of a daemon's life: each is closed when it comes.
type Phases struct {
	Ready, Stopping <-chan struct{}
}

const (
	// tick is how often a daemon is looked at where the watchdog needs nothing shorter.
	tick = 5 * time.Second
	// extension is what is asked for with each tick while starting and stopping: those take as long as they take.
	extension = 6 * tick
)

// Watch tells the manager when the daemon is ready and when it stops, extends the time for both for as long as they
// take, and feeds the watchdog: never while look says that something is stuck. It returns when ctx ends, which is
// when the daemon has ended.
func (m Manager) Watch(ctx context.Context, p Phases, look func() Look, log *slog.Logger) {
	if m.Socket == "" {
		return
	}
	every := tick
	if m.Watchdog > 0 {
		every = min(every, m.Watchdog/2)
	}
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	w := watcher{m: m, log: log, extending: true}
	w.tell(look())
	for {
		select {
		case <-p.Ready:
			p.Ready = nil
			w.extending = false
			w.tell(look(), "READY=1")
		case <-p.Stopping:
			p.Ready, p.Stopping = nil, nil // what stops before it was ready is not ready
			w.extending = true
			w.tell(look(), "STOPPING=1")
		case <-ticks.C:
			w.tell(look())
		case <-ctx.Done():
			return
		}
	}
}

// watcher is what Watch has told so far.
type watcher struct {
	m         Manager
	log       *slog.Logger
	extending bool
	said      string // the last status
	stuck     bool
	deaf      bool
}

// tell sends news and what the moment needs.
func (w *watcher) tell(l Look, news ...string) {
	status := l.Status
	if l.Stuck != "" {
		status = "stuck: " + l.Stuck
	}
	if status = strings.ReplaceAll(status, "\n", " "); status != w.said {
		news = append(news, "STATUS="+status)
		w.said = status
	}
	if w.extending {
		news = append(news, "EXTEND_TIMEOUT_USEC="+strconv.FormatInt(extension.Microseconds(), 10))
	}
	if w.m.Watchdog > 0 && l.Stuck == "" {
		news = append(news, "WATCHDOG=1")
	}
	if len(news) > 0 {
		w.heard(w.m.send(news...))
	}
	// What is stuck may be the log, so it comes last.
	if stuck := l.Stuck != ""; stuck != w.stuck {
		w.stuck = stuck
		if stuck {
			w.log.Error("stuck: the service manager is not told any more that the daemon lives", "what", l.Stuck)
		} else {
			w.log.Warn("not stuck any more")
		}
	}
}

// heard logs that the manager can't be told, once.
func (w *watcher) heard(err error) {
	if err != nil && !w.deaf {
		w.log.Warn("the service manager can't be told how the daemon stands", "error", err)
	}
	w.deaf = err != nil
}
