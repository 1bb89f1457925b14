package journal

import (
	"crypto/sha256"
	"encoding/json"
	"time"
)

// Key names one action for ever: the same ref of another server, project or event is another action.
type Key struct{ Server, Project, Event, Ref string }

// Action is one action as it was received.
type Action struct {
	Key    Key
	Digest [sha256.Size]byte // of its content, as action.Digest tells
	// Payload is the message. Its env is never stored.
	Payload  json.RawMessage
	Received time.Time // zero: now
	Deadline time.Time // it must not start later; zero: none
}

// Known is what the journal knew of an action when it was received.
type Known int

// The states in which a received action can be found.
const (
	New      Known = iota // not seen before; it is stored now
	Running               // received before and not finished: do nothing, its result will come
	Finished              // finished before: its result is due for delivery once more
	Reused                // the ref was seen with another content
)

// Result is what answers an action: an event of the channel and its payload.
type Result struct {
	Event   string
	Payload json.RawMessage
}

// Due is a result that the server is not known to have read.
type Due struct {
	Key    Key
	Serial uint64 // grows in the order in which results became due
	Result Result
}

// Process says what runs for an action, so that a later daemon can end it and nothing else.
type Process struct {
	PID int `json:"pid,omitempty"`
	// Group is the process group; zero where there is none.
	Group int `json:"group,omitempty"`
	// Identity tells this process from every other that will ever have its number: it holds the boot and the time at
	// which the process started. Empty where the system can't tell; then the number alone must not be trusted.
	Identity string `json:"identity,omitempty"`
	// Container and Exec are the engine's ids of a command that runs in a container.
	Container string `json:"container,omitempty"`
	Exec      string `json:"exec,omitempty"`
}

// Unfinished is an action that an earlier daemon left behind.
type Unfinished struct {
	Key      Key
	Payload  json.RawMessage // without env
	HadEnv   bool            // there was an env, which is lost: it can't be started from here
	Received time.Time
	Deadline time.Time // zero: none
	// Begun is zero where it can't have started. Otherwise it may have, also where Process is empty: the daemon can
	// die between the two.
	Begun   time.Time
	Process Process
}

// Record is one line of the history. Times that have not come yet are zero.
type Record struct {
	Key                                  Key
	Text                                 string // the command, or what else was asked for, cut to 4 KiB
	Received, Begun, Finished, Delivered time.Time
	ExitCode                             *int   // nil where there is none
	Failure                              string // name of the failure, or empty
}

// Filter chooses records.
type Filter struct {
	Server, Project, Ref string // empty: any
	Since                time.Time
	Failed               bool // only those with a failure or an exit code other than 0
	Limit                int  // at most 1,000; zero: 100
}
