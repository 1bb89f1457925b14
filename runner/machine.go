// Package runner is the daemon: a Machine keeps one Session a project; a Session joins the project's channel,
// dispatches the actions that arrive, and reports their results.
//
// A Session reads its channel in arrival order and never waits for work: commands go to the Machine's pool, which
// bounds how many run at once. What was received and what has to be delivered is kept by a Ledger, so that a result
// whose connection fell is delivered after the next join, and an action that is sent twice runs once. Machine.Run
// owns every goroutine and returns when all have ended.
package runner

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/machinepolicy"
	"brabo.dev/runner/runner/policy"
	"brabo.dev/runner/runner/redact"
	"brabo.dev/runner/workspace"
	"brabo.dev/runner/workspace/git"
)

// Project is one project that this machine serves.
type Project struct {
	ID   string
	Root string // absolute folder, as the person wrote it; this string is confirmed to the server
}

// Address is where a project's channel is reached, for one attempt: a URL with a single-use ticket in it.
type Address string

// LogValue keeps the ticket out of every log.
func (Address) LogValue() slog.Value { return slog.StringValue("(address with ticket)") }

// Commands is how commands are run; the names are those of settings.md.
type Commands struct {
	Shell            exec.Shell
	Deadline         time.Duration // where the server sends none
	GitDeadline      time.Duration // for git work of a server that sends none
	Grace            time.Duration
	Parallel         int
	Queue            int
	Umask            *int
	Environment      map[string]string
	BareRepositories bool
	Limits           exec.Limits
	Cgroup           *exec.Cgroup // where the kernel keeps what Limits give a command as a whole; nil: exec counts
	Helper           []string     // the words that start this program so that it calls exec.Become
	ResultLimit      int          // bytes in a result
	SpoolDir         string       // where full outputs are kept; empty: nowhere
	SpoolLimit       int64
	SpoolTotal       int64    // bytes of all full outputs together; the oldest go first
	Inherited        []string // the daemon's own environment
}

// Options is what a Machine needs. All fields but Dropped are required unless they say otherwise.
type Options struct {
	// Server names where actions come from, for the ledger: results of one server never reach another.
	Server string
	// Address asks for a fresh address; it is called once before each attempt.
	Address func(ctx context.Context, projectID string) (Address, error)
	Dialer  *channel.Dialer
	Ledger  Ledger
	Folder  workspace.Options
	// Browse is what a folder picker may see.
	Browse workspace.Browse
	// Extensions are declared at the join; nil means all that this version knows.
	Extensions []action.Extension
	Commands   Commands
	Containers Containers // the zero value knows none
	Terminals  Terminals  // the zero value opens none
	Workspaces Workspaces // the zero value makes none
	// Git runs git for typed actions, clones and mirrors; nil: there is none. Its Env is made for each action.
	Git *git.Git
	// Lock is what policy.json says now about a project; its failure refuses every action. Nil: there is no such file.
	Lock func(projectID string) (machinepolicy.Lock, error)
	// AlsoInside are the absolute folders that this machine names for a project beside its root: they count as the root
	// does (settings.md, also_inside). Nil: there are none.
	AlsoInside func(p Project) []string
	// Protected is what belongs to this daemon, which no action may steer; the zero value protects nothing.
	Protected policy.Protected
	// Managed is the policy.json of the whole machine, which no command may name, though a confined one may see it, as all of
	// the system's files; empty: there is none.
	Managed string
	// ConfirmDeadline is how long a held action waits for the person at this machine (confirm.deadline).
	ConfirmDeadline time.Duration
	// Attempts bounds the attempts to connect in a minute, all projects together (connect.attempts); zero: no bound.
	Attempts   int
	BackoffMax time.Duration
	StableAfter,
	DrainGrace time.Duration
	// Refresh is called after a sleep of the machine and after a change of its network: what was kept open to ask for
	// addresses leads nowhere any more. It may be nil.
	Refresh func()
	// LeaveOnRefusal ends a session that was refused for a reason that needs a person before it ever joined. It is
	// for a person in the foreground; a service goes on slowly.
	LeaveOnRefusal bool
	// Secrets are taken out of all that leaves this daemon about an action; nil: there are none but those that an action's
	// env carries.
	Secrets *redact.Known
	Log     *slog.Logger
}

// containerParallel is how many projects' container actions run at once.
const containerParallel = 16

