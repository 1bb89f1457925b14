package service

import (
	"path/filepath"
	"regexp"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Kind is what a service runs.
type Kind string

// The kinds.
const (
	Machine Kind = "machine" // the daemon, for all projects of this machine
	Project Kind = "project" // the daemon, for one project
	Hub     Kind = "hub"     // the local control plane
)

// ID names one service of this machine.
type ID struct {
	Kind    Kind   `json:"kind"`
	Project string `json:"project,omitempty"` // of kind Project
	System  bool   `json:"system,omitempty"`  // a service of the system instead of one of the user
}

// projectID is the form of a project's id that may stand in the name of a unit.
var projectID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Check refuses, with Usage, an id that can't stand in the name of a unit.
func (id ID) Check() error {
	switch {
	case id.Kind != Project:
		return nil
	case id.Project == string(Hub):
		return failure.New(failure.Usage, id.Project).Because("a service of this name would be the hub's").
			Then("run this project with `runner run`, or serve it with the machine's service")
	case !projectID.MatchString(id.Project):
		return failure.New(failure.Usage, id.Project).
			Because("a project's id in the name of a service has up to 64 letters, digits, dots, underscores and dashes").
			Then("check `--project`")
	}
	return nil
}

// String is the service as a sentence names it.
func (id ID) String() string {
	s := "the machine's service"
	switch id.Kind {
	case Hub:
		s = "the hub's service"
	case Project:
		s = "the service of project " + id.Project
	}
	if id.System {
		s += " of the system"
	}
	return s
}

// name is the part that all systems share, with sep between its words.
func (id ID) name(first, sep string) string {
	switch id.Kind {
	case Hub:
		return first + sep + "hub"
	case Project:
		return first + sep + id.Project
	}
	return first
}

// Definition is one service in full.
type Definition struct {
	ID
	// User is the name of the account that a service of the system runs as.
	User string `json:"user,omitempty"`
	// Program is the absolute path of the binary, Arguments are its words.
	Program   string   `json:"program"`
	Arguments []string `json:"arguments"`
	// Folder is the working directory, absolute.
	Folder string `json:"folder"`
	// Environment are the variables frozen at installation.
	Environment map[string]string `json:"environment"`
	// Umask is the user's own: commands inherit it. What the daemon writes for itself is private whatever it says.
	Umask uint32 `json:"umask"`
	// Grace is how long a stop may take in all: longer than the daemon's own drain.
	Grace time.Duration `json:"grace"`
	// Password is the account's on Windows. It is handed to the manager and recorded nowhere.
	Password string `json:"-"`
}

// Host is what this package needs to know about the machine and the user.
type Host struct {
	System     string // GOOS
	Home       string // the user's home folder
	ConfigHome string // folder of the user's settings: $XDG_CONFIG_HOME or ~/.config
	UID        int    // who asks; -1 on Windows
	// Manager is the version of systemd, 0 where it is not known.
	Manager int
}

// Name is the service's name for the system's manager.
func (h Host) Name(id ID) string {
	switch h.System {
	case "darwin":
		return id.name("dev.brabo.local-runner", ".")
	case "windows":
		return id.name("runner", "-")
	}
	return id.name("runner", "-") + ".service"
}

// folder is where the units of a level lie; "" on Windows, whose services are no files.
func (h Host) folder(system bool) string {
	switch {
	case h.System == "windows":
		return ""
	case h.System == "darwin" && system:
		return "/Library/LaunchDaemons"
	case h.System == "darwin":
		return filepath.Join(h.Home, "Library", "LaunchAgents")
	case system:
		return "/etc/systemd/system"
	}
	return filepath.Join(h.ConfigHome, "systemd", "user")
}

// Path is the file of the service's unit; "" on Windows.
func (h Host) Path(id ID) string {
	switch h.System {
	case "darwin":
		return filepath.Join(h.folder(id.System), h.Name(id)+".plist")
	case "windows":
		return ""
	}
	return filepath.Join(h.folder(id.System), h.Name(id))
}

// Unit renders d as the text that the system's manager reads; for Windows, where there is no such text, as what is
// registered.
func (h Host) Unit(d Definition) (string, error) {
	switch h.System {
	case "darwin":
		return launchd(d, h.Name(d.ID))
	case "windows":
		return registered(d, h.Name(d.ID)), nil
	}
	return systemd(d, h.Manager)
}
