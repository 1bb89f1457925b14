package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/journal"
	"brabo.dev/runner/workspace"
)

// endTimeout bounds how long the start waits for the processes of one action of an earlier daemon to end.
const endTimeout = 10 * time.Second

// recover deals with what an earlier daemon left unfinished when it was killed. What may have run is ended for real and
// finished as interrupted; it is never run again. What can't be run any more is finished by name. The rest is given
// back by project, to be run by its session. Where ctx ends before all is dealt with, the next start does the rest.
func (m *Machine) recover(ctx context.Context) (map[string][]journal.Unfinished, error) {
	all, err := m.o.Ledger.Unfinished()
	if err != nil {
		return nil, err
	}
	left := map[string][]journal.Unfinished{}
	for _, u := range all {
		if ctx.Err() != nil {
			return nil, nil
		}
		subject := "action " + u.Key.Ref
		var fail *failure.Failure
		switch {
		case !u.Begun.IsZero():
			// What is finished below is not looked at again, so its processes have to end even if ctx does meanwhile.
			m.endLeft(context.WithoutCancel(ctx), u)
			fail = failure.New(failure.Interrupted, subject)
		case u.HadEnv:
			fail = failure.New(failure.Interrupted, subject).Because("the daemon ended before it began, and the environment that came with it is kept nowhere")
		case late(u.Deadline, time.Now()):
			fail = failure.New(failure.ExpiredBeforeStart, subject).Because("the deadline passed while the daemon was not running")
		default:
			left[u.Key.Project] = append(left[u.Key.Project], u)
			continue
		}
		if err := m.finishLeft(u, fail); err != nil {
			// A full disk must not keep the daemon from starting; the next start finds the action again.
			m.o.Log.Error("what an earlier daemon left could not be finished", "ref", u.Key.Ref, "failure", failure.From(err, subject))
		}
	}
	m.strand(left)
	return left, nil
}

// strand takes those of other servers out of left: this daemon does not serve them, and they wait for one that does.
func (m *Machine) strand(left map[string][]journal.Unfinished) {
	for project, actions := range left {
		var mine []journal.Unfinished
		for _, u := range actions {
			if u.Key.Server == m.o.Server {
				mine = append(mine, u)
			}
		}
		left[project] = mine
	}
}

func (m *Machine) finishLeft(u journal.Unfinished, fail *failure.Failure) error {
	m.o.Log.Warn("left unfinished by an earlier daemon", "project", u.Key.Project, "ref", u.Key.Ref, "failure", fail)
	in := answering(u.Key.Event)
	raw, err := marshal(in.refusal(u.Key.Ref, fail))
	if err != nil {
		return err
	}
	if err := m.o.Ledger.Finish(u.Key, journal.Result{Event: in.answerEvent, Payload: raw}); err != nil {
		return err
	}
	m.counts.finished.Add(1)
	return nil
}

// endLeft ends what still runs of an action. Where that can't be done it is said; the action is interrupted all the
// same.
func (m *Machine) endLeft(ctx context.Context, u journal.Unfinished) {
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	log := m.o.Log.With("project", u.Key.Project, "ref", u.Key.Ref)
	var ended int
	var err error
	switch {
	case u.Process.Container != "":
		engine, found := m.engines.find(ctx)
		if found != nil {
			err = found
			break
		}
		ended, err = engine.EndCommands(ctx, u.Process.Container)
	case u.Process.PID != 0:
		ended, err = exec.EndLeftovers(ctx, u.Process.PID, u.Process.Identity)
	case u.Key.Event == action.EventExec:
		// The daemon ended between the start and the note about it: it is found by its mark, or in the project's container.
		ended, err = exec.EndMarked(ctx, markOf(u.Key))
		engine, state, found, lost := m.engines.running(ctx, u.Key.Project)
		if found {
			inside, failed := engine.EndCommands(ctx, state.Name)
			ended, lost = ended+inside, failed
		}
		err = errors.Join(err, lost)
	case !isContainer(u.Key.Event): // git, and what it started
		ended, err = exec.EndMarked(ctx, markOf(u.Key))
		if u.Key.Event == action.EventWorkspaceCreate && err == nil {
			err = m.recoverFolder(u)
		}
	}
	if err != nil {
		log.Warn("what an earlier daemon left may not be gone", "error", err)
	}
	if ended > 0 {
		log.Info("ended processes of an earlier daemon", "processes", ended)
	}
}

// recoverFolder puts a repository that was whole into its place, and empties the folder of one that was not (protocol.md 4.3).
func (m *Machine) recoverFolder(u journal.Unfinished) error {
	c, fail := action.DecodeWorkspaceCreate(u.Payload, nil)
	if fail != nil {
		return fail
	}
	o := m.o.Workspaces
	return workspace.Create{Base: o.Base, ProjectRoot: o.Root, Segment: filepath.FromSlash(c.Segmento), Options: m.o.Folder}.Recover()
}

// markOf is the mark of a command's processes, which a later daemon can make again.
func markOf(k journal.Key) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{k.Server, k.Project, k.Event, k.Ref}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// resume queues an action that an earlier daemon received and did not begin.
func (s *session) resume(u journal.Unfinished) {
	in := answering(u.Key.Event)
	in.ref, in.payload, in.received, in.deadline, in.resumed = u.Key.Ref, u.Payload, u.Received, u.Deadline, true
	// Which extensions were granted is not known any more. Their fields are read if they have their form, since a
	// decision can only make the guard stricter; the deadline is the one that was computed then.
	var fail *failure.Failure
	switch {
	case u.Key.Event == action.EventExec:
		e, bad := action.DecodeExec(u.Payload, action.Known())
		if bad != nil {
			e, bad = action.DecodeExec(u.Payload, nil)
		}
		if fail = bad; fail == nil {
			fail = s.acceptExec(e, in)
		}
	case u.Key.Event == action.EventAction:
		t, bad := action.DecodeAction(u.Payload, action.Known())
		if bad != nil {
			t, bad = action.DecodeAction(u.Payload, nil)
		}
		if fail = bad; fail == nil {
			fail = s.acceptTyped(t, in)
		}
	case isContainer(u.Key.Event):
		c, bad := action.DecodeContainer(u.Key.Event, u.Payload, nil)
		if fail = bad; fail == nil {
			fail = s.acceptContainer(nil, c, in)
		}
	case u.Key.Event == action.EventMirrorSync, u.Key.Event == action.EventWorkspaceCreate:
		// A destination is granted for one connection, and who asked for a folder has stopped waiting.
		fail = failure.New(failure.Interrupted, "action "+u.Key.Ref).Because("the daemon ended before it began, and what it was allowed with ended too")
	default:
		fail = failure.New(failure.UnknownEvent, "event "+u.Key.Event)
	}
	if fail != nil {
		s.refuse(in, fail)
	}
}
