package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestOldActionsAreForgottenAndUndeliveredOnesWithARecord(t *testing.T) {
	o := ordinary(t)
	now := time.UnixMilli(1_800_000_000_000)
	var dropped []string
	o.Keep = time.Hour
	o.Now = func() time.Time { return now }
	o.Dropped = func(d Due) { dropped = append(dropped, d.Key.Ref) }
	var log bytes.Buffer
	o.Log = slog.New(slog.NewJSONHandler(&log, nil))
	j := open(t, o)
	done(t, j, "delivered")
	must(t, j.Delivered(outbox(t, j)[0]))
	done(t, j, "undelivered")
	receive(t, j, command("running", "sleep 1d"))
	must(t, j.Begin(key("running")))
	now = now.Add(50 * time.Minute)
	done(t, j, "young")
	now = now.Add(30 * time.Minute)
	receive(t, j, command("next", "ls"))
	now = now.Add(65 * time.Minute) // more than an hour after the last look
	receive(t, j, command("last", "ls"))

	if diff := cmp.Diff([]string{"undelivered", "young"}, dropped); diff != "" {
		t.Error(diff)
	}
	var line struct{ Failure *failure.Failure }
	must(t, json.Unmarshal(log.Bytes()[:bytes.IndexByte(log.Bytes(), '\n')], &line))
	failuretest.Produced(t, line.Failure, failure.ResultDropped)
	records, err := j.List(Filter{})
	must(t, err)
	var left []string
	for _, r := range records {
		left = append(left, r.Key.Ref)
	}
	if diff := cmp.Diff([]string{"last", "next", "running"}, left); diff != "" {
		t.Error(diff)
	}
	if known := receive(t, j, command("running", "sleep 1d")); known != Running {
		t.Errorf("a running action was forgotten: %v", known)
	}
	if known := receive(t, j, command("delivered", "something else")); known != New {
		t.Errorf("a ref is remembered beyond its time: %v", known)
	}
}

func TestSizeHoldsAndDeliveredActionsGoFirst(t *testing.T) {
	o := ordinary(t)
	o.Size = 4 << 20
	var dropped []string
	o.Dropped = func(d Due) { dropped = append(dropped, d.Key.Ref) }
	j := open(t, o)
	big := result(strings.Repeat("x", 64<<10))
	finish := func(ref string) {
		receive(t, j, command(ref, "ls"))
		must(t, j.Finish(key(ref), big))
	}
	receive(t, j, command("running", "ls"))
	for i := range 20 {
		finish(fmt.Sprint("undelivered", i))
	}
	for i := range 200 {
		finish(fmt.Sprint("delivered", i))
		due := outbox(t, j)
		must(t, j.Delivered(due[len(due)-1]))
	}
	if len(dropped) > 0 || len(outbox(t, j)) != 20 {
		t.Errorf("undelivered results went before delivered ones: %v", dropped)
	}
	for i := range 100 {
		finish(fmt.Sprint("more", i))
	}
	if len(dropped) < 20 || dropped[0] != "undelivered0" || dropped[19] != "undelivered19" {
		t.Errorf("dropped %v", dropped)
	}
	if n := len(outbox(t, j)); n+len(dropped) != 120 {
		t.Errorf("%d dropped with a record and %d due, of 120", len(dropped), n)
	}
	if known := receive(t, j, command("running", "ls")); known != Running {
		t.Errorf("a running action was forgotten: %v", known)
	}
	must(t, j.Close())
	info, err := os.Stat(j.path(fileName))
	must(t, err)
	if limit := o.Size + trimBytes + 256<<10; info.Size() > limit {
		t.Errorf("the file has %d bytes", info.Size())
	}
}

func TestSmallerSizeShrinksTheFileWhenItIsOpened(t *testing.T) {
	o := ordinary(t)
	j, err := Open(o)
	must(t, err)
	for i := range 100 {
		ref := fmt.Sprint(i)
		receive(t, j, command(ref, "ls"))
		must(t, j.Finish(key(ref), result(strings.Repeat("x", 64<<10))))
	}
	must(t, j.Close())
	o.Size = 1 << 20
	j = open(t, o)
	must(t, j.Close())
	info, err := os.Stat(j.path(fileName))
	must(t, err)
	if info.Size() > o.Size {
		t.Errorf("the file has %d bytes", info.Size())
	}
}
