package journal

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestJournalKnowsWhatItReceivedAlsoAfterARestart(t *testing.T) {
	o := ordinary(t)
	for _, step := range []struct {
		text   string
		before string // what happens first
		want   Known
	}{
		{"ls", "", New},
		{"ls", "", Running},
		{"ls", "restart", Running},
		{"rm", "", Reused},
		{"ls", "begin", Running},
		{"ls", "restart", Running},
		{"ls", "finish", Finished},
		{"rm", "", Reused},
		{"ls", "restart", Finished},
	} {
		j, err := Open(o)
		must(t, err)
		switch step.before {
		case "begin":
			must(t, j.Begin(key("a")))
		case "finish":
			must(t, j.Finish(key("a"), result("done")))
		}
		if got := receive(t, j, command("a", step.text)); got != step.want {
			t.Errorf("%+v: %v", step, got)
		}
		must(t, j.Close())
	}
}

func TestSameRefElsewhereIsAnotherAction(t *testing.T) {
	j := open(t, ordinary(t))
	for _, k := range []Key{{"s", "p", "e", "r"}, {"s2", "p", "e", "r"}, {"s", "p2", "e", "r"}, {"s", "p", "e2", "r"}, {"s", "p", "e", "r2"}} {
		if known := receive(t, j, Action{Key: k}); known != New {
			t.Errorf("%v: %v", k, known)
		}
		must(t, j.Finish(k, result("x")))
	}
	due, err := j.Due("s2", "p", 0)
	must(t, err)
	if len(due) != 1 || due[0].Key.Server != "s2" {
		t.Errorf("a server is due what is another's: %+v", due)
	}
}

func TestResultsAreDueInTheOrderInWhichTheyFinished(t *testing.T) {
	o := ordinary(t)
	j, err := Open(o)
	must(t, err)
	for _, ref := range []string{"a", "b", "c", "d"} {
		receive(t, j, command(ref, "ls"))
	}
	for _, ref := range []string{"b", "c", "a"} {
		must(t, j.Finish(key(ref), result(ref)))
	}
	must(t, j.Close())
	j = open(t, o)
	must(t, j.Finish(key("d"), result("d")))
	if diff := cmp.Diff([]string{"b", "c", "a", "d"}, refs(t, j)); diff != "" {
		t.Error(diff)
	}
	due := outbox(t, j)
	if diff := cmp.Diff(result("b"), due[0].Result); diff != "" {
		t.Error(diff)
	}
	for i := 1; i < len(due); i++ {
		if due[i].Serial <= due[i-1].Serial {
			t.Errorf("serials don't grow: %+v", due)
		}
	}
}

func TestLargeOutboxComesInParts(t *testing.T) {
	j := open(t, ordinary(t))
	for i := range 1100 {
		ref := fmt.Sprint(i)
		receive(t, j, command(ref, "ls"))
		must(t, j.Finish(key(ref), result(ref)))
	}
	big := strings.Repeat("x", 1<<20)
	for i := range 10 {
		ref := fmt.Sprint("big", i)
		receive(t, j, command(ref, "ls"))
		must(t, j.Finish(key(ref), result(big)))
	}
	var parts []int
	for after := uint64(0); ; {
		due, err := j.Due(server, project, after)
		must(t, err)
		if len(due) == 0 {
			break
		}
		parts = append(parts, len(due))
		after = due[len(due)-1].Serial
	}
	if diff := cmp.Diff([]int{1000, 108, 2}, parts); diff != "" {
		t.Error(diff)
	}
}

func TestDeliveredResultIsDueAgainOnlyWhenItWasAskedForAgain(t *testing.T) {
	j := open(t, ordinary(t))
	done(t, j, "a")
	old := outbox(t, j)
	receive(t, j, command("a", "ls")) // asked again while the first delivery is under way
	must(t, j.Delivered(old[0]))
	if diff := cmp.Diff([]string{"a"}, refs(t, j)); diff != "" {
		t.Error("the second answer was lost with the first:", diff)
	}
	must(t, j.Delivered(outbox(t, j)[0]))
	if len(refs(t, j)) > 0 {
		t.Error("a delivered result is still due")
	}
}

func TestSecondResultOfAnActionIsIgnored(t *testing.T) {
	j := open(t, ordinary(t))
	receive(t, j, command("a", "ls"))
	for _, text := range []string{"first", "second"} {
		must(t, j.Finish(key("a"), result(text)))
	}
	must(t, j.Finish(key("never received"), result("x")))
	due := outbox(t, j)
	if len(due) != 1 || !strings.Contains(string(due[0].Result.Payload), "first") {
		t.Errorf("%+v", due)
	}
}

