package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"howett.net/plist"
)

// agent is a job of launchd, as launchd.plist(5) has it. It names no files for the output: launchd would let them grow
// without end, and the daemon's own log is bounded. Record is ours: launchd passes over keys that it does not know.
type agent struct {
	Label                string
	UserName             string `plist:",omitempty"`
	ProgramArguments     []string
	WorkingDirectory     string
	EnvironmentVariables map[string]string
	Umask                uint32
	RunAtLoad            bool
	// Only a crash starts it again: an exit of its own may need a person, and launchd can't tell exit codes apart.
	KeepAlive          map[string]bool
	ThrottleInterval   int
	ExitTimeOut        int
	SoftResourceLimits map[string]int
	Record             string `plist:"DevBraboRunnerDefinition"`
}

// launchd renders d as a property list.
func launchd(d Definition, label string) (string, error) {
	raw, err := json.Marshal(d)
	if err != nil {
		return "", fmt.Errorf("recording the service in its unit: %w", err)
	}
	job := agent{
		Label: label, ProgramArguments: append([]string{d.Program}, d.Arguments...), WorkingDirectory: d.Folder,
		EnvironmentVariables: d.Environment, Umask: d.Umask, RunAtLoad: true,
		KeepAlive: map[string]bool{"Crashed": true}, ThrottleInterval: 30,
		ExitTimeOut:        int((d.Grace + time.Second - 1) / time.Second),
		SoftResourceLimits: map[string]int{"Core": 0},
		Record:             string(raw),
	}
	if d.System {
		job.UserName = d.User
	}
	var b bytes.Buffer
	enc := plist.NewEncoderForFormat(&b, plist.XMLFormat)
	enc.Indent("\t")
	if err := enc.Encode(job); err != nil {
		return "", fmt.Errorf("writing the property list: %w", err)
	}
	return b.String() + "\n", nil
}

// readLaunchd finds the Definition that a property list of ours was rendered from.
func readLaunchd(text []byte) (Definition, error) {
	var job agent
	if _, err := plist.Unmarshal(text, &job); err != nil {
		return Definition{}, fmt.Errorf("it is no property list: %w", err)
	}
	if job.Record == "" {
		return Definition{}, errNoRecord
	}
	var d Definition
	if err := json.Unmarshal([]byte(job.Record), &d); err != nil {
		return Definition{}, fmt.Errorf("its record can't be read: %w", err)
	}
	return d, nil
}
