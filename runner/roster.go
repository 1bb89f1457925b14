package runner

import (
	"context"
	"errors"
	"sync"

	"brabo.dev/runner/runner/journal"
)

// Fixed gives one list of projects that never changes, for Run.
func Fixed(projects ...Project) <-chan []Project {
	lists := make(chan []Project, 1)
	lists <- projects
	close(lists)
	return lists
}

// roster keeps one session for each project of the list that came last.
type roster struct {
	m       *Machine
	left    map[string][]journal.Unfinished
	running sync.WaitGroup

	mu     sync.Mutex // guards what follows
	listed map[string]Project
	serves map[string]bool
	errs   []error
}

// follow serves what the lists say, until they end or ctx does, and returns when no session is left.
func (r *roster) follow(ctx context.Context, lists <-chan []Project) error {
	for lists != nil {
		select {
		case list, open := <-lists:
			if !open {
				lists = nil
				break
			}
			r.update(ctx, list)
		case <-ctx.Done():
			lists = nil
		}
	}
	r.running.Wait()
	return errors.Join(r.errs...)
}

// update starts a session for each listed project that has none. A project that is no longer listed keeps its live
// connection: a list that came back shorter may be the server's mistake (protocol.md section 5). Its session ends when
// the connection does.
func (r *roster) update(ctx context.Context, list []Project) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listed = map[string]Project{}
	for _, p := range list {
		r.listed[p.ID] = p
	}
	r.m.forget(func(id string) bool { return r.listed[id].ID == "" && !r.serves[id] })
	for _, p := range list {
		if r.serves[p.ID] {
			continue
		}
		r.serves[p.ID] = true
		left := r.left[p.ID]
		delete(r.left, p.ID)
		r.running.Go(func() { r.serve(ctx, p, left) })
	}
}

func (r *roster) serve(ctx context.Context, p Project, left []journal.Unfinished) {
	s := newSession(r.m, p, left)
	r.m.enter(s)
	err := s.run(ctx, func() bool { return r.wanted(p) })
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.serves, p.ID)
	if err == nil || r.listed[p.ID].ID == "" {
		r.m.forget(func(id string) bool { return id == p.ID })
	}
	if err != nil {
		r.errs = append(r.errs, err)
		// A list that never ends could bring a broken project again and again; what is returned are the last words.
		if len(r.errs) > maxErrors {
			r.errs = r.errs[1:]
		}
	}
}

// maxErrors is how many errors of projects Run returns at most.
const maxErrors = 100

// wanted reports whether the last list has this project, in this folder.
func (r *roster) wanted(p Project) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listed[p.ID] == p
}
