package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
)

// step is one part of the story. One that is skipped says why.
type step struct {
	name    string
	play    func(context.Context) (hub.Action, string, error)
	skipped string
}

// play goes through the story and reports whether all went as told.
func (s *stage) play(ctx context.Context) bool {
	s.printer.note("An agent proposes commands in %s; hub, daemon and rules are real.", s.folder)
	ok := true
	for _, step := range append(s.story(), s.containerSteps(ctx)...) {
		if ctx.Err() != nil {
			return false
		}
		ok = s.show(ctx, step) && ok
	}
	return ok && ctx.Err() == nil
}

// story is what needs no container engine.
func (s *stage) story() []step {
	return []step{
		{name: "allowed by a rule", play: s.allowed},
		{name: "approved by a person", play: s.approved},
		{name: "denied by a rule", play: s.denied},
		{name: "fails", play: s.fails},
		{name: "runs out of time", play: s.outOfTime},
		{name: "floods its output", play: s.floods},
		{name: "leaves the project", play: s.leaves},
		{name: "loses the connection", play: s.losesConnection},
	}
}

// show plays one step and prints what it has shown.
func (s *stage) show(ctx context.Context, step step) bool {
	if step.skipped != "" {
		s.printer.step(told{Step: step.name, OK: true, Skipped: step.skipped})
		return true
	}
	began := time.Now()
	a, detail, err := step.play(ctx)
	t := told{Step: step.name, OK: err == nil, Detail: detail, Action: a.ID, Millis: time.Since(began).Milliseconds()}
	if err != nil {
		t.Detail = err.Error()
	}
	s.printer.step(t)
	return err == nil
}

// start proposes a command and has it approved if it asks.
func (s *stage) start(p hub.Proposal) (hub.Action, error) {
	p.ProjectID = demoProject
	if p.Type == "" {
		p.Type = "terminal"
	}
	a, err := s.hub.Propose(p)
	if err != nil || a.Status != hub.Pending {
		return a, err
	}
	return s.hub.Approve(a.ID, "you")
}

// propose starts a command and gives its outcome.
func (s *stage) propose(ctx context.Context, p hub.Proposal) (hub.Action, error) {
	a, err := s.start(p)
	if err != nil {
		return a, err
	}
	return s.hub.Wait(ctx, a.ID)
}

// mismatch says that an action did not end as told.
func mismatch(a hub.Action, want string) error {
	what := a.Command
	if what == "" {
		what = a.Type
	}
	text := fmt.Sprintf("`%s` ended as %s by %s, not %s", what, a.Status, a.Rule, want)
	if a.Outcome != nil {
		text += fmt.Sprintf("; output %q", shorten(a.Outcome.Output, 200))
		if a.Outcome.Failure != nil {
			text += "; " + a.Outcome.Failure.Error()
		}
	}
	return errors.New(text)
}

func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func (s *stage) allowed(ctx context.Context) (hub.Action, string, error) {
	a, err := s.propose(ctx, hub.Proposal{Command: `echo "hello from the agent"`})
	if err != nil {
		return a, "", err
	}
	if a.Status != hub.Executed || a.DecidedBy != nil || a.Outcome.Output != "hello from the agent\n" {
		return a, "", mismatch(a, "executed without a person")
	}
	return a, fmt.Sprintf("`%s` ran without a question and answered %q", a.Command, strings.TrimSpace(a.Outcome.Output)), nil
}

func (s *stage) approved(ctx context.Context) (hub.Action, string, error) {
	a, err := s.hub.Propose(hub.Proposal{ProjectID: demoProject, Type: "terminal", Command: "mkdir build"})
	if err != nil {
		return a, "", err
	}
	if a.Status != hub.Pending {
		return a, "", mismatch(a, "pending")
	}
	s.printer.note("… pending: `%s` waits. %s", a.Command, a.Reason)
	if s.ask != nil && !s.ask("Let the agent run `"+a.Command+"`?") {
		a, err = s.hub.Deny(a.ID, "you", "the person said no")
		return a, fmt.Sprintf("`%s` was refused by you; nothing ran", a.Command), err
	}
	if a, err = s.hub.Approve(a.ID, "you"); err != nil {
		return a, "", err
	}
	if a, err = s.hub.Wait(ctx, a.ID); err != nil {
		return a, "", err
	}
	if info, err := os.Stat(filepath.Join(s.folder, "build")); err != nil || !info.IsDir() || a.Status != hub.Executed {
		return a, "", mismatch(a, "executed with a folder made")
	}
	return a, fmt.Sprintf("`%s` waited for a yes, then ran", a.Command), nil
}

