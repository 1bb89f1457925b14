// Package failuretest lets tests say which named failure they produce.
//
// The catalogue's own test reads every test in the tree and demands that each name stands in a call of Produced, so
// that no entry of the catalogue is a name that nothing can meet.
package failuretest

import (
	"testing"

	"brabo.dev/runner/runner/failure"
)

// Produced fails the test unless got, an error, a *failure.Failure or a failure.Name, is the failure called want
// and, where it is more than a name, says what was touched, the cause and the next step.
func Produced(t testing.TB, got any, want failure.Name) *failure.Failure {
	t.Helper()
	var f *failure.Failure
	switch g := got.(type) {
	case nil:
		t.Fatalf("no failure, want %s", want)
	case failure.Name:
		if g != want {
			t.Fatalf("failure %s, want %s", g, want)
		}
		return nil
	case *failure.Failure:
		f = g
	case error:
		f = failure.As(g)
	default:
		t.Fatalf("Produced does not know what to do with %T", got)
	}
	if f == nil {
		t.Fatalf("not a named failure: %v, want %s", got, want)
		return nil
	}
	if f.Name != want {
		t.Fatalf("failure %s, want %s\n%v", f.Name, want, f)
	}
	if f.Subject == "" || f.Cause == "" || f.Next == "" {
		t.Errorf("%s does not say subject, cause and next step: %+v", f.Name, *f)
	}
	return f
}
