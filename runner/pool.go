package runner

import (
	"context"
	"slices"
	"sync"
	"time"

	"brabo.dev/runner/runner/failure"
)

// job is one action on its way through a pool. Exactly one of run and refuse is called, once.
type job struct {
	pool    *pool
	project string
	key     jobKey
	// startBy is the latest moment at which it makes sense to start; zero means any.
	startBy time.Time
	run     func(ctx context.Context)
	refuse  func(*failure.Failure)

	// held answers a job with a failure while it waits for the person at this machine; false where it does not wait for
	// one any more. Nil: it never did.
	held func(*failure.Failure) bool

	waited bool // it could not start at once; set before it starts

	began time.Time // of run; guarded by the session's mutex

	ctx    context.Context // of run
	cancel context.CancelFunc
	expiry *time.Timer // guarded by the pool's mutex
}

// job makes a job of the pool's, to be given its run and refuse and then to submit. Its context is derived from ctx,
// which has to outlive the connection: a command does not end because its connection did.
func (p *pool) job(ctx context.Context, project string, key jobKey, startBy time.Time) *job {
	j := &job{pool: p, project: project, key: key, startBy: startBy}
	j.ctx, j.cancel = context.WithCancel(ctx)
	return j
}

// pool runs the jobs of all projects of one daemon: at most parallel at once, first come first started within a
// project, round robin over projects. It owns a goroutine for each running job; wait returns when all have ended.
type pool struct {
	parallel int // settings.md: commands.parallel
	queue    int // settings.md: commands.queue, waiting jobs a project
	// oneEach lets one job of a project run at a time, so that its jobs happen in the order of their arrival.
	oneEach bool

	mu      sync.Mutex // guards what follows
	running int
	busy    map[string]int // running jobs by project
	waiting map[string][]*job
	turn    []string // projects with waiting jobs, the next to be served first
	jobs    sync.WaitGroup
}

func newPool(parallel, queue int) *pool {
	return &pool{parallel: parallel, queue: queue, busy: map[string]int{}, waiting: map[string][]*job{}}
}

// submit queues j and starts it as soon as there is room. A full queue refuses it with QueueFull.
func (p *pool) submit(j *job) {
	p.mu.Lock()
	if !p.roomLocked(j.project) && len(p.waiting[j.project]) >= p.queue {
		p.mu.Unlock()
		j.cancel()
		j.refuse(failure.New(failure.QueueFull, "project "+j.project))
		return
	}
	if len(p.waiting[j.project]) == 0 {
		p.turn = append(p.turn, j.project)
	}
	p.waiting[j.project] = append(p.waiting[j.project], j)
	p.jobs.Add(1)
	p.startLocked()
	waits := slices.Contains(p.waiting[j.project], j)
	if waits { // what started already is another goroutine's
		j.waited = true
	}
	// Only what is still waiting needs to be told when its time has passed.
	if waits && !j.startBy.IsZero() {
		j.expiry = time.AfterFunc(time.Until(j.startBy), func() {
			p.withdraw(j, failure.New(failure.ExpiredBeforeStart, "action "+j.key.ref))
		})
	}
	p.mu.Unlock()
}

// roomLocked reports whether a job of the project could start now.
func (p *pool) roomLocked(project string) bool {
	return p.running < p.parallel && (!p.oneEach || p.busy[project] == 0)
}

// startLocked starts waiting jobs while there is room.
func (p *pool) startLocked() {
	for {
		i := slices.IndexFunc(p.turn, p.roomLocked)
		if i < 0 {
			return
		}
		project := p.turn[i]
		j := p.waiting[project][0]
		p.removeLocked(j)
		if len(p.waiting[project]) > 0 {
			p.turn = append(slices.Delete(p.turn, i, i+1), project)
		}
		p.running++
		p.busy[project]++
		go p.work(j)
	}
}

func (p *pool) work(j *job) {
	defer p.jobs.Done()
	defer j.cancel()
	if late(j.startBy, time.Now()) {
		j.refuse(failure.New(failure.ExpiredBeforeStart, "action "+j.key.ref))
	} else {
		j.run(j.ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
	if p.busy[j.project]--; p.busy[j.project] == 0 {
		delete(p.busy, j.project)
	}
	p.startLocked()
}

// removeLocked takes j out of its queue and stops its expiry; false when it was not waiting.
func (p *pool) removeLocked(j *job) bool {
	queue := p.waiting[j.project]
	i := slices.Index(queue, j)
	if i < 0 {
		return false
	}
	if j.expiry != nil {
		j.expiry.Stop()
	}
	if len(queue) > 1 {
		p.waiting[j.project] = slices.Delete(queue, i, i+1)
		return true
	}
	delete(p.waiting, j.project)
	at := slices.Index(p.turn, j.project)
	p.turn = slices.Delete(p.turn, at, at+1)
	return true
}

// withdraw refuses j with fail if it is still waiting, and reports whether it was.
func (p *pool) withdraw(j *job, fail *failure.Failure) bool {
	p.mu.Lock()
	waiting := p.removeLocked(j)
	p.mu.Unlock()
	if !waiting {
		return false
	}
	j.cancel()
	j.refuse(fail)
	p.jobs.Done()
	return true
}

// expire refuses every waiting job that can't start in time any more. The timers of the jobs do the same, but stand
// still while the machine sleeps.
func (p *pool) expire(now time.Time) {
	p.mu.Lock()
	var expired []*job
	for _, queue := range p.waiting {
		for _, j := range queue {
			if late(j.startBy, now) {
				expired = append(expired, j)
			}
		}
	}
	p.mu.Unlock()
	for _, j := range expired {
		p.withdraw(j, failure.New(failure.ExpiredBeforeStart, "action "+j.key.ref))
	}
}

// end ends j with fail as the reason: a waiting one never starts, a running one is cancelled and answers itself.
func (j *job) end(fail *failure.Failure) {
	if j.held != nil && j.held(fail) {
		return
	}
	if !j.pool.withdraw(j, fail) {
		j.cancel()
	}
}

// wait returns when every submitted job has ended.
func (p *pool) wait() { p.jobs.Wait() }
