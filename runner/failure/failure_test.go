package failure_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestFailurePrintsAsOneParagraph(t *testing.T) {
	f := failure.New(failure.RootNotWritable, "/home/ana/loja").Because("the folder belongs to root, mode 0755, and we are ana").
		Then("chown it, or choose another folder.").Wrap(fs.ErrPermission)
	want := "root_not_writable: /home/ana/loja: the folder belongs to root, mode 0755, and we are ana (permission denied). chown it, or choose another folder."
	if f.Error() != want {
		t.Errorf("got  %s\nwant %s", f.Error(), want)
	}
	if !errors.Is(f, fs.ErrPermission) {
		t.Error("the underlying error is lost")
	}
}

func TestFailureMarshalsWithoutItsUnderlyingError(t *testing.T) {
	f := failure.New(failure.DiskFull, "/x").Wrap(errors.New("not for the wire"))
	raw, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var back failure.Failure
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*f, back, cmpopts.IgnoreFields(failure.Failure{}, "Err")); diff != "" {
		t.Error(diff)
	}
	if err := json.Unmarshal([]byte(`[]`), &back); err == nil {
		t.Error("an array was read as a failure")
	}
}

func TestFailureIsFoundInAChain(t *testing.T) {
	err := fmt.Errorf("preparing the project: %w", failure.New(failure.DiskFull, "/x"))
	failuretest.Produced(t, err, failure.DiskFull)
	if !failure.Is(err, failure.DiskFull) || failure.Is(err, failure.Internal) || failure.Is(nil, failure.DiskFull) {
		t.Error("Is is wrong")
	}
}

func TestNothingStaysWithoutAName(t *testing.T) {
	plain := errors.New("surprise")
	failuretest.Produced(t, failure.From(plain, "the frobnicator"), failure.Internal)
	named := failure.New(failure.DiskFull, "/x")
	if failure.From(named, "other") != named {
		t.Error("a named failure was renamed")
	}
}
