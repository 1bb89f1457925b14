// Package exec runs one approved command line, or one terminal, at a time and answers for everything that it started.
//
// Run starts the text under a Shell in a session and process group of its own, with stdin closed and stdout and stderr
// in one pipe, keeps a bounded Output of it, and ends the whole family at the deadline or on cancel: first TERM, then,
// after a grace that still fits, KILL. Nothing that a command leaves in the background survives it. Its Result says
// what happened; where there is no exit code, a named failure says why.
//
// What leaves the group (a daemon that calls setsid) is found where the process adopts the orphans of its commands: on
// Linux, see BecomeSubreaper. On Windows each command lives in a Job Object, which nothing leaves; on macOS there is only
// the group, and what leaves it is lost.
//
// Run owns two goroutines, one that waits for the shell and one that reads the pipe, and returns after both have ended.
// The one exception is a shell that not even KILL ends (it hangs in the kernel): the result is not late for it, and
// the waiting goroutine stays until the system lets the process go.
//
// OpenTerminal starts a person's login shell on a pseudo terminal and hands its output out as fast as it is read, and no
// faster. A Terminal owns three goroutines, which have ended when Wait returns, with the same exception.
package exec
