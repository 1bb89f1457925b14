// Package doctor examines what a daemon stands on: its server and clock, its credential, the container engine, the
// project folder, the shell and the PATH, the disk, the journal, and what else is installed. Each check has a name and
// ends as pass, warn or fail, with the next step.
//
// The checks look and change nothing that matters: they ask for a ticket and throw it away, and write a probe where
// the daemon does. A running daemon is asked to run them itself, since its environment is what counts. Run owns the
// goroutines of its checks and waits for them.
package doctor

import (
	"context"
	"sync"
	"time"

	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
)

// Check is one thing to look at. Look gives what it found in a few words, or a named failure; a Warning where the
// daemon works all the same. Its context ends after a while.
type Check struct {
	Name string
	Look func(ctx context.Context) (string, error)
}

// patience is how long one check may take. A pull of an engine or a server that does not answer would take longer.
const patience = 20 * time.Second

// warning is a failure that does not keep the daemon from working.
type warning struct{ *failure.Failure }

// Warning makes f count as one.
func Warning(f *failure.Failure) error { return warning{f} }

func (w warning) Unwrap() error { return w.Failure }

// Run makes the checks side by side and gives what they found, in their order.
func Run(ctx context.Context, checks []Check) []control.Finding {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	findings := make([]control.Finding, len(checks))
	var looking sync.WaitGroup
	for i, c := range checks {
		looking.Go(func() {
			text, err := c.Look(ctx)
			findings[i] = finding(c.Name, text, err)
		})
	}
	looking.Wait()
	return findings
}

func finding(name, text string, err error) control.Finding {
	f := control.Finding{Check: name, Verdict: control.Pass, Text: text}
	if err == nil {
		return f
	}
	f.Verdict, f.Text = control.Fail, ""
	if w, ok := err.(warning); ok {
		f.Verdict, f.Failure = control.Warn, w.Failure
		return f
	}
	f.Failure = failure.From(err, name)
	return f
}

// Worst is the worst verdict among findings.
func Worst(findings []control.Finding) control.Verdict {
	worst := control.Pass
	for _, f := range findings {
		switch {
		case f.Verdict == control.Fail:
			return control.Fail
		case f.Verdict == control.Warn:
			worst = control.Warn
		}
	}
	return worst
}
