package action

import (
	"encoding/json"
	"slices"
)

// Extension is one of ours beyond the contract, negotiated at the join (protocol.md section 12).
type Extension string

// The extensions that work in this version.
const (
	ExtAck      Extension = "ack"      // every result push is answered once it is stored
	ExtDeadline Extension = "deadline" // actions carry deadlineMs
	ExtDecision Extension = "decision" // actions say who decided
	ExtCancel   Extension = "cancel"   // exec_cancel
	ExtOutput   Extension = "output"   // exec_output while a command runs
	ExtProgress Extension = "progress" // action_progress of pulls, clones and mirrors
	ExtAction   Extension = "action"   // typed actions

	ExtPtyClosed Extension = "pty_closed" // a shell that ends by itself is announced
)

// Known lists the extensions that work in this version, in the order in which they are declared.
func Known() []Extension {
	return []Extension{ExtAck, ExtDeadline, ExtDecision, ExtCancel, ExtOutput, ExtProgress, ExtPtyClosed, ExtAction}
}

// Extensions are the granted ones. The zero value is a server without any.
type Extensions []Extension

// Has reports whether x was granted.
func (e Extensions) Has(x Extension) bool { return slices.Contains(e, x) }

// Join is the parameter object of the join (protocol.md 3.4).
type Join struct {
	Capacidades []string `json:"capacidades"`
}

// capability prefix of an extension in the capabilities list.
const extPrefix = "ext:"

// NewJoin declares capabilities and extensions.
func NewJoin(capabilities []string, extensions []Extension) Join {
	names := slices.Clone(capabilities)
	for _, x := range extensions {
		names = append(names, extPrefix+string(x))
	}
	return Join{names}
}

// Declared splits what a runner declared: capabilities, and those of ours that are known here. A list that is
// missing, empty or no list means the legacy set (protocol.md 3.4).
func Declared(params json.RawMessage) (capabilities []string, extensions Extensions) {
	var join struct {
		Capacidades []string `json:"capacidades"`
	}
	if err := json.Unmarshal(params, &join); err != nil || len(join.Capacidades) == 0 {
		return []string{"exec", "pty"}, nil
	}
	for _, name := range join.Capacidades {
		if len(name) > len(extPrefix) && name[:len(extPrefix)] == extPrefix {
			if x := Extension(name[len(extPrefix):]); slices.Contains(Known(), x) && !extensions.Has(x) {
				extensions = append(extensions, x)
			}
			continue
		}
		capabilities = append(capabilities, name)
	}
	return capabilities, extensions
}

// JoinReply is what the server answers to a join (protocol.md 3.5 and 12).
type JoinReply struct {
	Extensions Extensions `json:"extensions,omitempty"`
}

// Granted reads the extensions that a join's reply grants: those that are known and were declared. Whatever else
// the reply holds is none.
func Granted(reply json.RawMessage, declared []Extension) Extensions {
	var r struct {
		Extensions []string `json:"extensions"`
	}
	if err := json.Unmarshal(reply, &r); err != nil {
		return nil
	}
	var granted Extensions
	for _, name := range r.Extensions {
		if x := Extension(name); slices.Contains(declared, x) && !granted.Has(x) {
			granted = append(granted, x)
		}
	}
	return granted
}

// WorkspaceConfirm tells the server the project root (protocol.md 4.2).
type WorkspaceConfirm struct {
	Path string `json:"path"`
}
