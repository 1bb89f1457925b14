package runner

import (
	"context"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
)

// way is how an accepted action goes on.
type way struct {
	plan plan
	// text and cwd are what the person is shown.
	text, cwd string
	// patient servers sent a deadline of their own, and wait that long.
	patient bool
	// again judges it anew, where it had to wait.
	again func() (plan, *failure.Failure)
}

// admit queues an accepted action, or holds it for the person at this machine.
func (s *session) admit(w way, p *pool, in incoming, run func(context.Context, plan)) *failure.Failure {
	if w.plan.ask == "" {
		return s.queue(w, p, in, run)
	}
	if in.resumed {
		return failure.New(failure.ExpiredBeforeStart, "action "+in.ref).
			Because("the daemon was started anew while it waited for a confirmation at this machine").Then("propose it again")
	}
	h := &held{s: s, ref: in.ref, again: w.again, until: in.received.Add(s.m.o.ConfirmDeadline)}
	h.said = control.Held{
		Project: s.project.ID, Event: in.event, Ref: in.ref, Text: s.secrets(in).Text(w.text), Cwd: s.secrets(in).Text(w.cwd),
		Reason: s.secrets(in).Text(w.plan.ask), Since: in.received, Answer: control.HeldWaits,
	}
	if !w.patient {
		return s.answerHeld(h, w, p, in, run)
	}
	if in.deadline.Before(h.until) {
		h.until = in.deadline
	}
	h.job = s.jobOf(w, p, in, run)
	h.job.held = func(fail *failure.Failure) bool { return s.m.held.end(h, fail) }
	if added, fail := s.adds(h.job, in); !added {
		return fail
	}
	if !s.m.held.add(h) {
		h.job.cancel()
		s.done(h.job)
		return failure.New(failure.QueueFull, "project "+s.project.ID).Because("too many actions wait for a confirmation")
	}
	s.log.Warn("held for the person at this machine", "ref", in.ref, "confirm", h.id, "why", h.said.Reason, "until", h.until.Format(time.RFC3339))
	s.announce(in.ref, action.StageHeld)
	if s.isDraining() { // the stop came in between
		s.endHeld()
	}
	return nil
}

// answerHeld is for a server that does not wait: it has its answer at once, and what the person says counts for the
// same action when it comes again.
func (s *session) answerHeld(h *held, w way, p *pool, in incoming, run func(context.Context, plan)) *failure.Failure {
	content, err := contentOf(in.event, in.payload)
	if err != nil {
		return failure.From(err, "action "+in.ref)
	}
	switch answer, known := s.m.held.pass(s, content); {
	case answer == control.HeldAllowed:
		s.log.Info("passes once: the person at this machine allowed it", "ref", in.ref)
		return s.queue(w, p, in, run)
	case answer == control.HeldRefused:
		return failure.New(failure.ConfirmationRefused, "action "+in.ref)
	case !known:
		h.content, h.answer = content, control.HeldWaits
		if !s.m.held.add(h) {
			return failure.New(failure.QueueFull, "project "+s.project.ID).Because("too many actions wait for a confirmation")
		}
		s.log.Warn("held for the person at this machine", "ref", in.ref, "confirm", h.id, "why", h.said.Reason, "until", h.until.Format(time.RFC3339))
	}
	return failure.New(failure.HeldForConfirmation, "action "+in.ref).Because("%s It waits for the person at this machine", h.said.Reason)
}

// announce tells a server that shows it where a held action stands.
func (s *session) announce(ref, stage string) {
	s.show(action.ExtProgress, action.EventActionProgress, action.ActionProgress{Ref: ref, Stage: stage})
}

// announceAgain does so to a server that sent a known action again, and may have forgotten.
func (s *session) announceAgain(ref string) {
	if len(s.m.held.some(func(h *held) bool { return h.s == s && h.job != nil && h.ref == ref })) > 0 {
		s.announce(ref, action.StageHeld)
	}
}

// endHeld ends what is held when the daemon stops: the person could not be asked about it any more.
func (s *session) endHeld() {
	for _, h := range s.m.held.some(func(h *held) bool { return h.s == s }) {
		s.m.held.end(h, failure.New(failure.Cancelled, "action "+h.ref).
			Because("the daemon was stopped while it waited for a confirmation at this machine"))
	}
}
