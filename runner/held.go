package runner

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
)

// held is an action about which the person at this machine decides.
type held struct {
	id      string
	s       *session
	ref     string
	said    control.Held // as the person sees it
	until   time.Time
	answer  control.HeldAnswer // of a pass
	timer   *time.Timer
	content [sha256.Size]byte // of a pass: what the same action has in common with it
	// job is what waits to run. Nil for a pass: the server has its answer already, since its own clock is shorter, and
	// the person decides about the next action of the same content.
	job *job
	// again judges the action anew before it runs: the files that decide may have changed meanwhile.
	again func() (plan, *failure.Failure)
}

// confirmations are the held actions of all projects. Each has a timer, and no goroutine.
type confirmations struct {
	limit int // of one project

	mu  sync.Mutex // guards what follows
	all map[string]*held
}

// add keeps h and has it ended at its time; false where the project has too many.
func (c *confirmations) add(h *held) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, other := range c.all {
		if other.s == h.s {
			n++
		}
	}
	if n >= c.limit {
		return false
	}
	for h.id == "" || c.all[h.id] != nil {
		h.id = strings.ToLower(rand.Text()[:8])
	}
	h.said.ID, h.said.Until = h.id, h.until
	h.timer = time.AfterFunc(time.Until(h.until), func() { c.end(h, failure.New(failure.ConfirmationExpired, "action "+h.ref)) })
	c.all[h.id] = h
	return true
}

// take removes h; false where somebody else did.
func (c *confirmations) take(h *held) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.takeLocked(h)
}

func (c *confirmations) takeLocked(h *held) bool {
	if c.all[h.id] != h {
		return false
	}
	delete(c.all, h.id)
	h.timer.Stop()
	return true
}

// end answers h with fail, if it still waits; true where it did.
func (c *confirmations) end(h *held, fail *failure.Failure) bool {
	if !c.take(h) {
		return false
	}
	if h.job != nil {
		h.job.cancel()
		h.job.refuse(fail)
	}
	return true
}

// some gives those that which chooses.
func (c *confirmations) some(which func(*held) bool) []*held {
	c.mu.Lock()
	defer c.mu.Unlock()
	var chosen []*held
	for _, h := range c.all {
		if which(h) {
			chosen = append(chosen, h)
		}
	}
	return chosen
}

// expire ends what a sleep of the machine has made too late.
func (c *confirmations) expire(now time.Time) {
	for _, h := range c.some(func(h *held) bool { return late(h.until, now) }) {
		c.end(h, failure.New(failure.ConfirmationExpired, "action "+h.ref))
	}
}

// of lists those of a session, the oldest first.
func (c *confirmations) of(s *session) []control.Held {
	var list []control.Held
	c.some(func(h *held) bool {
		if h.s == s {
			list = append(list, h.said)
		}
		return false
	})
	slices.SortFunc(list, func(a, b control.Held) int { return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.ID, b.ID)) })
	return list
}

// Confirm is the person's word about a held action, by its id. Allowed, it runs once; towards a server that has its
// answer already, the same action passes once when it comes again in time. It fails with HeldActionNotFound, or with
// what is wrong with the action by now.
func (m *Machine) Confirm(id string, allow bool) error {
	found := m.held.some(func(h *held) bool { return h.id == id })
	missing := failure.New(failure.HeldActionNotFound, id)
	if len(found) == 0 {
		return missing
	}
	h := found[0]
	h.s.log.Info("the person at this machine decided", "ref", h.ref, "allowed", allow)
	switch {
	case h.job == nil:
		if !m.held.mark(h, allow) {
			return missing
		}
	case !allow:
		if !m.held.end(h, failure.New(failure.ConfirmationRefused, "action "+h.ref)) {
			return missing
		}
	default:
		if !m.held.take(h) {
			return missing
		}
		if _, fail := h.again(); fail != nil {
			h.job.cancel()
			h.job.refuse(fail)
			return fail
		}
		h.s.announce(h.ref, action.StageConfirmed)
		h.job.pool.submit(h.job)
	}
	return nil
}

// mark notes the answer about a pass.
func (c *confirmations) mark(h *held, allow bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[h.id] != h {
		return false
	}
	h.answer = control.HeldRefused
	if allow {
		h.answer = control.HeldAllowed
	}
	h.said.Answer = h.answer
	return true
}

// pass looks for the person's word about an action of this content. One that allows is used up.
func (c *confirmations) pass(s *session, content [sha256.Size]byte) (answer control.HeldAnswer, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.all {
		if h.s == s && h.job == nil && h.content == content && !late(h.until, time.Now()) {
			if h.answer == control.HeldAllowed {
				c.takeLocked(h)
			}
			return h.answer, true
		}
	}
	return "", false
}

// environmentOf is an action's environment without the git credential, which is another one each time. A digest leaves
// the whole of it out, but what a person allows depends on it.
func environmentOf(raw json.RawMessage) json.RawMessage {
	var env map[string]string
	if json.Unmarshal(raw, &env) != nil {
		return raw
	}
	maps.DeleteFunc(env, func(name, _ string) bool { return strings.HasPrefix(name, "BRABO_GIT_") })
	text, _ := json.Marshal(env) // texts always can be
	return text
}

// contentOf is what an action has in common with the same one sent again under another ref.
func contentOf(event string, payload json.RawMessage) ([sha256.Size]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(payload, &members); err != nil {
		return [sha256.Size]byte{}, err
	}
	members["ref"], _ = json.Marshal(event)
	members["environment"] = environmentOf(members["env"])
	raw, err := json.Marshal(members)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	return action.Digest(raw)
}
