package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/workspace"
	"brabo.dev/runner/workspace/git"
)

// asBetween is the word under which the test binary puts bounds on itself and becomes a command.
const asBetween = "confined"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "git-credential" { // git asks for a credential
		if err := git.Answer(os.Args[2], os.Stdin, os.Stdout, os.Environ()); err != nil {
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 && os.Args[1] == asBetween {
		os.Exit(exec.Become(os.Args[2:]))
	}
	if os.Getenv(asPeer) != "" {
		servePeer()
		return
	}
	goleak.VerifyTestMain(m)
}

// engine is a server that a test scripts: it says what the test tells it to and notes what the daemon says.
type engine struct {
	*httptest.Server
	channels *channel.Server
	// grants are the extensions that a join's reply grants.
	grants []action.Extension
	// mirror is the destination that a join's reply grants; empty for none.
	mirror string
	// refuse answers a join, by its number from 1; an empty reason lets it in.
	refuse func(join int) string
	// reply is a join's reply in place of what grants and mirror say; nil: none.
	reply json.RawMessage
	// project is the one of startDaemon. It is p, but where an engine routes by it, which others use at the same time.
	project string
	// spend is told of each join, before anything else is looked at; it may be nil.
	spend func(*channel.ServerChannel)
	// arrived is told of each message of the daemon before it is answered; it may be nil.
	arrived func(channel.Message)
	// unacked tells, by ref, which results get no good answer in the first join.
	unacked map[string]string
	// mute leaves every result of the first join without any answer.
	mute bool

	mu    sync.Mutex // guards what follows
	joins int
	let   []string // topics in the order of their joins
	now   *channel.ServerChannel
	heard chan channel.Message // everything that the daemon pushes
	ready chan *channel.ServerChannel
	ended chan struct{} // one for each join that was let in and has ended
}

func newEngine(t testing.TB, grants ...action.Extension) *engine {
	t.Helper()
	return newEngineFor(t, 100, grants...)
}

// newEngineFor is newEngine with room for n joins that nobody waits for.
func newEngineFor(t testing.TB, n int, grants ...action.Extension) *engine {
	t.Helper()
	e := &engine{project: "p", grants: grants, heard: make(chan channel.Message, 10_000), ready: make(chan *channel.ServerChannel, 2*n), ended: make(chan struct{}, 100*n)}
	e.channels = &channel.Server{
		Connect: func(r *http.Request) (channel.Session, error) { return channel.Session{ID: "daemon"}, nil },
		Join:    e.join,
	}
	e.Server = httptest.NewServer(e.channels)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := e.channels.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		e.Close()
	})
	return e
}

func (e *engine) join(_ context.Context, ch *channel.ServerChannel, params json.RawMessage) (channel.Handler, any, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.joins++
	e.let = append(e.let, ch.Topic())
	e.heard <- channel.Message{Event: "join", Payload: params}
	if e.spend != nil {
		e.spend(ch)
	}
	if e.refuse != nil {
		if reason := e.refuse(e.joins); reason != "" {
			return nil, nil, &channel.Refusal{Reason: reason}
		}
	}
	e.now = ch
	e.ready <- ch
	if e.reply != nil {
		return &engineChannel{e, ch, e.joins}, e.reply, nil
	}
	reply := map[string]any{}
	if len(e.grants) > 0 {
		reply["extensions"] = e.grants
	}
	if e.mirror != "" {
		reply["espelho"] = action.Mirror{Destino: e.mirror}
	}
	return &engineChannel{e, ch, e.joins}, reply, nil
}

// engineChannel is one join of the daemon.
type engineChannel struct {
	e    *engine
	ch   *channel.ServerChannel
	join int // its number, from 1
}

func (c *engineChannel) Handle(_ context.Context, msg channel.Message) {
	if c.e.arrived != nil {
		c.e.arrived(msg)
	}
	if strings.HasSuffix(msg.Event, "_result") && len(c.e.grants) > 0 {
		var r action.ExecResult
		switch {
		case c.join == 1 && c.e.mute:
		case json.Unmarshal(msg.Payload, &r) == nil && c.join == 1 && c.e.unacked[r.Ref] != "":
			_ = c.ch.Reply(msg, "error", map[string]string{"reason": c.e.unacked[r.Ref]})
		default:
			_ = c.ch.Reply(msg, "ok", struct{}{})
		}
	}
	c.e.heard <- msg
}

func (c *engineChannel) Closed(error) { c.e.ended <- struct{}{} }

// send pushes an event to the daemon that joined last.
func (e *engine) send(t testing.TB, event, payload string) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.now.Push(event, json.RawMessage(payload)); err != nil {
		t.Fatal(err)
	}
}

