package runner

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
)

// shown collects what is shown of a running command until its result comes.
func (e *engine) shown(t *testing.T) (pieces []action.ExecOutput, result action.ExecResult) {
	t.Helper()
	timeout := time.After(60 * time.Second)
	for {
		var msg channel.Message
		select {
		case msg = <-e.heard:
		case <-timeout:
			t.Fatal("no result came")
		}
		switch msg.Event {
		case action.EventExecOutput:
			var piece action.ExecOutput
			if err := json.Unmarshal(msg.Payload, &piece); err != nil {
				t.Fatal(err)
			}
			pieces = append(pieces, piece)
		case action.EventExecResult:
			if err := json.Unmarshal(msg.Payload, &result); err != nil {
				t.Fatal(err)
			}
			return pieces, result
		}
	}
}

func TestOutputIsShownWhileTheCommandRuns(t *testing.T) {
	e := newEngine(t, action.Known()...)
	d := startDaemon(t, e)
	e.joined(t)
	e.exec(t, "a", "echo one; while [ ! -e go ]; do sleep 0.01; done; printf 'two\\377'", "")
	var first action.ExecOutput
	if err := json.Unmarshal(e.hear(t, action.EventExecOutput).Payload, &first); err != nil {
		t.Fatal(err)
	}
	if first.Ref != "a" || first.Offset != 0 || string(first.Data) != "one\n" {
		t.Errorf("%+v", first)
	}
	if err := os.WriteFile(filepath.Join(d.root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pieces, result := e.shown(t)
	if len(pieces) != 1 || pieces[0].Offset != 4 || !bytes.Equal(pieces[0].Data, []byte("two\xff")) {
		t.Errorf("%+v", pieces)
	}
	if result.Output != "one\ntwo\uFFFD" {
		t.Errorf("%q", result.Output)
	}
}

func TestFloodOfOutputIsShownInPartsThatSayWhatIsMissing(t *testing.T) {
	e := newEngine(t, action.Known()...)
	startDaemon(t, e)
	e.joined(t)
	const total = 8 << 20
	e.exec(t, "a", "head -c 8388608 /dev/zero | tr '\\0' x", "")
	pieces, result := e.shown(t)
	if result.ExitCode != 0 || len(pieces) == 0 {
		t.Fatalf("%d pieces, %+v", len(pieces), result.Failure)
	}
	var end int64
	for _, p := range pieces {
		if p.Offset < end || len(p.Data) > action.MaxOutputData || len(p.Data) == 0 {
			t.Fatalf("%d bytes at %d behind %d", len(p.Data), p.Offset, end)
		}
		end = p.Offset + int64(len(p.Data))
	}
	if end != total {
		t.Errorf("the last piece ends at %d, not with the output", end)
	}
}

func TestNothingIsShownToAServerThatGrantedNothing(t *testing.T) {
	e := newEngine(t)
	startDaemon(t, e)
	e.joined(t)
	e.exec(t, "a", "echo one; echo two", "")
	if pieces, result := e.shown(t); len(pieces) > 0 || !strings.HasPrefix(result.Output, "one") {
		t.Errorf("%+v, %+v", pieces, result)
	}
}
