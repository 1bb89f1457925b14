package runner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/journal"
	"brabo.dev/runner/runner/redact"
)

// incoming is an action on its way in: what is needed to know it again and to answer it, whatever its kind.
type incoming struct {
	event    string
	ref      string
	payload  json.RawMessage
	received time.Time
	deadline time.Time // by when it has to be answered
	// resumed says that it comes from the ledger of an earlier daemon.
	resumed bool
	// again says that the server sends it after each join until it has a result (protocol.md 12, ack).
	again bool
	// secrets are taken out of all that is kept and told about it: the daemon's own and what its env carries. Nil: the
	// daemon's own.
	secrets *redact.Set
	// answerEvent carries the answer, and refusal is the answer that tells a failure.
	answerEvent string
	refusal     func(ref string, f *failure.Failure) any
}

// answering fills in how an action of the event is answered.
func answering(event string) incoming {
	in := incoming{event: event, answerEvent: event + "_result"}
	switch event {
	case action.EventExec:
		in.refusal = func(ref string, f *failure.Failure) any { return action.Refused(ref, f) }
	case action.EventWorkspaceCreate:
		in.refusal = func(ref string, f *failure.Failure) any {
			return action.WorkspaceNotCreated(ref, action.MotivoDesconhecido, f)
		}
	case action.EventMirrorSync:
		in.refusal = func(ref string, f *failure.Failure) any {
			return action.MirrorSyncResult{Ref: ref, Erro: f.Error(), Failure: f}
		}
	case action.EventAction:
		in.refusal = func(ref string, f *failure.Failure) any { return action.ActionFailed(ref, f) }
	default:
		in.refusal = func(ref string, f *failure.Failure) any { return action.ContainerFailed(ref, f) }
	}
	return in
}

// dispatch takes one message of the server. It never waits for work.
func (s *session) dispatch(l link, msg channel.Message) {
	in := answering(msg.Event)
	in.payload, in.received, in.again = msg.Payload, time.Now(), l.granted.Has(action.ExtAck)
	switch {
	case msg.Event == action.EventExec:
		s.receiveExec(l, in)
	case isContainer(msg.Event):
		s.receiveContainer(l, in)
	case msg.Event == action.EventExecCancel && l.granted.Has(action.ExtCancel):
		s.receiveCancel(msg)
	case msg.Event == action.EventAction && l.granted.Has(action.ExtAction):
		s.receiveTyped(l, in)
	case msg.Event == action.EventMirrorSync:
		s.receiveMirror(l, in)
	case msg.Event == action.EventWorkspaceCreate:
		s.receiveCreate(l, in)
	case msg.Event == action.EventFsListDir:
		s.receiveList(l, msg)
	case msg.Event == action.EventFsHomeDir:
		s.receiveHome(l, msg)
	case isTerminal(msg.Event):
		s.receiveTerminal(l, msg)
	default:
		s.unknown(msg.Event)
	}
}

// maxReported bounds how many names of unknown events are remembered: a hostile server could send new ones for ever.
const maxReported = 100

// unknown logs an event that is not known, once a name. It is never answered: an event that a Brabo channel does not
// know ends it (protocol.md 3.7).
func (s *session) unknown(event string) {
	if len(event) > 64 {
		event = event[:64]
	}
	s.mu.Lock()
	said := s.reported[event] || len(s.reported) >= maxReported
	if !said {
		s.reported[event] = true
	}
	s.mu.Unlock()
	if !said {
		s.log.Warn("ignored", "failure", failure.New(failure.UnknownEvent, "event "+event))
	}
}

func (s *session) receiveExec(l link, in incoming) {
	e, fail := action.DecodeExec(in.payload, l.granted)
	in.ref, in.deadline = e.Ref, in.received.Add(s.deadline(e))
	fail = cmp.Or(fail, s.hide(&in, e.Env))
	s.receive(l, in, fail, func() *failure.Failure { return s.acceptExec(e, in) })
}

// acceptExec checks a command and queues it.
func (s *session) acceptExec(e action.Exec, in incoming) *failure.Failure {
	s.log.Info("received", "ref", e.Ref, "command", s.secrets(in).Text(e.Command), "cwd", s.secrets(in).Text(e.Cwd))
	p, fail := s.guard(e)
	if fail != nil {
		return fail
	}
	w := way{plan: p, text: describeCommand(e), cwd: p.dir, patient: e.Deadline > 0, again: func() (plan, *failure.Failure) { return s.guard(e) }}
	return s.admit(w, s.m.commands, in, func(ctx context.Context, p plan) { s.execute(ctx, e, p, in) })
}

// receive stores an action that was not seen before and has it accepted; what can't be is refused by name. decoded is
// what was wrong with its form.
func (s *session) receive(l link, in incoming, decoded *failure.Failure, accept func() *failure.Failure) {
	if in.ref == "" {
		s.log.Warn("ignored: there is no ref to answer to", "failure", decoded)
		return
	}
	if in.again && s.isDraining() {
		s.log.Info("left for the next start: this daemon stops", "ref", in.ref)
		return
	}
	digest, err := action.Digest(in.payload)
	if err != nil { // it was read as an object before, so it has one
		s.log.Error("ignored", "ref", in.ref, "failure", failure.From(err, "action "+in.ref))
		return
	}
	if !s.isNew(l, in, digest) {
		return
	}
	if decoded == nil {
		decoded = accept()
	}
	if decoded != nil {
		s.refuse(in, decoded)
	}
}

