package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// withTerminals lets a daemon open terminals, with a plain login shell.
func withTerminals(t testing.TB, max int) func(*Options) {
	t.Helper()
	home := t.TempDir()
	profile := "PS1='$ '; unset HISTFILE PROMPT_COMMAND\nbind 'set enable-bracketed-paste off'\n"
	if err := os.WriteFile(filepath.Join(home, ".bash_profile"), []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(o *Options) {
		o.Terminals.Max = max
		o.Commands.Inherited = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SHELL=/bin/bash"}
	}
}

// tab is a web tab with one terminal: what it shows is what came for its reference.
type tab struct {
	e   *engine
	ref string
	out bytes.Buffer
}

func (e *engine) open(t testing.TB, ref string) *tab {
	t.Helper()
	e.send(t, action.EventPtyOpen, fmt.Sprintf(`{"sessionRef":%q,"cols":80,"rows":24,"by":"ana"}`, ref))
	return &tab{e: e, ref: ref}
}

// opened waits until the terminal is open and its shell has asked for something to do.
func (w *tab) opened(t testing.TB) *tab {
	t.Helper()
	w.hear(t, action.EventPtyOpened)
	w.prompts(t)
	return w
}

func (w *tab) types(t testing.TB, text string) {
	t.Helper()
	data, _ := json.Marshal([]byte(text))
	w.e.send(t, action.EventPtyInput, fmt.Sprintf(`{"sessionRef":%q,"data":%s}`, w.ref, data))
}

// hear gives the next message of an event about this terminal; its output before that is kept.
func (w *tab) hear(t testing.TB, event string) json.RawMessage {
	t.Helper()
	return w.until(t, event, func(msg channel.Message) bool { return msg.Event == event })
}

// prompts waits for the shell's prompt, which says who its user is: in a rootless engine's container that is root.
func (w *tab) prompts(t testing.TB) {
	t.Helper()
	w.until(t, "a prompt", func(channel.Message) bool {
		return strings.Contains(w.out.String(), "$ ") || strings.Contains(w.out.String(), "# ")
	})
}

// sees waits until the terminal's output holds text.
func (w *tab) sees(t testing.TB, text string) {
	t.Helper()
	holds := func(channel.Message) bool { return strings.Contains(w.out.String(), text) }
	if !holds(channel.Message{}) {
		w.until(t, text, holds)
	}
}

func (w *tab) until(t testing.TB, what string, is func(channel.Message) bool) json.RawMessage {
	t.Helper()
	timeout := time.After(60 * time.Second)
	for {
		select {
		case msg := <-w.e.heard:
			var about action.PtyData
			if json.Unmarshal(msg.Payload, &about) != nil || about.SessionRef != w.ref {
				continue
			}
			if msg.Event == action.EventPtyData {
				w.out.Write(about.Data)
			}
			if is(msg) {
				return msg.Payload
			}
		case <-timeout:
			t.Fatalf("%s did not come; the output ends with %q", what, w.out.Bytes()[max(0, w.out.Len()-2000):])
		}
	}
}

// fails gives the failure of the next pty_error.
func (w *tab) fails(t testing.TB) *failure.Failure {
	t.Helper()
	var got action.PtyError
	if err := json.Unmarshal(w.hear(t, action.EventPtyError), &got); err != nil {
		t.Fatal(err)
	}
	if got.Failure == nil || got.Message == "" {
		t.Fatalf("%+v", got)
	}
	return got.Failure
}

// Runs real bash.
func TestTerminalServesAPerson(t *testing.T) {
	e := newEngine(t, action.Known()...)
	d := startDaemon(t, e, withTerminals(t, 3))
	want := `{"capacidades":["exec","pty","ext:ack",`
	if got := string(e.hear(t, "join").Payload); !strings.HasPrefix(got, want) || !strings.Contains(got, `"ext:pty_closed"`) {
		t.Error(got)
	}
	e.joined(t)
	w := e.open(t, "one").opened(t)
	typed := 0
	types := func(text string) {
		typed += len(text)
		w.types(t, text)
	}
	types("pwd; tty; echo $TERM; stty size\n")
	w.sees(t, "\r\n24 80\r\n")
	if n := project(d.m.Status()).Terminals; n != 1 {
		t.Errorf("the status tells of %d terminals", n)
	}
	if out := w.out.String(); !strings.Contains(out, "\n"+d.root+"\r\n") || !strings.Contains(out, "\nxterm-256color\r\n") {
		t.Errorf("%q", out)
	}
	e.send(t, action.EventPtyResize, `{"sessionRef":"one","cols":100,"rows":30}`)
	types("stty size; printf '\\303'; sleep 0; printf '\\251\\377\\000\\376\\n'\n")
	w.sees(t, "30 100\r\n\xc3\xa9\xff\x00\xfe\r\n")
	types("exit 3\n")
	var closed action.PtyClosed
	if err := json.Unmarshal(w.hear(t, action.EventPtyClosed), &closed); err != nil || closed.ExitCode == nil || *closed.ExitCode != 3 || closed.Signal != "" {
		t.Errorf("%+v, %v", closed, err)
	}
	w = e.open(t, "one").opened(t) // the reference is free again
	w.types(t, "kill -KILL $$\n")
	if err := json.Unmarshal(w.hear(t, action.EventPtyClosed), &closed); err != nil || closed.Signal != "SIGKILL" {
		t.Errorf("%+v, %v", closed, err)
	}
	await(t, d.m, "no terminal", func(s control.Status) bool { return project(s).Terminals == 0 })
	log := d.log.String()
	for _, text := range []string{`"terminal opened"`, `"by":"ana"`, `"terminal closed"`, `"exit_code":3`, fmt.Sprintf(`"input_bytes":%d,`, typed), `"output_bytes":`} {
		if !strings.Contains(log, text) {
			t.Errorf("%s is not in the log", text)
		}
	}
	if strings.Contains(log, "stty") || strings.Contains(log, "xterm") {
		t.Error("what was typed or shown is in the log")
	}
}

// Runs real bash.
func TestEndOfAShellIsAnErrorToAServerThatDidNotGrantMore(t *testing.T) {
	e := newEngine(t)
	startDaemon(t, e, withTerminals(t, 3))
	e.joined(t)
	w := e.open(t, "one").opened(t)
	w.types(t, "exit 3\n")
	fail := w.fails(t)
	failuretest.Produced(t, fail, failure.TerminalEnded)
	if !strings.Contains(fail.Cause, "3") {
		t.Error(fail)
	}
}

// Runs real bash.
func TestTerminalsThatAreRefusedAreAnsweredByName(t *testing.T) {
	e := newEngine(t)
	d := startDaemon(t, e, withTerminals(t, 2))
	e.joined(t)
	a, b := e.open(t, "a").opened(t), e.open(t, "b").opened(t)
	failuretest.Produced(t, e.open(t, "a").fails(t), failure.TerminalExists)
	failuretest.Produced(t, e.open(t, "c").fails(t), failure.TerminalLimit)
	e.send(t, action.EventPtyOpen, `{"sessionRef":"d","cols":80}`)
	failuretest.Produced(t, (&tab{e: e, ref: "d"}).fails(t), failure.MalformedAction)
	for _, event := range []string{action.EventPtyInput, action.EventPtyResize, action.EventPtyClose, action.EventPtyOpen} {
		for _, payload := range []string{`7`, `{}`, `{"sessionRef":"unknown","data":"eA==","cols":1,"rows":1}`} {
			if event != action.EventPtyOpen || !strings.Contains(payload, "unknown") {
				e.send(t, event, payload)
			}
		}
	}
	for _, w := range []*tab{a, b} {
		w.types(t, "echo st''ill here\n")
		w.sees(t, "still here")
	}
	if err := os.RemoveAll(d.root); err != nil {
		t.Fatal(err)
	}
	e.send(t, action.EventPtyClose, `{"sessionRef":"a"}`)
	for { // its place is free once all in it has ended
		fail := e.open(t, "a").fails(t)
		if fail.Name == failure.TerminalLimit {
			continue
		}
		failuretest.Produced(t, fail, failure.CwdMissing)
		return
	}
}

func TestDaemonWithoutTerminalsSaysSo(t *testing.T) {
	e := newEngine(t, action.Known()...)
	startDaemon(t, e)
	if got := string(e.hear(t, "join").Payload); strings.Contains(got, "pty") {
		t.Error(got)
	}
	e.joined(t)
	failuretest.Produced(t, e.open(t, "one").fails(t), failure.TerminalsDisabled)
}

// Runs real bash and sleep.
func TestTerminalsEndWithTheirConnection(t *testing.T) {
	for name, end := range map[string]func(*engine, *daemon){
		"that falls": func(e *engine, _ *daemon) { e.drop() },
		"at a stop":  func(_ *engine, d *daemon) { d.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t)
			d := startDaemon(t, e, withTerminals(t, 3), func(o *Options) { o.Commands.Grace = time.Minute })
			e.joined(t)
			w := e.open(t, "one").opened(t)
			w.types(t, "exec bash --norc\n") // whatever the account's own shell is
			w.types(t, "trap 'echo >ended' EXIT; sleep 300 & echo $! >pid; mv pid pids\n")
			waitFile(t, filepath.Join(d.root, "pids"))
			end(e, d)
			waitFile(t, filepath.Join(d.root, "ended"))
			if name == "at a stop" {
				if err := d.wait(t); err != nil {
					t.Error(err)
				}
				return
			}
			e.joined(t)
			e.open(t, "one").opened(t) // the new connection knows nothing of the old one's
		})
	}
}