func TestOnlyWhatWaitsMayBegin(t *testing.T) {
	j := open(t, ordinary(t))
	if err := j.Begin(key("never received")); err == nil {
		t.Error("an action that is not in the journal may begin")
	}
	done(t, j, "a")
	if err := j.Begin(key("a")); err == nil {
		t.Error("a finished action may begin")
	}
	receive(t, j, command("b", "ls"))
	must(t, j.Begin(key("b")))
	if err := j.Begin(key("b")); err == nil {
		t.Error("an action may begin twice")
	}
}

func TestWhatAnEarlierDaemonLeftIsTold(t *testing.T) {
	o := ordinary(t)
	now := time.UnixMilli(1_800_000_000_000)
	o.Now = func() time.Time { return now }
	j, err := Open(o)
	must(t, err)
	waiting := Action{Key: key("waiting"), Payload: json.RawMessage(`{"command":"make","ref":"waiting"}`),
		Received: now.Add(-time.Minute), Deadline: now.Add(time.Minute)}
	receive(t, j, waiting)
	receive(t, j, Action{Key: key("secret"), Payload: json.RawMessage(`{"command":"git pull","env":{"A":"b"}}`)})
	receive(t, j, command("begun", "ls"))
	must(t, j.Begin(key("begun")))
	running := Process{PID: 4711, Group: 4711, Identity: "boot 99", Container: "c", Exec: "e"}
	receive(t, j, command("started", "ls"))
	must(t, j.Begin(key("started")))
	must(t, j.Started(key("started"), running))
	done(t, j, "done")
	if left, err := j.Unfinished(); err != nil || len(left) > 0 {
		t.Errorf("actions of this daemon are told as left behind: %+v, %v", left, err)
	}
	must(t, j.Close())

	j = open(t, o)
	receive(t, j, command("new", "ls"))
	left, err := j.Unfinished()
	must(t, err)
	want := []Unfinished{
		{Key: waiting.Key, Payload: waiting.Payload, Received: waiting.Received, Deadline: waiting.Deadline},
		{Key: key("secret"), Payload: json.RawMessage(`{"command":"git pull"}`), HadEnv: true, Received: now},
		{Key: key("begun"), Payload: command("begun", "ls").Payload, Received: now, Begun: now},
		{Key: key("started"), Payload: command("started", "ls").Payload, Received: now, Begun: now, Process: running},
	}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Error(diff)
	}
	must(t, j.Begin(key("waiting")))
	for _, u := range left {
		must(t, j.Finish(u.Key, result("interrupted")))
	}
	if left, err := j.Unfinished(); err != nil || len(left) > 0 {
		t.Errorf("%+v, %v", left, err)
	}
}

func TestClosedJournalSaysSo(t *testing.T) {
	j := open(t, ordinary(t))
	receive(t, j, command("a", "ls"))
	must(t, j.Close())
	_, received := j.Receive(command("b", "ls"))
	_, due := j.Due(server, project, 0)
	_, left := j.Unfinished()
	_, list := j.List(Filter{})
	for i, err := range []error{received, j.Begin(key("a")), j.Started(key("a"), Process{}), j.Finish(key("a"), result("x")),
		j.Delivered(Due{}), due, left, list} {
		if !errors.Is(err, errClosed) {
			t.Errorf("step %d: %v", i, err)
		}
	}
	must(t, j.Close())
}

func TestManyActionsAtOnceAreAllKept(t *testing.T) {
	o := ordinary(t)
	o.Size = 1 << 30
	j := open(t, o)
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for worker := range 8 {
		wg.Go(func() {
			for i := range 50 {
				ref := fmt.Sprint(worker, "-", i)
				a := Action{Key: key(ref), Digest: sha256.Sum256([]byte(ref)), Payload: json.RawMessage(`{"command":"ls"}`)}
				_, received := j.Receive(a)
				_, due := j.Due(server, project, 0)
				_, list := j.List(Filter{})
				err := errors.Join(received, j.Begin(a.Key), j.Started(a.Key, Process{PID: i}), j.Finish(a.Key, result(ref)), due, list)
				if err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	if n := len(outbox(t, j)); n != 400 {
		t.Errorf("%d results are due", n)
	}
}

func TestWaitingCountsWhatIsDueAndBytesWhatIsUsed(t *testing.T) {
	j := open(t, ordinary(t))
	count := func(project string, want int) {
		t.Helper()
		if n, err := j.Waiting(key("a").Server, project); err != nil || n != want {
			t.Errorf("%d wait in %q, not %d: %v", n, project, want, err)
		}
	}
	count("", 0)
	for _, ref := range []string{"a", "b"} {
		a := command(ref, "make")
		receive(t, j, a)
		must(t, j.Finish(a.Key, result(ref)))
	}
	count("", 2)
	count(key("a").Project, 2)
	count("another", 0)
	must(t, j.Delivered(outbox(t, j)[0]))
	count(key("a").Project, 1)
	if n, err := j.Bytes(); err != nil || n < 4096 {
		t.Errorf("%d bytes, %v", n, err)
	}
}
