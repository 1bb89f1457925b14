package runner

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// trace collects what a pool did, in order.
type trace struct {
	mu    sync.Mutex
	steps []string
	fails []*failure.Failure
}

func (tr *trace) add(step string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.steps = append(tr.steps, step)
}

func (tr *trace) job(p *pool, project, ref string, until <-chan struct{}) *job {
	j := p.job(context.Background(), project, jobKey{ref: ref}, time.Time{})
	j.run = func(ctx context.Context) {
		tr.add(ref)
		select {
		case <-until:
		case <-ctx.Done():
			tr.add(ref + " cancelled")
		}
	}
	j.refuse = func(f *failure.Failure) {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		tr.fails = append(tr.fails, f)
	}
	return j
}

func TestPoolServesProjectsInTurn(t *testing.T) {
	p, tr := newPool(1, 100), &trace{}
	hold, free := make(chan struct{}), make(chan struct{})
	close(free)
	p.submit(tr.job(p, "a", "first", hold))
	for i := range 3 {
		p.submit(tr.job(p, "a", fmt.Sprintf("a%d", i), free))
	}
	for i := range 2 {
		p.submit(tr.job(p, "b", fmt.Sprintf("b%d", i), free))
	}
	close(hold)
	p.wait()
	if diff := cmp.Diff([]string{"first", "a0", "b0", "a1", "b1", "a2"}, tr.steps); diff != "" {
		t.Error(diff)
	}
}

func TestPoolNeverRunsMoreThanItMay(t *testing.T) {
	p := newPool(3, 1000)
	var mu sync.Mutex
	running, most := 0, 0
	for i := range 200 {
		j := p.job(context.Background(), fmt.Sprint(i%7), jobKey{ref: fmt.Sprint(i)}, time.Time{})
		j.run = func(context.Context) {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			mu.Lock()
			running--
			mu.Unlock()
		}
		j.refuse = func(f *failure.Failure) { t.Error(f) }
		p.submit(j)
	}
	p.wait()
	if most > 3 || p.running != 0 || len(p.waiting) != 0 || len(p.turn) != 0 {
		t.Errorf("%d at once; left: %d running, %v, %v", most, p.running, p.waiting, p.turn)
	}
}

func TestOneEachKeepsTheOrderOfAProjectWithoutHoldingUpOthers(t *testing.T) {
	p, tr := newPool(4, 100), &trace{}
	p.oneEach = true
	hold, free := make(chan struct{}), make(chan struct{})
	close(free)
	other := make(chan struct{})
	p.submit(tr.job(p, "a", "a0", hold))
	p.submit(tr.job(p, "a", "a1", free))
	p.submit(tr.job(p, "a", "a2", free))
	b := p.job(context.Background(), "b", jobKey{ref: "b"}, time.Time{})
	b.run = func(context.Context) { close(other) }
	p.submit(b)
	<-other // while a0 still runs
	close(hold)
	p.wait()
	if diff := cmp.Diff([]string{"a0", "a1", "a2"}, tr.steps); diff != "" {
		t.Error(diff)
	}
}

func TestFullQueueRefusesByName(t *testing.T) {
	p, tr := newPool(1, 2), &trace{}
	hold := make(chan struct{})
	for i := range 4 {
		p.submit(tr.job(p, "a", fmt.Sprint(i), hold))
	}
	p.submit(tr.job(p, "b", "other", hold))
	close(hold)
	p.wait()
	if len(tr.fails) != 1 || len(tr.steps) != 4 {
		t.Fatalf("%v, %v", tr.fails, tr.steps)
	}
	failuretest.Produced(t, tr.fails[0], failure.QueueFull)
}

func TestJobThatCannotStartInTimeNeverStarts(t *testing.T) {
	p, tr := newPool(1, 100), &trace{}
	hold := make(chan struct{})
	p.submit(tr.job(p, "a", "first", hold))
	late := tr.job(p, "a", "late", hold)
	late.startBy = time.Now().Add(time.Millisecond)
	refused := make(chan *failure.Failure, 1)
	late.refuse = func(f *failure.Failure) { refused <- f }
	p.submit(late)
	failuretest.Produced(t, <-refused, failure.ExpiredBeforeStart)
	close(hold)
	p.wait()
	if diff := cmp.Diff([]string{"first"}, tr.steps); diff != "" {
		t.Error(diff)
	}
}

func TestEndedJobsAnswerOnce(t *testing.T) {
	p, tr := newPool(1, 100), &trace{}
	hold := make(chan struct{})
	running, waiting := tr.job(p, "a", "running", hold), tr.job(p, "a", "waiting", hold)
	p.submit(running)
	p.submit(waiting)
	why := failure.New(failure.Cancelled, "action")
	waiting.end(why)
	waiting.end(why)
	running.end(why)
	p.wait()
	running.end(why)
	if len(tr.fails) != 1 || tr.fails[0] != why {
		t.Errorf("%v", tr.fails)
	}
	for _, step := range tr.steps {
		if step == "waiting" {
			t.Error("a withdrawn job ran")
		}
	}
	if p.running != 0 {
		t.Errorf("%d still count as running", p.running)
	}
}