// Machine serves projects until its context ends.
type Machine struct {
	o Options
	// commands bounds what runs on the processors; containers has places of its own, since a pull takes none of
	// those (settings.md: commands.parallel), and keeps the order of a project's container actions.
	commands, containers *pool
	browses, mirrors     *pool
	creates              *pool
	making               keyLock // workspace_create, by folder
	engines              *engines
	plainEnv             func() ([]string, error) // of what comes without an environment of its own
	held                 *confirmations
	suspends, networks   broadcast
	attempts             *rate.Limiter
	counts               counts
	stopping             atomic.Bool
	began                time.Time // what its clock counts from
	ready                chan struct{}

	trimming sync.Mutex // one look at the full outputs at a time
	spooling growing

	mu       sync.Mutex // guards what follows
	ended    Ended
	unlisted *failure.Failure    // why the list of projects can't be had
	sessions map[string]*session // by project; those that ended with an error stay, for Status
}

// New makes a Machine. It starts nothing.
func New(o Options) *Machine {
	if o.Extensions == nil {
		o.Extensions = action.Known()
	}
	o.Terminals = o.Terminals.working(o.Log)
	m := &Machine{
		o: o, began: time.Now(), ready: make(chan struct{}), sessions: map[string]*session{}, engines: &engines{discover: o.Containers.Discover},
		commands: newPool(o.Commands.Parallel, o.Commands.Queue), containers: newPool(containerParallel, o.Commands.Queue),
		browses: newPool(browseParallel, browseQueue), mirrors: newPool(mirrorParallel, mirrorQueue),
		creates: newPool(createParallel, createQueue),
	}
	m.plainEnv = sync.OnceValues(func() ([]string, error) {
		env, err := exec.Environment(o.Commands.Inherited, o.Commands.Environment, nil)
		return slices.Clip(env), err // who adds to it has a copy
	})
	m.held = &confirmations{limit: o.Commands.Queue, all: map[string]*held{}}
	m.containers.oneEach, m.mirrors.oneEach, m.creates.oneEach = true, true, true
	m.attempts = rate.NewLimiter(rate.Inf, 0)
	if o.Attempts > 0 {
		// A quarter of a minute's attempts may come at once: a daemon with a few projects starts without waiting.
		m.attempts = rate.NewLimiter(rate.Limit(float64(o.Attempts)/60), max(1, o.Attempts/4))
	}
	return m
}

// Run serves the projects of the list that came last, each list in place of the one before, until ctx ends or, after
// the last list, no session is left. When ctx ends it drains: takes no new actions, lets running ones finish within
// the grace, ends the rest, delivers what there is to deliver, and leaves. A project that can't be served disturbs no
// other; Run's error names each. It is nil after an orderly end. Run is called once.
func (m *Machine) Run(ctx context.Context, lists <-chan []Project) error {
	m.trimSpool() // the bound may be a lower one than that of the daemon before
	left, err := m.recover(ctx)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { m.stopping.Store(true) })()
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	var watch sync.WaitGroup
	watch.Go(func() { m.watchSuspends(watching) })
	watch.Go(func() { m.watchNetwork(watching) })
	close(m.ready)
	r := roster{m: m, left: left, listed: map[string]Project{}, serves: map[string]bool{}}
	err = r.follow(ctx, lists)
	stop()
	watch.Wait()
	m.commands.wait()
	m.containers.wait()
	m.browses.wait()
	m.mirrors.wait()
	m.creates.wait()
	return errors.Join(err, m.engines.close())
}

// Ready is closed once what an earlier daemon left behind is dealt with and projects are served.
func (m *Machine) Ready() <-chan struct{} { return m.ready }

// wakeUp reaches the sessions that are connected; suspends and networks those that are not.
func (m *Machine) wakeUp() {
	if m.o.Refresh != nil {
		m.o.Refresh()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.sessions {
		s.wakeUp()
	}
}

// watchSuspends refuses what a sleep has made too late and wakes the sessions.
func (m *Machine) watchSuspends(ctx context.Context) {
	tick := time.NewTicker(suspendTick)
	defer tick.Stop()
	watchSuspends(ctx, tick.C, readClocks(), func(d time.Duration) {
		m.o.Log.Info("the machine has slept", "for", d.Round(time.Second))
		m.commands.expire(time.Now())
		m.containers.expire(time.Now())
		m.held.expire(time.Now())
		m.creates.expire(time.Now())
		m.wakeUp()
		m.suspends.tell()
	})
}

// watchNetwork has connections tested that may have lost their way, and a new way tried at once.
func (m *Machine) watchNetwork(ctx context.Context) {
	tick := time.NewTicker(networkTick)
	defer tick.Stop()
	watchNetwork(ctx, tick.C, readAddresses, m.networkChanged)
}

func (m *Machine) networkChanged(gained bool) {
	m.o.Log.Info("the addresses of this machine have changed", "gained", gained)
	m.wakeUp()
	if gained {
		m.networks.tell()
	}
}
