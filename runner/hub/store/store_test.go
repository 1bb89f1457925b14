package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.UnixMicro(1_790_000_000_000_000)

func open(t testing.TB, folder string) *Store {
	t.Helper()
	s, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func update(t testing.TB, s *Store, f func(Tx) error) {
	t.Helper()
	if err := s.Update(f); err != nil {
		t.Fatal(err)
	}
}

func TestWhatWasKeptIsThereAfterARestart(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "hub")
	s := open(t, folder)
	by := "ana"
	want := Action{
		ID: "a1", Project: "p", Type: "git_merge", ProposerKind: "agent", Proposer: "dev-api", Session: "s", Status: "approved",
		Policy: "require_approval", Rule: "default", Reason: "nothing speaks", Proposal: []byte(`{"x":1}`), PullRequest: "7", Env: true,
		Deadline: time.Minute, Due: noon.Add(time.Hour), Sent: true, DecidedBy: &by, Decided: noon, Proposed: noon,
	}
	project := Project{ID: "p", Workspace: "w", Name: "Shop", Mode: "mounted", Root: "/home/ana/shop", DirName: "shop-1", AlsoInside: []string{"/tmp/x"}, Created: noon}
	daemon := Daemon{ID: "d", Name: "laptop", Owner: "ana", Machine: "m", Key: []byte("key"), Created: noon}
	grant := Grant{DeviceCode: Hash("code"), UserCode: "ABCD-EFGH", Name: "laptop", Machine: "m", Key: []byte("key"), State: "pending", Interval: 5 * time.Second, Expires: noon}
	err := s.UpdateDurably(func(tx Tx) error {
		_, err := tx.AddAction(want)
		return errors.Join(err, tx.PutWorkspace(Workspace{"w", "Local", noon}), tx.AddMember(Member{"ana", "w", "owner", Hash("secret"), noon}),
			tx.PutProject(project), tx.PutDaemon(daemon), tx.PutGrant(grant))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"": 0o700, fileName: 0o600} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode().Perm() != mode && os.PathSeparator == '/' {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	s = open(t, folder)
	err = s.View(func(tx Tx) error {
		got, err := tx.OpenActions()
		if diff := cmp.Diff([]Action{want}, got, cmpopts.IgnoreFields(Action{}, "Seq")); diff != "" || err != nil {
			t.Error(diff, err)
		}
		projects, err := tx.Projects()
		if diff := cmp.Diff([]Project{project}, projects); diff != "" || err != nil {
			t.Error(diff, err)
		}
		daemons, err := tx.Daemons()
		if diff := cmp.Diff([]Daemon{daemon}, daemons); diff != "" || err != nil {
			t.Error(diff, err)
		}
		g, err := tx.GrantByUserCode("ABCD-EFGH")
		if diff := cmp.Diff(grant, g); diff != "" || err != nil {
			t.Error(diff, err)
		}
		m, err := tx.MemberByToken(Hash("secret"))
		if err != nil || m.ID != "ana" {
			t.Error(m, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestTransactionThatFailsLeavesNothing(t *testing.T) {
	s := open(t, "")
	broken := errors.New("broken")
	err := s.Update(func(tx Tx) error {
		if err := tx.AddEvent(Event{Type: "x", At: noon, Payload: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	func() {
		defer func() { recover() }()
		_ = s.Update(func(tx Tx) error {
			_ = tx.AddEvent(Event{Type: "x", At: noon, Payload: []byte(`{}`)})
			panic("broken")
		})
	}()
	if err := s.View(func(tx Tx) error {
		if n, err := tx.LastEvent(); n != 0 || err != nil {
			t.Error(n, err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestEventsAreNeverChangedNorRemovedBeforeTheirTime(t *testing.T) {
	s := open(t, "")
	update(t, s, func(tx Tx) error {
		var errs []error
		for i := range 4 {
			errs = append(errs, tx.AddEvent(Event{Type: []string{"a", "b"}[i%2], Project: "p", At: noon.Add(time.Duration(i) * time.Hour), Payload: []byte(`{}`)}))
		}
		return errors.Join(errs...)
	})
	for _, text := range []string{"UPDATE event SET type = 'other'", "DELETE FROM event", "REPLACE INTO event SELECT * FROM event WHERE seq = 1"} {
		if err := s.Update(func(tx Tx) error { _, err := tx.exec(text); return err }); err == nil || !strings.Contains(err.Error(), "an event is never") {
			t.Errorf("%s: %v", text, err)
		}
	}
	update(t, s, func(tx Tx) error { return tx.ForgetEvents(noon.Add(time.Hour)) })
	seqs := func(f EventFilter) (all []int64) {
		update(t, s, func(tx Tx) error {
			events, err := tx.Events(f)
			for _, e := range events {
				all = append(all, e.Seq)
			}
			return err
		})
		return all
	}
	for _, c := range []struct {
		filter EventFilter
		want   []int64
	}{
		{EventFilter{Limit: 10}, []int64{2, 3, 4}},
		{EventFilter{Limit: 1}, []int64{2}},
		{EventFilter{Limit: 2, Last: true}, []int64{3, 4}},
		{EventFilter{Limit: 10, Since: 2}, []int64{3, 4}},
		{EventFilter{Limit: 10, Type: "b", Project: "p"}, []int64{2, 4}},
		{EventFilter{Limit: 10, Project: "q"}, nil},
	} {
		if diff := cmp.Diff(c.want, seqs(c.filter)); diff != "" {
			t.Errorf("%+v: %s", c.filter, diff)
		}
	}
}

func TestActionsAreListedNewestFirstByTheirFilters(t *testing.T) {
	s := open(t, "")
	update(t, s, func(tx Tx) error {
		for _, a := range []Action{
			{ID: "1", Project: "p", Type: "terminal", ProposerKind: "agent", Proposer: "x", Status: "pending"},
			{ID: "2", Project: "q", Type: "terminal", ProposerKind: "agent", Proposer: "y", Status: "approved"},
			{ID: "3", Project: "p", Type: "spend", ProposerKind: "person", Proposer: "x", Status: "pending"},
		} {
			a.Proposed, a.Proposal = noon, []byte(`{}`)
			if _, err := tx.AddAction(a); err != nil {
				return err
			}
		}
		return nil
	})
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{Limit: 10}, "3 2 1"}, {Filter{Limit: 2}, "3 2"}, {Filter{Limit: 10, Before: 3}, "2 1"}, {Filter{Limit: 10, Status: "pending"}, "3 1"},
		{Filter{Limit: 10, Agent: "x"}, "1"}, {Filter{Limit: 10, Project: "p", Type: "spend"}, "3"}, {Filter{Limit: 10, Status: "denied"}, ""},
	} {
		var ids []string
		update(t, s, func(tx Tx) error {
			actions, err := tx.Actions(c.filter)
			for _, a := range actions {
				ids = append(ids, a.ID)
			}
			return err
		})
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%+v: %q, want %q", c.filter, got, c.want)
		}
	}
}

func TestActionChangesOnlyFromTheStatusThatWasSeen(t *testing.T) {
	s := open(t, "")
	update(t, s, func(tx Tx) error {
		_, err := tx.AddAction(Action{ID: "1", Status: "pending", Proposed: noon, Proposal: []byte(`{}`)})
		return errors.Join(err, tx.Decide("1", "pending", "approved", "ana", "", noon, time.Time{}))
	})
	for name, f := range map[string]func(Tx) error{
		"decided twice": func(tx Tx) error { return tx.Decide("1", "pending", "denied", "bia", "", noon, time.Time{}) },
		"unknown":       func(tx Tx) error { return tx.End("2", "executed", noon, false, nil) },
		"ended twice": func(tx Tx) error {
			return errors.Join(tx.End("1", "executed", noon, false, []byte(`{}`)), tx.End("1", "failed", noon, false, nil))
		},
	} {
		if err := s.Update(f); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoginCodeIsUsedOnceAndInTime(t *testing.T) {
	s := open(t, "")
	update(t, s, func(tx Tx) error {
		return errors.Join(tx.AddLoginCode(Hash("b"), "ana", noon.Add(-time.Minute), noon), tx.AddLoginCode(Hash("a"), "ana", noon.Add(-time.Minute), noon.Add(time.Minute)))
	})
	update(t, s, func(tx Tx) error {
		if m, err := tx.UseLoginCode(Hash("a"), noon); m != "ana" || err != nil {
			t.Error(m, err)
		}
		for _, code := range []string{"a", "b", "c"} {
			if m, err := tx.UseLoginCode(Hash(code), noon); !errors.Is(err, ErrNone) {
				t.Error(code, m, err)
			}
		}
		return nil
	})
}

func TestTroubleWithTheFileIsNamed(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	_, err := Open(folder)
	failuretest.Produced(t, err, failure.StateLocked)
	if err := s.exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(folder)
	failuretest.Produced(t, err, failure.HubStoreNewer)

	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, fileName), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(folder)
	failuretest.Produced(t, err, failure.HubStoreDamaged)

	folder = t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, fileName), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = Open(folder)
	failuretest.Produced(t, err, failure.HubStoreUnwritable)
}

func TestClosedStoreSaysSo(t *testing.T) {
	s := open(t, "")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	nothing := func(Tx) error { return nil }
	for _, err := range []error{s.View(nothing), s.Update(nothing), s.UpdateDurably(nothing)} {
		failuretest.Produced(t, err, failure.Draining)
		if !errors.Is(err, errClosed) {
			t.Error(err)
		}
	}
}
