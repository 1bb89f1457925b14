package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/settings"
)

// contractToken is the credential of a row with an api.
const contractToken = "brb_a-token-of-the-contract-s-tests-that-is-long"

// contractAPI is the HTTP half of a server: each ticket that it gives lets one connection in, and on it one join
// (protocol.md 1.2 and 3.2). Whoever shows a ticket again is refused, and the test is told.
type contractAPI struct {
	*httptest.Server
	t      *testing.T
	engine string // its address

	mu      sync.Mutex // guards what follows
	answers []refusedAsk
	always  int      // what each question is answered with; 0: a ticket
	asked   []string // method, address and credential of each question
	tickets map[string]ticketState
	void    bool // the next ticket is void when it is shown
}

// refusedAsk is the answer to one question for a ticket.
type refusedAsk struct {
	status     int
	retryAfter string
}

type ticketState int

const (
	ticketFresh ticketState = iota
	ticketVoid
	ticketShown
	ticketSpent
)

// api has the daemon of a row ask for its tickets as one of a person's does.
func (p *contractPlay) api() {
	a := &contractAPI{t: p.t, engine: p.e.URL, tickets: map[string]ticketState{}}
	a.Server = httptest.NewServer(a)
	p.t.Cleanup(a.Close)
	p.a = a
	p.e.channels.Connect = a.connect
	p.e.spend = a.spend
	client := pairing.Client{BaseURL: a.URL + "/", Credential: pairing.Token{Secret: settings.NewSecret(contractToken)}, HTTP: a.Client()}
	p.setup = append(p.setup, func(o *Options) {
		o.Address = func(ctx context.Context, project string) (Address, error) {
			ticket, err := client.Ticket(ctx, project)
			return Address(ticket.URL()), err
		}
		o.Refresh = a.Client().CloseIdleConnections
	})
}

// ServeHTTP answers a question for a ticket.
func (a *contractAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, r.Method+" "+r.RequestURI+" "+r.Header.Get("Authorization"))
	answer := refusedAsk{status: a.always}
	if len(a.answers) > 0 {
		answer, a.answers = a.answers[0], a.answers[1:]
	}
	if answer.status != 0 {
		w.Header().Set("Retry-After", answer.retryAfter)
		w.WriteHeader(answer.status)
		fmt.Fprint(w, `{"message":"the api says no"}`)
		return
	}
	ticket := fmt.Sprintf("ticket-%d", len(a.asked))
	if a.tickets[ticket] = ticketFresh; a.void {
		a.void, a.tickets[ticket] = false, ticketVoid
	}
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"ticket":%q,"expiresAt":%q,"engineWsUrl":%q}`, ticket,
		time.Now().Add(30*time.Second).UTC().Format("2006-01-02T15:04:05.000Z"), strings.Replace(a.engine, "http", "ws", 1)+"/runner")
}

// connect lets a connection in that shows a ticket for the first time.
func (a *contractAPI) connect(r *http.Request) (channel.Session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ticket := r.URL.Query().Get("ticket")
	state, known := a.tickets[ticket]
	if r.URL.Path != "/runner/websocket" || r.URL.Query().Get("vsn") != "2.0.0" || r.Header.Get("Origin") != "" || !known {
		a.t.Errorf("the connection asks for %s with the Origin %q", r.URL.Path, r.Header.Get("Origin"))
	}
	if a.tickets[ticket] = ticketShown; state == ticketFresh {
		return channel.Session{ID: "daemon", Value: ticket}, nil
	}
	if state != ticketVoid {
		a.t.Errorf("%s is shown a second time", ticket)
	}
	return channel.Session{}, errors.New("the ticket is of no use")
}

// spend takes the ticket of a join.
func (a *contractAPI) spend(ch *channel.ServerChannel) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ticket, _ := ch.Socket().Value().(string)
	if a.tickets[ticket] != ticketShown || ch.Topic() != "terminal:p" {
		a.t.Errorf("a join of %s with %s, which was spent", ch.Topic(), ticket)
	}
	a.tickets[ticket] = ticketSpent
}

// set changes what the api answers.
func (a *contractAPI) set(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

// serverStep carries out a step about what the server does beside its messages; known is false where it is none.
func (p *contractPlay) serverStep(verb, args string) (known bool, err error) {
	status, rest, _ := strings.Cut(args, " ")
	code, _ := strconv.Atoi(status)
	switch verb {
	case "api":
		p.api()
	case "answer":
		p.a.set(func() { p.a.answers = append(p.a.answers, refusedAsk{code, rest}) })
	case "void":
		p.a.set(func() { p.a.void = true })
	case "begin":
		p.d = startDaemonIn(p.t, p.e, p.home, p.setup...)
	case "revoke":
		p.a.set(func() { p.a.always = code })
		p.e.drop()
	case "restore":
		p.a.set(func() { p.a.always = 0 })
		fallthrough
	case "wake":
		p.d.m.suspends.tell()
		p.e.joined(p.t)
	case "asked":
		p.a.set(func() {
			if got := p.a.asked[len(p.a.asked)-1]; got != args {
				err = fmt.Errorf("it was %s", got)
			}
		})
	case "want-asked":
		p.a.set(func() {
			if fmt.Sprint(len(p.a.asked)) != args {
				err = fmt.Errorf("there were %d: %q", len(p.a.asked), p.a.asked)
			}
		})
	case "reply":
		p.e.mu.Lock()
		p.e.reply = json.RawMessage(args)
		p.e.mu.Unlock()
	case "unstored":
		p.e.unacked = map[string]string{status: rest}
	case "standing":
		await(p.t, p.d.m, args, func(s control.Status) bool {
			f := project(s).Failure
			return string(project(s).State) == status && f != nil && f.Name == failure.Name(rest)
		})
	default:
		return false, nil
	}
	return true, nil
}