// isNew stores the action; false when it is known already and has been dealt with here.
func (s *session) isNew(l link, in incoming, digest [sha256.Size]byte) bool {
	known, err := s.m.o.Ledger.Receive(journal.Action{
		Key: s.key(in), Digest: digest, Payload: storable(in), Received: in.received, Deadline: in.deadline,
	})
	if err != nil {
		// What can't be stored is not run, and there is no outbox for the answer either: it is told on this connection.
		s.tell(l, in, failure.From(err, "action "+in.ref))
		return false
	}
	switch known {
	case journal.Finished:
		s.log.Info("received again: the stored result is sent again", "ref", in.ref)
		poke(s.wake)
	case journal.Running:
		s.log.Info("received again: it is still running", "ref", in.ref)
		s.announceAgain(in.ref)
	case journal.Reused:
		s.tell(l, in, failure.New(failure.RefReused, "action "+in.ref))
	}
	if known == journal.New {
		s.m.counts.received.Add(1)
	}
	return known == journal.New
}

// tell pushes an answer that is not kept: the same question brings it again.
func (s *session) tell(l link, in incoming, fail *failure.Failure) {
	fail = withoutSecrets(s.secrets(in), fail)
	s.log.Warn("refused", "ref", in.ref, "failure", fail)
	ctx, cancel := context.WithTimeout(s.work, leaveTimeout)
	defer cancel()
	if err := l.ch.Push(ctx, in.answerEvent, in.refusal(in.ref, fail)); err != nil {
		s.log.Warn("an answer was not sent", "ref", in.ref, "error", err)
	}
}

func (s *session) refuse(in incoming, fail *failure.Failure) {
	fail = withoutSecrets(s.secrets(in), fail)
	s.log.Warn("refused", "ref", in.ref, "failure", fail)
	s.finish(in, in.refusal(in.ref, fail))
}

// queue hands an accepted action to a pool. run is called once it is certain that a later daemon would know of the start;
// it stores the result. An action that has to wait is judged anew before it starts, and runs as it was judged then: what
// decides may have changed meanwhile.
func (s *session) queue(w way, p *pool, in incoming, run func(context.Context, plan)) *failure.Failure {
	j := s.jobOf(w, p, in, run)
	added, fail := s.adds(j, in)
	if added {
		p.submit(j)
	}
	return fail
}

// jobOf is the job of an accepted action.
func (s *session) jobOf(w way, p *pool, in incoming, run func(context.Context, plan)) *job {
	j := p.job(s.work, s.project.ID, jobKey{in.event, in.ref}, in.deadline)
	j.run = func(ctx context.Context) {
		defer s.done(j)
		now := w.plan
		if j.waited || j.held != nil {
			var fail *failure.Failure
			if now, fail = w.again(); fail == nil && now.ask != "" && w.plan.ask == "" {
				fail = failure.New(failure.HeldForConfirmation, "action "+in.ref).
					Because("%s That is so since `policy.json` was changed while it waited for its turn, and nobody was asked", now.ask).Then("propose it again")
			}
			if fail != nil {
				s.refuse(in, fail)
				return
			}
		}
		if err := s.m.o.Ledger.Begin(s.key(in)); err != nil {
			s.refuse(in, failure.From(err, "action "+in.ref))
			return
		}
		s.m.counts.started.Add(1)
		s.begin(j)
		run(ctx, now)
	}
	j.refuse = func(fail *failure.Failure) {
		defer s.done(j)
		s.refuse(in, fail)
	}
	return j
}

// adds registers a job; while the daemon stops it does not, which is a failure for who won't send the action again.
func (s *session) adds(j *job, in incoming) (added bool, _ *failure.Failure) {
	if s.add(j) {
		return true, nil
	}
	j.cancel()
	if in.again { // the stop came in between; the next start finds it in the ledger
		s.log.Info("left for the next start: this daemon stops", "ref", in.ref)
		return false, nil
	}
	return false, failure.New(failure.Draining, "action "+in.ref)
}

// deadline is how long e may take from its receipt (settings.md: commands.deadline and commands.git_deadline). The
// defaults beat the engine's own clocks, which are not on the wire (protocol.md 6.1).
func (s *session) deadline(e action.Exec) time.Duration {
	switch _, credential := e.Env["BRABO_GIT_TOKEN"]; {
	case e.Deadline > 0:
		return e.Deadline
	case e.Cwd == "" || credential || e.GitCredentialed:
		return s.m.o.Commands.GitDeadline
	}
	return s.m.o.Commands.Deadline
}

func (s *session) receiveCancel(msg channel.Message) {
	ref, reason, fail := action.DecodeExecCancel(msg.Payload)
	if fail != nil {
		s.log.Warn("ignored", "failure", fail)
		return
	}
	s.mu.Lock()
	j := s.jobs[jobKey{action.EventExec, ref}]
	if j == nil {
		j = s.jobs[jobKey{action.EventAction, ref}]
	}
	s.mu.Unlock()
	if j == nil {
		return // unknown or finished: ignored (protocol.md section 12, cancel)
	}
	s.log.Info("cancelled by the server", "ref", ref, "reason", reason)
	j.end(failure.New(failure.Cancelled, "action "+ref))
}