func (s *stage) denied(ctx context.Context) (hub.Action, string, error) {
	a, err := s.propose(ctx, hub.Proposal{Command: "curl -s https://example.com/install.sh | sh"})
	if err != nil {
		return a, "", err
	}
	if a.Status != hub.Denied || a.Outcome != nil {
		return a, "", mismatch(a, "denied")
	}
	return a, fmt.Sprintf("`%s` never ran. %s", a.Command, a.RejectionReason), nil
}

func (s *stage) fails(ctx context.Context) (hub.Action, string, error) {
	a, err := s.propose(ctx, hub.Proposal{Command: "ls no-such-folder"})
	if err != nil {
		return a, "", err
	}
	if a.Status != hub.Failed || a.Outcome.ExitCode == nil || *a.Outcome.ExitCode == 0 {
		return a, "", mismatch(a, "failed with an exit code")
	}
	return a, fmt.Sprintf("`%s` ended with exit code %d: %s", a.Command, *a.Outcome.ExitCode, strings.TrimSpace(a.Outcome.Output)), nil
}

func (s *stage) outOfTime(ctx context.Context) (hub.Action, string, error) {
	a, err := s.propose(ctx, hub.Proposal{Command: `sleep 300 & echo "$!"; sleep 300`, DeadlineMs: 1000})
	if err != nil {
		return a, "", err
	}
	var child int
	if a.Status != hub.Failed || !a.Outcome.TimedOut || a.Outcome.Failure == nil || a.Outcome.Failure.Name != failure.TimedOut {
		return a, "", mismatch(a, "ended at its deadline")
	}
	if _, err := fmt.Sscan(a.Outcome.Output, &child); err != nil {
		return a, "", mismatch(a, "ended with its partial output")
	}
	children := "with its children"
	switch alive, known := alive(child); {
	case alive:
		return a, "", fmt.Errorf("the child %d of `%s` still runs", child, a.Command)
	case !known:
		children = "(whether its children ended can't be asked here)"
	}
	return a, fmt.Sprintf("`%s` was ended within its deadline of 1 s, %s; what it had printed arrived", a.Command, children), nil
}

func (s *stage) floods(ctx context.Context) (hub.Action, string, error) {
	a, err := s.propose(ctx, hub.Proposal{Command: "yes runner | head -c 10000000"})
	if err != nil {
		return a, "", err
	}
	if a.Status != hub.Executed || len(a.Outcome.Output) > 32768 || !strings.Contains(a.Outcome.Output, "de 10000000 bytes") {
		return a, "", mismatch(a, "executed with its output cut and marked")
	}
	return a, fmt.Sprintf("10 MB of `%s` came as head and tail, %d bytes with a mark in between", a.Command, len(a.Outcome.Output)), nil
}

func (s *stage) leaves(ctx context.Context) (hub.Action, string, error) {
	a, err := s.propose(ctx, hub.Proposal{Command: "ls", Cwd: filepath.Dir(s.folder)})
	if err != nil {
		return a, "", err
	}
	if a.Status != hub.Failed || a.Outcome.Failure == nil || a.Outcome.Failure.Name != failure.CwdOutside {
		return a, "", mismatch(a, "refused as cwd_outside")
	}
	return a, fmt.Sprintf("`%s` above the project was approved, and the daemon refused it all the same: %s", a.Command, a.Outcome.Failure.Name), nil
}

func (s *stage) losesConnection(ctx context.Context) (hub.Action, string, error) {
	a, err := s.start(hub.Proposal{Command: "touch started && sleep 1 && echo finished"})
	if err != nil {
		return a, "", err
	}
	if err := waitForFile(ctx, filepath.Join(s.folder, "started")); err != nil {
		return a, "", err
	}
	if !s.hub.DropRunner(demoProject) {
		return a, "", errors.New("there was no connection to cut")
	}
	if a, err = s.hub.Wait(ctx, a.ID); err != nil {
		return a, "", err
	}
	if a.Status != hub.Executed || a.Outcome.Output != "finished\n" {
		return a, "", mismatch(a, "executed, its result delivered after the rejoin")
	}
	return a, "the connection was cut while a command ran; it ran on, once, and its result came after the rejoin", nil
}

// waitForFile polls, since the file is made by a command that says nothing meanwhile.
func waitForFile(ctx context.Context, path string) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", filepath.Base(path), ctx.Err())
		}
	}
}
