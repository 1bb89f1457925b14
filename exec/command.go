package exec

import (
	"io"
	"os"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Command is one approved command line and the terms under which it runs.
type Command struct {
	Text  string // as it was approved; handed to the shell as one word
	Shell Shell
	// PlainPOSIX tells whether a text means the same in every shell (policy.md 17). It is asked when Shell is no bash;
	// nil refuses every text then.
	PlainPOSIX func(text string) bool
	Dir        string // absolute; the working directory
	// Enter opens Dir at the last moment and vouches for it; the command stands in what it opened (on Linux; elsewhere in
	// what then has the name). A failure of its own is the result's. Nil: Dir is taken as it is.
	Enter func(dir string) (*os.File, error)
	Env   []string // the whole environment, as Environment makes it
	Bounds

	Received time.Time     // when the action came; zero: now
	Deadline time.Time     // when the result has to be there, waiting included; zero: never
	Grace    time.Duration // between TERM and KILL; zero: two seconds. At most a quarter of Received to Deadline is taken

	ResultLimit int    // bytes of Result.Output, marker included (output.result)
	SpoolDir    string // where output that does not fit is kept in full, 0700; "": nowhere
	SpoolName   string // a plain file name
	SpoolLimit  int64  // bytes of that file (output.spool); 0: no file

	// Mark is put into the environment of all that the command starts, so that EndMarked of a later daemon finds it even if
	// this one is killed before it notes what Started tells. Letters and digits, another for each command; "": a random
	// one. On Linux alone
	Mark string

	Umask *int // of the command; nil: this process's. Not on Windows
	// Filter stands between what the command writes and all that is kept and shown of it, counts included; nil: nothing does.
	// It is given what takes the filtered bytes, which never fails, and closed when the command's output has ended.
	Filter  func(to io.Writer) io.WriteCloser
	Observe func(chunk []byte)             // called with every chunk as it arrives, by one goroutine; the chunk is only lent
	Started func(pid int, identity string) // called once the shell runs, with what EndLeftovers wants to know

	linger time.Duration // how long what the shell left may go on; zero: the constant. Tests need longer
}

// enter gives the path by which the command gets into its folder, and what has to be called once it is there.
func (c *Command) enter() (dir string, release func(), err error) {
	if c.Enter == nil {
		return c.Dir, func() {}, nil
	}
	folder, err := c.Enter(c.Dir)
	if err != nil {
		return "", nil, err
	}
	return through(folder), func() { folder.Close() }, nil
}

// Result is what became of a Command.
type Result struct {
	ExitCode  int    // the shell's own; -1: there is none, and Failure says why
	Output    string // stdout and stderr in order of arrival, see Output.Result
	TimedOut  bool   // ended by us at the deadline
	Cancelled bool   // ended by us because the context was cancelled
	Truncated bool   // Output is not everything
	Total     int64  // bytes that came, behind the Filter
	Invalid   int64  // invalid bytes replaced in Output
	Signal    string // what ended the shell where no exit code is: "SIGKILL"
	Spool     string // the file with the full output, up to its limit, or ""
	Left      int    // processes that outlived the shell and were ended; in a nest of them, those on top
	Survivors int    // processes that could not be ended, like those of another user
	Duration  time.Duration

	// Failure says why there is no exit code: timed_out, cancelled, killed_by_signal, limit_exceeded, could_not_start, cwd_missing,
	// bash_missing, expired_before_start, command_empty, command_nul, command_too_long, confinement_unavailable,
	// confinement_opens_runner. Nil where there is one.
	Failure *failure.Failure
	// SpoolFailure says why Spool is missing or incomplete (spool_failed); the result is good all the same.
	SpoolFailure *failure.Failure
}
