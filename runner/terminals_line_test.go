package runner

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/control"
)

// TestFloodIsOnItsWayInABoundedPieceAlone runs real bash and yes. The server takes nothing more; what is on its way to it
// then is all that other messages ever wait behind.
func TestFloodIsOnItsWayInABoundedPieceAlone(t *testing.T) {
	e := newEngine(t)
	e.heard = make(chan channel.Message, 1)
	d := startDaemon(t, e, withTerminals(t, 1))
	e.joined(t)
	w := e.open(t, "flood").opened(t)
	w.types(t, "yes\n")
	w.sees(t, "y\r\ny\r\n")
	e.exec(t, "behind", "sleep 1", "") // in which a line without bounds would fill up
	if err := d.log.await(`"msg":"finished","project":"p","ref":"behind"`); err != nil {
		t.Fatal(err)
	}
	e.send(t, action.EventPtyClose, `{"sessionRef":"flood"}`)
	if err := d.log.await(`"msg":"terminal closed"`); err != nil { // which does not wait for the line
		t.Fatal(err)
	}
	said := regexp.MustCompile(`"output_bytes":(\d+)`).FindStringSubmatch(d.log.String())
	shown, err := strconv.Atoi(said[1])
	if err != nil {
		t.Fatal(err)
	}
	const atTheServer = 1 << 20 // what waits for a handler there
	if onItsWay := shown - w.out.Len(); onItsWay > atTheServer+terminalUnread+4*terminalPiece {
		t.Errorf("%d bytes of the flood are on their way", onItsWay)
	}
	e.exec(t, "last", "true", "")
	for e.result(t).Ref != "last" { // nothing is on its way any more
	}
}

// TestNothingIsLostOnABusyLine runs real bash and seq. Two floods want a line that lets nobody wait.
func TestNothingIsLostOnABusyLine(t *testing.T) {
	e := newEngine(t)
	d := startDaemon(t, e, withTerminals(t, 2), func(o *Options) { o.Dialer = &channel.Dialer{QueueLimit: 1} })
	e.joined(t)
	all := map[string]*tab{}
	for _, ref := range []string{"a", "b"} {
		all[ref] = e.open(t, ref).opened(t)
		all[ref].types(t, "stty -echo; PS1=; while [ ! -e go ]; do sleep 0.01; done; echo be''gin; seq 1 100000; echo o''ver\n")
	}
	if err := os.WriteFile(filepath.Join(d.root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for over, timeout := 0, time.After(time.Minute); over < len(all); {
		select {
		case msg := <-e.heard:
			var data action.PtyData
			if json.Unmarshal(msg.Payload, &data) != nil || all[data.SessionRef] == nil {
				continue
			}
			w := all[data.SessionRef]
			if msg.Event != action.EventPtyData {
				t.Fatalf("%s: %s", msg.Event, msg.Payload)
			}
			w.out.Write(data.Data)
			if strings.HasSuffix(w.out.String(), "\nover\r\n") {
				over++
			}
		case <-timeout:
			t.Fatal("not all came")
		}
	}
	var want strings.Builder
	for i := range 100000 {
		fmt.Fprintf(&want, "%d\r\n", i+1)
	}
	for ref, w := range all {
		if _, got, _ := strings.Cut(w.out.String(), "begin\r\n"); got != want.String()+"over\r\n" {
			t.Errorf("%s: %d bytes came, not %d, or others", ref, len(got), want.Len())
		}
	}
}

// TestTerminalThatEndsLateLeavesTheNextOfItsNameAlone runs real bash. The reference is used again while what was in the
// terminal has not ended.
func TestTerminalThatEndsLateLeavesTheNextOfItsNameAlone(t *testing.T) {
	e := newEngine(t)
	d := startDaemon(t, e, withTerminals(t, 2), func(o *Options) { o.Commands.Grace = time.Hour })
	e.joined(t)
	late := e.open(t, "one").opened(t)
	late.types(t, "exec bash -c 'trap \"\" HUP TERM; echo >deaf; while [ ! -e go ]; do sleep 0.01; done'\n")
	waitFile(t, filepath.Join(d.root, "deaf"))
	e.send(t, action.EventPtyClose, `{"sessionRef":"one"}`)
	next := e.open(t, "one").opened(t)
	next.types(t, "touch go\n")
	await(t, d.m, "one terminal", func(s control.Status) bool { return project(s).Terminals == 1 })
	next.types(t, "echo st''ill here\n")
	next.sees(t, "still here")
}

// TestTerminalHasWhatCommandsHave runs real bash: the umask and the variables of settings.md.
func TestTerminalHasWhatCommandsHave(t *testing.T) {
	umask := 0o027
	e := newEngine(t)
	startDaemon(t, e, withTerminals(t, 1), func(o *Options) {
		o.Commands.Umask, o.Commands.Environment = &umask, map[string]string{"SHOP": "open"}
	})
	e.joined(t)
	e.send(t, action.EventPtyOpen, `{"sessionRef":"one","cols":5000,"rows":33}`)
	w := (&tab{e: e, ref: "one"}).opened(t)
	w.types(t, "umask; echo $SHOP; stty size; echo al''l\n")
	w.sees(t, "all\r\n")
	if want := fmt.Sprintf("\n0027\r\nopen\r\n33 %d\r\n", exec.MaxTerminalSize); !strings.Contains(w.out.String(), want) {
		t.Errorf("%q", w.out.String())
	}
}
