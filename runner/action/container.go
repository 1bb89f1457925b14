package action

import (
	"encoding/json"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Events of project containers (protocol.md 4.4).
const (
	EventContainerStart        = "container_start"
	EventContainerStartResult  = "container_start_result"
	EventContainerStop         = "container_stop"
	EventContainerStopResult   = "container_stop_result"
	EventContainerRemove       = "container_remove"
	EventContainerRemoveResult = "container_remove_result"
)

// Container is one of the three container actions.
type Container struct {
	Event string
	Ref   string
	// Spec is that of a start and WorkspaceDirName that of the two others, neither looked at yet: their rules are
	// those of the room that starts containers.
	Spec, WorkspaceDirName json.RawMessage
	Deadline               time.Duration // from receipt; zero where the server sent none
	Decision               *Decision     // nil where the server does not say
}

// DecodeContainer reads a container action. As with DecodeExec the Ref is set if it could be read.
func DecodeContainer(event string, raw json.RawMessage, granted Extensions) (Container, *failure.Failure) {
	c := Container{Event: event}
	f, fail := object(event, raw)
	if fail != nil {
		return c, fail
	}
	if c.Ref, fail = f.ref(event); fail != nil {
		return c, fail
	}
	field := "workspaceDirName"
	if event == EventContainerStart {
		field = "spec"
	}
	value, there := f[field]
	if !there || isNull(value) {
		return c, malformed(event, "`%s` is missing", field)
	}
	if event == EventContainerStart {
		c.Spec = value
	} else {
		c.WorkspaceDirName = value
	}
	c.Deadline, c.Decision, fail = f.terms(event, granted)
	return c, fail
}

// ContainerResult answers a Container action on the event of the same name with _result behind it.
type ContainerResult struct {
	Ref     string `json:"ref"`
	Sucesso bool   `json:"sucesso"`
	Erro    string `json:"erro,omitempty"`
	// The three of a successful start.
	ContainerID  string           `json:"containerId,omitempty"`
	Nome         string           `json:"nome,omitempty"`
	JaEstavaDePe *bool            `json:"jaEstavaDePe,omitempty"`
	Failure      *failure.Failure `json:"failure,omitempty"`
}

// ContainerFailed answers a container action that did not do what it should.
func ContainerFailed(ref string, fail *failure.Failure) ContainerResult {
	return ContainerResult{Ref: ref, Erro: fail.Error(), Failure: fail}
}
