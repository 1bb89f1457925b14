package control

import (
	"slices"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Status is what a daemon says about itself. Its JSON form is stable: fields are added and never change their meaning.
type Status struct {
	Version string    `json:"version"`
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`  // the start of the daemon
	Server  string    `json:"server"` // where its actions come from
	Folder  string    `json:"folder"` // its state folder
	// Stopping is set once the daemon takes no new actions any more.
	Stopping bool      `json:"stopping"`
	Projects []Project `json:"projects"` // by id
	Health   []Item    `json:"health"`   // worst first; empty: all is well
	Counters Counters  `json:"counters"`
	Memory   Memory    `json:"memory"`
	// Goroutines is how many there are.
	Goroutines int     `json:"goroutines"`
	Journal    Journal `json:"journal"`
	Engine     *Engine `json:"engine,omitempty"` // nil: none was needed, or found, so far
}

// State is how a project's connection stands.
type State string

// The states of a project.
const (
	Joined     State = "joined"     // serving
	Connecting State = "connecting" // an attempt is under way, or waits for its turn
	Waiting    State = "waiting"    // for the next attempt, at Until; Failure says why
	Refused    State = "refused"    // as Waiting, but a person has to do something: Failure says what
	Broken     State = "broken"     // the project can't be served on this machine: Failure says why
)

// Project is one project of a daemon.
type Project struct {
	ID    string    `json:"id"`
	Root  string    `json:"root"`
	State State     `json:"state"`
	Since time.Time `json:"since"` // of the state
	// Until is when the next attempt to connect begins at the latest; zero unless State is Waiting or Refused.
	Until time.Time `json:"until,omitzero"`
	// Failure is the last one of the connection, kept after the next join; nil where there was none.
	Failure *failure.Failure `json:"failure,omitempty"`
	// LastContact is when the server was last heard; zero: never.
	LastContact time.Time `json:"lastContact,omitzero"`
	// Extensions were granted by the server in the present join.
	Extensions []string  `json:"extensions,omitempty"`
	Running    []Running `json:"running"` // oldest first
	Queued     int       `json:"queued"`  // accepted actions that wait for a place
	Terminals  int       `json:"terminals"`
	Held       []Held    `json:"held,omitempty"` // actions that wait for the person at this machine, oldest first
}

// Running is one action that runs now.
type Running struct {
	Event string    `json:"event"`
	Ref   string    `json:"ref"`
	Since time.Time `json:"since"`
}

// Severity is how bad a health item is.
type Severity string

// The severities, worst first.
const (
	Error   Severity = "error"   // something does not work
	Warning Severity = "warning" // it works, and somebody should know
)

// Item is one thing that is not well.
type Item struct {
	Severity Severity         `json:"severity"`
	Failure  *failure.Failure `json:"failure"`
}

// Counters count since the start of the daemon, but for Waiting.
type Counters struct {
	Received   uint64 `json:"received"` // actions that were not known before
	Started    uint64 `json:"started"`
	Finished   uint64 `json:"finished"` // with a result or a refusal
	Delivered  uint64 `json:"delivered"`
	Waiting    int    `json:"waiting"`    // results that the server is not known to have read, now
	Reconnects uint64 `json:"reconnects"` // joins beyond the first of each project
}

// Memory is in bytes.
type Memory struct {
	Heap  uint64 `json:"heap"`  // in use by live objects and what was not collected yet
	Total uint64 `json:"total"` // taken from the system by the daemon's runtime
}

// Journal is the daemon's journal.
type Journal struct {
	Bytes int64 `json:"bytes"` // of its file that are in use
}

// Engine is the container engine that the daemon uses.
type Engine struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	API     string `json:"api"`
	Address string `json:"address"`
	// Facts is all that is known of it on one line.
	Facts string `json:"facts"`
}

// SortHealth puts the worst items first and leaves their order otherwise.
func SortHealth(items []Item) {
	rank := map[Severity]int{Error: 0, Warning: 1}
	slices.SortStableFunc(items, func(a, b Item) int { return rank[a.Severity] - rank[b.Severity] })
}