// Runs real bash and yes.
func TestFloodDelaysNobodyElse(t *testing.T) {
	e := newEngine(t)
	startDaemon(t, e, withTerminals(t, 3))
	e.joined(t)
	flood := e.open(t, "flood").opened(t)
	flood.types(t, "yes\n")
	flood.sees(t, "y\r\ny\r\n")
	w := e.open(t, "calm").opened(t)
	for i := range 5 {
		w.types(t, fmt.Sprintf("echo answer $((%d+40))\n", i))
		w.sees(t, fmt.Sprintf("answer %d\r\n", i+40))
		ref := fmt.Sprint("command", i)
		e.exec(t, ref, "echo done", "")
		if got := e.result(t); got.Ref != ref || got.Output != "done\n" {
			t.Errorf("%+v", got)
		}
	}
	e.send(t, action.EventPtyClose, `{"sessionRef":"flood"}`)
}

// Runs real bash and sleep.
func TestProgramThatDoesNotReadHoldsUpItsOwnTerminalAlone(t *testing.T) {
	e := newEngine(t)
	d := startDaemon(t, e, withTerminals(t, 3))
	e.joined(t)
	deaf := e.open(t, "deaf").opened(t)
	deaf.types(t, "stty raw -echo; echo ready; sleep 300\n")
	deaf.sees(t, "\nready")
	for range 80 { // more than is kept
		deaf.types(t, strings.Repeat("x", 64<<10))
	}
	deaf.sees(t, "\a")
	failuretest.Produced(t, d.log.failure(t, "terminal deaf"), failure.TerminalInputFull)
	w := e.open(t, "other").opened(t)
	w.types(t, "echo an''swer\n")
	w.sees(t, "answer\r\n")
	e.send(t, action.EventPtyClose, `{"sessionRef":"deaf"}`)
}
