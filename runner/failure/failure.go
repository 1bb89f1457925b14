// Package failure is the catalogue of everything that can go wrong in front of a person.
//
// A Failure has a stable name, says what was being touched, the probable cause and the next step. The names and
// their standard texts stand in the catalogue's files, one for each area and one entry a name; code that meets a failure picks its name and adds
// what only it knows. This package imports nothing of ours, so that every other room may use it.
package failure

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Failure is a named failure. It is an error, prints as one paragraph, and marshals to the object
// {name, subject, cause, next} that results carry on the wire (protocol.md section 12).
type Failure struct {
	// Name is the stable, snake_case name from the catalogue.
	Name Name
	// Subject is what was being touched: a path, an environment variable, an image, a container.
	Subject string
	// Cause is the probable cause in plain words.
	Cause string
	// Next is what the person can do about it.
	Next string
	// Err is the underlying error, or nil. It appears in Error but not on the wire.
	Err error
}

// New makes the failure called name about subject, with cause and next step as the catalogue has them.
func New(name Name, subject string) *Failure {
	e := catalogue[name]
	return &Failure{Name: name, Subject: subject, Cause: e.cause, Next: e.next}
}

// Because replaces the probable cause.
func (f *Failure) Because(format string, args ...any) *Failure {
	f.Cause = fmt.Sprintf(format, args...)
	return f
}

// Then replaces the next step.
func (f *Failure) Then(format string, args ...any) *Failure {
	f.Next = fmt.Sprintf(format, args...)
	return f
}

// Wrap keeps err as the underlying error, for errors.Is and errors.As and for the log.
func (f *Failure) Wrap(err error) *Failure {
	f.Err = err
	return f
}

// Error is the whole failure as one paragraph: name, subject, cause, next step.
func (f *Failure) Error() string {
	var b strings.Builder
	b.WriteString(string(f.Name))
	if f.Subject != "" {
		fmt.Fprintf(&b, ": %s", f.Subject)
	}
	if f.Cause != "" {
		fmt.Fprintf(&b, ": %s", f.Cause)
	}
	if f.Err != nil && !strings.Contains(f.Cause, f.Err.Error()) {
		fmt.Fprintf(&b, " (%v)", f.Err)
	}
	if f.Next != "" {
		if s := b.String(); !strings.HasSuffix(s, ".") {
			b.WriteByte('.')
		}
		fmt.Fprintf(&b, " %s", f.Next)
	}
	return b.String()
}

// Unwrap gives the underlying error.
func (f *Failure) Unwrap() error { return f.Err }

// wire is the form of protocol.md section 12.
type wire struct {
	Name    Name   `json:"name"`
	Subject string `json:"subject"`
	Cause   string `json:"cause"`
	Next    string `json:"next"`
}

// MarshalJSON writes {name, subject, cause, next}; the underlying error stays here.
func (f *Failure) MarshalJSON() ([]byte, error) {
	return json.Marshal(wire{f.Name, f.Subject, f.Cause, f.Next})
}

// UnmarshalJSON reads what MarshalJSON wrote. Any name is accepted: a newer peer may know more of them.
func (f *Failure) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return fmt.Errorf("reading a failure: %w", err)
	}
	*f = Failure{Name: w.Name, Subject: w.Subject, Cause: w.Cause, Next: w.Next}
	return nil
}

// As finds the first Failure in err's chain, or nil.
func As(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	return nil
}

// Is reports whether err's chain holds a Failure called name.
func Is(err error, name Name) bool {
	f := As(err)
	return f != nil && f.Name == name
}

// From gives err's Failure, or wraps err as Internal about subject: nothing reaches a person without a name.
func From(err error, subject string) *Failure {
	if f := As(err); f != nil {
		return f
	}
	return New(Internal, subject).Because("%v", err).Wrap(err)
}
