package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/journal"
)

// TestCloneThatAKilledDaemonLeftIsEnded needs git and its http-backend. One daemon clones; to another one the journal says
// what it says after the first was killed.
func TestCloneThatAKilledDaemonLeftIsEnded(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	slow := slowHost(t, gitHost(t, home), home)
	payload := fmt.Sprintf(`{"ref":"a","projectId":"p","segmento":"shop","repoUrl":"%s/shop.git","env":%s}`, slow.URL, credential())
	first := newEngine(t)
	creating(t, first, home)
	first.joined(t)
	first.send(t, action.EventWorkspaceCreate, payload)
	awaitFile(t, filepath.Join(home, "asked"))

	left := openJournal(t, filepath.Join(home, "state"))
	key := journal.Key{Server: first.URL, Project: "p", Event: action.EventWorkspaceCreate, Ref: "a"}
	digest, err := action.Digest([]byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := left.Receive(journal.Action{Key: key, Digest: digest, Payload: []byte(payload), Received: time.Now(), Deadline: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if err := left.Begin(key); err != nil {
		t.Fatal(err)
	}
	if err := left.Close(); err != nil {
		t.Fatal(err)
	}
	// A folder that nobody is at work in any more, one whose content was being moved up, and one that is not ours.
	for _, name := range []string{".runner-clone-killed/in", ".runner-cloned-killed/src", ".runner-cloned-killed/.git", "mine"} {
		if err := os.MkdirAll(filepath.Join(home, "code/shop", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	left = openJournal(t, filepath.Join(home, "state"))
	second := newEngine(t)
	later := creating(t, second, home, func(o *Options) { o.Ledger = left })
	second.joined(t)
	if r := created(t, first); r.Sucesso || r.Motivo != action.MotivoGit {
		t.Errorf("the clone went on: %+v", r)
	}
	entries, err := os.ReadDir(filepath.Join(home, "code/shop"))
	if err != nil || len(entries) != 3 || entries[0].Name() != ".git" || entries[1].Name() != "mine" || entries[2].Name() != "src" {
		t.Errorf("it left %v (%v)", entries, err)
	}
	later.stop()
	if err := later.wait(t); err != nil {
		t.Fatal(err)
	}
	if err := left.Close(); err != nil {
		t.Error(err)
	}
}
