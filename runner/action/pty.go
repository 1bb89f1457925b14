package action

import (
	"encoding/json"
	"math"

	"brabo.dev/runner/runner/failure"
)

// Events of terminals (protocol.md 4.5, and 12 for the last). They are neither journalled nor acknowledged.
const (
	EventPtyOpen   = "pty_open"
	EventPtyOpened = "pty_opened"
	EventPtyError  = "pty_error"
	EventPtyInput  = "pty_input"
	EventPtyData   = "pty_data"
	EventPtyResize = "pty_resize"
	EventPtyClose  = "pty_close"
	EventPtyClosed = "pty_closed"
)

// Capabilities that a runner declares (protocol.md 3.4).
const (
	CapabilityExec      = "exec"
	CapabilityPTY       = "pty" // terminals
	CapabilityMirror    = "espelho"
	CapabilityWorkspace = "workspace" // project folders below a base
)

// PtyOpen asks for a terminal.
type PtyOpen struct {
	SessionRef string
	Cols, Rows int    // in characters, at least 1
	By         string // who opened it, where the server says so; for the log alone
}

// DecodePtyOpen reads a pty_open. As with DecodeExec the SessionRef is set if it could be read.
func DecodePtyOpen(raw json.RawMessage) (PtyOpen, *failure.Failure) {
	f, ref, fail := ptyFields(EventPtyOpen, raw)
	p := PtyOpen{SessionRef: ref}
	if fail != nil {
		return p, fail
	}
	if by, fail := f.text(EventPtyOpen, "by"); fail == nil && len(by) <= maxRef {
		p.By = by
	}
	p.Cols, p.Rows, fail = f.size(EventPtyOpen)
	return p, fail
}

// DecodePtyInput reads a pty_input: bytes for the terminal, as they were typed.
func DecodePtyInput(raw json.RawMessage) (ref string, data []byte, fail *failure.Failure) {
	f, ref, fail := ptyFields(EventPtyInput, raw)
	if fail != nil {
		return ref, nil, fail
	}
	if err := json.Unmarshal(f["data"], &data); err != nil || data == nil {
		// The decoder's words may quote what was typed, which may be a password.
		return ref, nil, malformed(EventPtyInput, "`data` is not base64")
	}
	return ref, data, nil
}

// DecodePtyResize reads a pty_resize.
func DecodePtyResize(raw json.RawMessage) (ref string, cols, rows int, fail *failure.Failure) {
	f, ref, fail := ptyFields(EventPtyResize, raw)
	if fail == nil {
		cols, rows, fail = f.size(EventPtyResize)
	}
	return ref, cols, rows, fail
}

// DecodePtyClose reads the reference of a pty_close.
func DecodePtyClose(raw json.RawMessage) (ref string, fail *failure.Failure) {
	_, ref, fail = ptyFields(EventPtyClose, raw)
	return ref, fail
}

func ptyFields(event string, raw json.RawMessage) (fields, string, *failure.Failure) {
	f, fail := object(event, raw)
	if fail != nil {
		return nil, "", fail
	}
	ref, fail := f.text(event, "sessionRef")
	switch {
	case fail != nil:
		return nil, "", fail
	case ref == "":
		return nil, "", malformed(event, "`sessionRef` is empty")
	case len(ref) > maxRef:
		return nil, ref, malformed(event, "`sessionRef` is longer than %d bytes", maxRef)
	}
	return f, ref, nil
}

// size reads cols and rows. A hidden tab may have measured nothing or a fraction: what is below 1 counts as 1.
func (f fields) size(event string) (cols, rows int, fail *failure.Failure) {
	for _, m := range []struct {
		name string
		n    *int
	}{{"cols", &cols}, {"rows", &rows}} {
		var number *float64
		if err := json.Unmarshal(f[m.name], &number); err != nil || number == nil {
			return 0, 0, malformed(event, "`%s` is not a number", m.name)
		}
		*m.n = int(min(max(*number, 1), math.MaxUint16))
	}
	return cols, rows, nil
}

// PtyOpened tells that a terminal is open.
type PtyOpened struct {
	SessionRef string `json:"sessionRef"`
}

// PtyError tells that a terminal could not be opened, or, to a server without ExtPtyClosed, that it has ended.
type PtyError struct {
	SessionRef string           `json:"sessionRef"`
	Message    string           `json:"message"`
	Failure    *failure.Failure `json:"failure,omitempty"`
}

// PtyFailed answers a PtyOpen with a failure.
func PtyFailed(ref string, f *failure.Failure) PtyError {
	return PtyError{SessionRef: ref, Message: f.Error(), Failure: f}
}

// PtyData is what came from a terminal: bytes of any kind, cut anywhere.
type PtyData struct {
	SessionRef string `json:"sessionRef"`
	Data       []byte `json:"data"`
}

// PtyClosed tells that the shell ended by itself (protocol.md section 12).
type PtyClosed struct {
	SessionRef string `json:"sessionRef"`
	ExitCode   *int   `json:"exitCode,omitempty"` // nil where a signal ended it, or nobody knows
	Signal     string `json:"signal,omitempty"`
}
