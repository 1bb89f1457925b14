//go:build unix

package runner

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/action"
)

// Needs the engines in RUNNER_TEST_ENGINES.
func TestTerminalOpensInTheProjectsRunningContainer(t *testing.T) {
	forEachEngine(t, func(t *testing.T, address, image string) {
		e := newEngine(t, action.Known()...)
		e.project = uniqueDir()
		umask := 0o027
		d := startDaemon(t, e, onEngine(address), withTerminals(t, 3), func(o *Options) { o.Commands.Umask = &umask })
		e.joined(t)
		dir := uniqueDir()
		t.Cleanup(func() { removeContainer(t, address, dir) })
		if started := e.container(t, "container_start", "start", `"spec":`+spec(dir, image)); !started.Sucesso {
			t.Fatalf("%+v", started)
		}
		e.send(t, action.EventPtyOpen, `{"sessionRef":"inside","cols":5000,"rows":33}`)
		w := (&tab{e: e, ref: "inside"}).opened(t)
		w.types(t, "pwd; umask; test -t 0 && echo term''inal\n")
		w.sees(t, "\n/work\r\n0027\r\nterminal\r\n")
		sized := func(rows, cols int) { // an engine may take its time to tell a size
			t.Helper()
			w.types(t, fmt.Sprintf("until [ \"$(stty size)\" = '%d %d' ]; do sleep 0.1; done; echo si''zed %[1]d\n", rows, cols))
			w.sees(t, fmt.Sprintf("sized %d\r\n", rows))
		}
		sized(33, exec.MaxTerminalSize)
		e.send(t, action.EventPtyResize, `{"sessionRef":"inside","cols":77,"rows":20}`)
		sized(20, 77)
		e.send(t, action.EventPtyResize, `{"sessionRef":"inside","cols":4000,"rows":21}`)
		sized(21, exec.MaxTerminalSize)
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
