//go:build unix

package runner

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"brabo.dev/runner/runner/action"
)

// Needs the engines in RUNNER_TEST_ENGINES.
func TestTerminalOpensInTheProjectsRunningContainer(t *testing.T) {
	forEachEngine(t, func(t *testing.T, address, image string) {
		e := newEngine(t, action.Known()...)
		d := startDaemon(t, e, onEngine(address), withTerminals(t, 3))
		e.joined(t)
		dir := uniqueDir()
		t.Cleanup(func() { removeContainer(t, address, dir) })
		if started := e.container(t, "container_start", "start", `"spec":`+spec(dir, image)); !started.Sucesso {
			t.Fatalf("%+v", started)
		}
		w := e.open(t, "inside").opened(t)
		w.types(t, "pwd; touch made-inside; test -t 0 && echo term''inal\n")
		w.sees(t, "\n/work\r\n")
		w.sees(t, "terminal\r\n")
		w.types(t, "exit 5\n")
		var closed action.PtyClosed
		if err := json.Unmarshal(w.hear(t, action.EventPtyClosed), &closed); err != nil || closed.ExitCode == nil || *closed.ExitCode != 5 {
			t.Errorf("%+v, %v", closed, err)
		}
		if !strings.Contains(d.log.String(), `"where":"brabo-`+dir+`"`) {
			t.Error("the log does not say where it was")
		}
		left := e.open(t, "left").opened(t)
		left.types(t, "(trap '' HUP; exec sleep 601) & echo st''arted\n")
		left.sees(t, "started\r\n")
		e.send(t, action.EventPtyClose, `{"sessionRef":"left"}`)
		for i := 0; ; i++ { // until it has ended with its terminal
			ref := fmt.Sprint("look", i)
			e.exec(t, ref, "ps | grep '[s]leep 601'", "")
			if r := e.result(t); r.ExitCode == 1 {
				break
			} else if r.Failure != nil || i > 1000 {
				t.Fatalf("%+v", r)
			}
		}
	})
}
