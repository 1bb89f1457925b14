package action

import (
	"encoding/json"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Exec is one approved command (protocol.md 4.1).
type Exec struct {
	Ref     string
	Command string // Bash text, not empty, without NUL
	// Cwd is absolute as sent, or empty where the message had null or none, which means the project root.
	Cwd string
	// Env is a git credential, for example. Its values are secrets: never logged, never stored.
	Env map[string]string
	// GitCredentialed marks the authenticated git operation of newer servers (gitCredenciado).
	GitCredentialed bool
	// Deadline counts from receipt; zero where the server sent none.
	Deadline time.Duration
	// Decision is nil where the server does not say.
	Decision *Decision
}

// DecodeExec reads an exec. Extension fields count only where granted. On a failure the Ref is set if it could be
// read, so that the failure can be answered on exec_result.
func DecodeExec(raw json.RawMessage, granted Extensions) (Exec, *failure.Failure) {
	f, fail := object(EventExec, raw)
	if fail != nil {
		return Exec{}, fail
	}
	var e Exec
	if e.Ref, fail = f.ref(EventExec); fail != nil {
		return e, fail
	}
	if e.Command, fail = f.text(EventExec, "command"); fail != nil {
		return e, fail
	}
	if strings.TrimSpace(e.Command) == "" {
		return e, failure.New(failure.CommandEmpty, EventExec+" "+e.Ref)
	}
	if strings.ContainsRune(e.Command, 0) {
		return e, failure.New(failure.CommandNUL, EventExec+" "+e.Ref)
	}
	if e.Cwd, fail = f.cwd(EventExec); fail != nil {
		return e, fail
	}
	if e.Env, fail = f.env(EventExec); fail != nil {
		return e, fail
	}
	e.GitCredentialed = string(f["gitCredenciado"]) == "true"
	e.Deadline, e.Decision, fail = f.terms(EventExec, granted)
	return e, fail
}

// cwd reads the working directory: null and absence are the project root, an empty string is a mistake.
func (f fields) cwd(event string) (string, *failure.Failure) {
	raw, there := f["cwd"]
	if !there || isNull(raw) {
		return "", nil
	}
	cwd, fail := f.text(event, "cwd")
	if fail != nil {
		return "", fail
	}
	if cwd == "" {
		return "", failure.New(failure.CwdNotAbsolute, "cwd").Because("the working directory is an empty string")
	}
	return cwd, nil
}

// DecodeExecCancel reads an exec_cancel: the ref of the action to end, and why, if the server says.
func DecodeExecCancel(raw json.RawMessage) (ref, reason string, fail *failure.Failure) {
	f, fail := object(EventExecCancel, raw)
	if fail != nil {
		return "", "", fail
	}
	if ref, fail = f.ref(EventExecCancel); fail != nil {
		return "", "", fail
	}
	if raw, there := f["reason"]; there && !isNull(raw) {
		if reason, fail = f.text(EventExecCancel, "reason"); fail != nil {
			return "", "", fail
		}
	}
	return ref, reason, nil
}

// ExecResult answers an Exec (protocol.md 4.1).
type ExecResult struct {
	Ref      string           `json:"ref"`
	ExitCode int              `json:"exitCode"` // -1: no real code
	Output   string           `json:"output"`   // stdout and stderr in order of arrival
	TimedOut bool             `json:"timedOut"`
	Failure  *failure.Failure `json:"failure,omitempty"`
}

// The beginnings of the texts that tell a person, in a field made for output, why there is none (protocol.md 4.1).
const (
	refusedText  = "[runner recusou o comando: "
	notStartText = "[runner: falha ao iniciar o comando: "
	endedText    = "[runner: "
)

// Refused is the answer to a command that did not run because of fail.
func Refused(ref string, fail *failure.Failure) ExecResult {
	begin := refusedText
	if fail.Name == failure.CouldNotStart {
		begin = notStartText
	}
	return ExecResult{Ref: ref, ExitCode: -1, Output: begin + fail.Error() + "]", Failure: fail}
}

// NoticeRoom is how many bytes WithNotice adds to an output at most. Who bounds an output leaves this much.
const NoticeRoom = 512

// WithNotice adds to output why a command has no exit code, for servers that do not read the failure field.
func WithNotice(output string, fail *failure.Failure) string {
	text := endedText + fail.Error()
	const room = NoticeRoom - len("\n]")
	if len(text) > room {
		text = strings.ToValidUTF8(text[:room], "")
	}
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	return output + text + "]"
}