func (e *engine) exec(t testing.TB, ref, command, rest string) {
	t.Helper()
	quoted, _ := json.Marshal(command)
	e.send(t, "exec", fmt.Sprintf(`{"ref":%q,"command":%s%s}`, ref, quoted, rest))
}

// hear gives the next message of an event, skipping others.
func (e *engine) hear(t testing.TB, event string) channel.Message {
	t.Helper()
	timeout := time.After(60 * time.Second)
	for {
		select {
		case msg := <-e.heard:
			if msg.Event == event {
				return msg
			}
		case <-timeout:
			t.Fatalf("no %s came", event)
		}
	}
}

// result gives the next exec_result.
func (e *engine) result(t testing.TB) action.ExecResult {
	t.Helper()
	var r action.ExecResult
	if err := json.Unmarshal(e.hear(t, "exec_result").Payload, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// joined waits for a join that was let in.
func (e *engine) joined(t testing.TB) {
	t.Helper()
	select {
	case <-e.ready:
	case <-time.After(60 * time.Second):
		t.Fatal("the daemon did not join")
	}
}

// topics gives the topics that were joined, in order.
func (e *engine) topics() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.let)
}

// end ends the daemon's channel: with phx_close, or phx_error where there is an error. The connection stays.
func (e *engine) end(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now.Close(err)
}

// drop cuts the daemon's connection.
func (e *engine) drop() { e.channels.Disconnect("daemon") }

// daemon is a Machine that runs in a test.
type daemon struct {
	root  string
	shell exec.Shell
	log   *logBook
	m     *Machine
	stop  context.CancelFunc
	done  chan error
}

// startDaemon runs a Machine with one project against e. change adapts its options.
func startDaemon(t testing.TB, e *engine, change ...func(*Options)) *daemon {
	t.Helper()
	return startDaemonIn(t, e, t.TempDir(), change...)
}

// startDaemonIn is startDaemon with the project below base.
func startDaemonIn(t testing.TB, e *engine, base string, change ...func(*Options)) *daemon {
	t.Helper()
	d := &daemon{root: base + "/project", log: &logBook{}, done: make(chan error, 1)}
	o := testOptions(t, e, base, d.log)
	d.shell = o.Commands.Shell
	for _, c := range change {
		c(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.stop = cancel
	d.m = New(o)
	go func() { d.done <- d.m.Run(ctx, Fixed(Project{ID: e.project, Root: d.root})) }()
	t.Cleanup(func() {
		cancel()
		<-d.done
	})
	return d
}

// testOptions are those of a daemon of e, with projects below base.
func testOptions(t testing.TB, e *engine, base string, log io.Writer) Options {
	t.Helper()
	shell, err := exec.FindShell(nil)
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Server: e.URL,
		Address: func(context.Context, string) (Address, error) {
			return Address(e.URL + "/runner/websocket?ticket=x&vsn=2.0.0"), nil
		},
		Dialer: &channel.Dialer{}, Ledger: &MemoryLedger{},
		Folder: workspace.Options{Roots: []string{base}, Demo: true},
		Commands: Commands{
			Shell: shell, Deadline: time.Minute, GitDeadline: time.Minute, Grace: 2 * time.Second,
			Parallel: 4, Queue: 100, ResultLimit: 32768, Inherited: os.Environ(),
		},
		ConfirmDeadline: time.Minute,
		BackoffMax:      10 * time.Millisecond, StableAfter: time.Minute, DrainGrace: 30 * time.Second,
		Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// wait gives what Run returned.
func (d *daemon) wait(t testing.TB) error {
	t.Helper()
	select {
	case err := <-d.done:
		d.done <- nil // for the clean-up
		return err
	case <-time.After(60 * time.Second):
		t.Fatal("the daemon did not end")
		return nil
	}
}

// logBook keeps what is logged.
type logBook struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// await waits until the text was logged.
func (l *logBook) await(text string) error {
	timeout := time.After(60 * time.Second)
	for tick := time.NewTicker(2 * time.Millisecond); !strings.Contains(l.String(), text); {
		select {
		case <-tick.C:
		case <-timeout:
			return fmt.Errorf("%s is not in the log", text)
		}
	}
	return nil
}

// failure gives the logged failure about a subject.
func (l *logBook) failure(t *testing.T, subject string) *failure.Failure {
	t.Helper()
	for line := range strings.Lines(l.String()) {
		var entry struct{ Failure *failure.Failure }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Failure != nil && entry.Failure.Subject == subject {
			return entry.Failure
		}
	}
	t.Fatalf("nothing was logged about %s", subject)
	return nil
}
