// Package action is the vocabulary of the wire: the messages both ways as Go types, their decoding and validation.
//
// Names of events and fields are those of protocol.md, also where they are Portuguese. Decoding is strict about the
// fields that it knows and ignores the ones that it does not; member names are compared exactly, which encoding/json
// alone would not do. A message that breaks a rule becomes a named failure, never a silent drop.
package action

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Events of the project's channel that are known by now (protocol.md section 4 and 12).
const (
	EventExec             = "exec"
	EventExecResult       = "exec_result"
	EventExecCancel       = "exec_cancel"
	EventWorkspaceConfirm = "workspace_confirm"
)

// maxRef is the longest ref that is taken, in bytes; the contract's are UUIDs.
const maxRef = 256

// Limits of deadlineMs (protocol.md section 12).
const (
	MinDeadline = time.Second
	MaxDeadline = 24 * time.Hour
)

// Decision says who decided (protocol.md section 12).
type Decision struct {
	Kind string    `json:"kind"` // "human" or "policy"
	By   string    `json:"by,omitempty"`
	Rule string    `json:"rule,omitempty"`
	At   time.Time `json:"at"`
	// Environment is InContainer where the person saw that the command runs inside of the project's container, and so did
	// not allow it anywhere else. Empty: wherever the project's commands run.
	Environment string `json:"environment,omitempty"`
}

// InContainer is the Environment inside of the project's container.
const InContainer = "container"

// fields are a message's members by their exact names, not yet decoded.
type fields map[string]json.RawMessage

// object reads raw as an object. The error is a MalformedAction about event.
func object(event string, raw json.RawMessage) (fields, *failure.Failure) {
	var f fields
	if err := json.Unmarshal(raw, &f); err != nil || f == nil {
		return nil, malformed(event, "the payload is not an object").Wrap(err)
	}
	return f, nil
}

func malformed(event, format string, args ...any) *failure.Failure {
	return failure.New(failure.MalformedAction, event).Because(format, args...)
}

// text reads a required string member.
func (f fields) text(event, name string) (string, *failure.Failure) {
	raw, there := f[name]
	if !there {
		return "", malformed(event, "`%s` is missing", name)
	}
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil {
		return "", malformed(event, "`%s` is not a string", name)
	}
	return *s, nil
}

// ref reads the correlation of an action. It is given back also when it is too long, so that it can be answered.
func (f fields) ref(event string) (string, *failure.Failure) {
	ref, fail := f.text(event, "ref")
	if fail != nil {
		return "", fail
	}
	if ref == "" {
		return "", malformed(event, "`ref` is empty")
	}
	if len(ref) > maxRef {
		return ref, malformed(event, "`ref` is longer than %d bytes", maxRef)
	}
	return ref, nil
}

// deadline reads deadlineMs; zero where there is none.
func (f fields) deadline(event string) (time.Duration, *failure.Failure) {
	raw, there := f["deadlineMs"]
	if !there {
		return 0, nil
	}
	var ms int64
	err := json.Unmarshal(raw, &ms)
	// Beyond the range the multiplication below could overflow, so the number is judged first.
	if err != nil || ms < MinDeadline.Milliseconds() || ms > MaxDeadline.Milliseconds() || isNull(raw) {
		return 0, failure.New(failure.InvalidDeadline, event).Wrap(err)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// env reads the names and values that the action carries; nil where there are none.
func (f fields) env(event string) (map[string]string, *failure.Failure) {
	raw, there := f["env"]
	if !there {
		return nil, nil
	}
	var loose map[string]*string
	if err := json.Unmarshal(raw, &loose); err != nil || loose == nil {
		// The error of the decoder may quote a value, which may be a secret: it is left out.
		return nil, failure.New(failure.InvalidEnv, event+" env")
	}
	env := make(map[string]string, len(loose))
	for name, value := range loose {
		if value == nil {
			return nil, failure.New(failure.InvalidEnv, event+" env").Because("the value of %q is not a string", name)
		}
		env[name] = *value
	}
	return env, nil
}

// decision reads who decided; nil where the message does not say.
func (f fields) decision(event string) (*Decision, *failure.Failure) {
	raw, there := f["decision"]
	if !there || isNull(raw) {
		return nil, nil
	}
	d := new(Decision)
	if err := json.Unmarshal(raw, d); err != nil {
		return nil, malformed(event, "`decision` does not have its form").Wrap(err)
	}
	if d.Kind != "human" && d.Kind != "policy" {
		return nil, malformed(event, "`decision.kind` is %q, not human or policy", d.Kind)
	}
	if d.At.IsZero() {
		return nil, malformed(event, "`decision.at` does not say when")
	}
	if d.Environment != "" && d.Environment != InContainer { // it bounds where the action may run, in a way that is not known
		return nil, malformed(event, "`decision.environment` is %q, not %s", d.Environment, InContainer)
	}
	return d, nil
}

// terms reads the fields of the extensions that every action may carry, as far as they were granted.
func (f fields) terms(event string, granted Extensions) (deadline time.Duration, decision *Decision, fail *failure.Failure) {
	if granted.Has(ExtDeadline) {
		if deadline, fail = f.deadline(event); fail != nil {
			return 0, nil, fail
		}
	}
	if granted.Has(ExtDecision) {
		if decision, fail = f.decision(event); fail != nil {
			return 0, nil, fail
		}
		if decision == nil {
			// A server that agreed to say who decided and does not is read as "no person did".
			decision = &Decision{Kind: "policy"}
		}
	}
	return deadline, decision, nil
}

func isNull(raw json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(raw), []byte("null")) }

// Digest identifies an action's content: the SHA-256 of its canonical JSON without deadlineMs, decision and env,
// which may differ when the same action is sent again (design.md).
func Digest(raw json.RawMessage) ([sha256.Size]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var members map[string]any
	if err := dec.Decode(&members); err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("reading the action's content: %w", err)
	}
	for _, name := range []string{"deadlineMs", "decision", "env"} {
		delete(members, name)
	}
	canonical, err := json.Marshal(members)
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("writing the action's canonical content: %w", err)
	}
	return sha256.Sum256(canonical), nil
}
