package pairing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/settings"
)

const (
	secretToken  = "brb_geheim-0123456789abcdefghijklmnopqrstuvwxyz"
	secretTicket = "ticket-geheim-0123456789"
)

// answering is a client of a real server that answers as handler does.
func answering(t *testing.T, handler http.HandlerFunc) Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return Client{BaseURL: server.URL + "/", Credential: Token{settings.NewSecret(secretToken)}, HTTP: server.Client()}
}

// saying answers every request alike.
func saying(status int, contentType, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// hides fails the test when err shows a credential or a ticket, however it is printed.
func hides(t *testing.T, err error) {
	t.Helper()
	wire, _ := json.Marshal(failure.As(err))
	text := fmt.Sprintf("%v %+v %#v %s", err, err, err, wire)
	for e := err; e != nil; e = errors.Unwrap(e) {
		text += fmt.Sprintf(" %v %+v", e, e)
	}
	if strings.Contains(text, "geheim") || strings.Contains(text, "eyJ") {
		t.Errorf("a secret shows in %s", text)
	}
}

func TestATicketIsAskedForAsTheContractSays(t *testing.T) {
	var got []string
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Method, r.RequestURI, r.Header.Get("Authorization"), string(body), r.Header.Get("Origin"))
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"ticket":%q,"expiresAt":"2026-11-02T10:15:30.120Z","engineWsUrl":"wss://engine.example/runner"}`, secretTicket)
	})
	ticket, err := c.Ticket(t.Context(), "a/b c")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"POST", "/projects/a%2Fb%20c/runner-ticket", "Bearer " + secretToken, "", ""}, got); diff != "" {
		t.Error(diff)
	}
	if ticket.Ticket.Reveal() != secretTicket || ticket.ExpiresAt.UnixMilli() != 1793614530120 {
		t.Errorf("%v, which ends at %d", ticket, ticket.ExpiresAt.UnixMilli())
	}
	if want := "wss://engine.example/runner/websocket?ticket=" + secretTicket + "&vsn=2.0.0"; ticket.URL() != want {
		t.Errorf("the address is %s, want %s", ticket.URL(), want)
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v", ticket, ticket, ticket), "geheim") {
		t.Error("the ticket shows itself")
	}
}

func TestADeviceKeySignsForEachRequest(t *testing.T) {
	var bearers []string
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		bearers = append(bearers, r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, `[]`)
	})
	c.Credential = testKey(t)
	now := time.Unix(1_800_000_000, 0)
	c.Now = func() time.Time { now = now.Add(time.Second); return now }
	for range 2 {
		if _, _, err := c.Projects(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(bearers) != 2 || bearers[0] == bearers[1] || strings.Count(bearers[0], ".") != 2 {
		t.Errorf("%d signatures, which must differ", len(bearers))
	}
}

func TestARefusalIsNamedByItsStatus(t *testing.T) {
	words := `{"message":"the server's own words"}`
	for _, tt := range []struct {
		status     int
		onTicket   failure.Name
		onProjects failure.Name
	}{
		{301, failure.BadServerAnswer, failure.BadServerAnswer},
		{307, failure.BadServerAnswer, failure.BadServerAnswer},
		{400, failure.ProjectMode, failure.BadServerAnswer},
		{401, failure.TicketRefused, failure.TicketRefused},
		{403, failure.NotMember, failure.NotMember},
		{404, failure.ProjectNotFound, failure.BadServerAnswer},
		{405, failure.BadServerAnswer, failure.BadServerAnswer},
		{408, failure.ServerUnavailable, failure.ServerUnavailable},
		{429, failure.RateLimited, failure.RateLimited},
		{500, failure.ServerUnavailable, failure.ServerUnavailable},
		{503, failure.ServerUnavailable, failure.ServerUnavailable},
	} {
		c := answering(t, saying(tt.status, "application/json", words))
		_, err := c.Ticket(t.Context(), "p1")
		if f := failuretest.Produced(t, err, tt.onTicket); !strings.HasSuffix(f.Cause, fmt.Sprintf(" (HTTP %d: the server's own words)", tt.status)) {
			t.Errorf("the cause lacks the server's own words: %s", f.Cause)
		}
		var status *StatusError
		if !errors.As(err, &status) || status.Status != tt.status || !strings.Contains(err.Error(), "the server's own words") {
			t.Errorf("%d: %v", tt.status, err)
		}
		hides(t, err)
		_, _, err = c.Projects(t.Context())
		failuretest.Produced(t, err, tt.onProjects)
	}
}

// The catalogue's test reads these calls: each name of a refusal is met here.
func TestEachNameOfARefusalIsMet(t *testing.T) {
	ask := func(status int) error {
		_, err := answering(t, saying(status, "application/json", "{}")).Ticket(t.Context(), "p1")
		return err
	}
	failuretest.Produced(t, ask(400), failure.ProjectMode)
	failuretest.Produced(t, ask(401), failure.TicketRefused)
	failuretest.Produced(t, ask(403), failure.NotMember)
	failuretest.Produced(t, ask(404), failure.ProjectNotFound)
	failuretest.Produced(t, ask(429), failure.RateLimited)
	failuretest.Produced(t, ask(502), failure.ServerUnavailable)
	failuretest.Produced(t, ask(201), failure.BadServerAnswer)
}

func TestARefusalThatIsAWebPageSaysSo(t *testing.T) {
	_, err := answering(t, saying(404, "text/html", "<html>")).Ticket(t.Context(), "p1")
	if f := failuretest.Produced(t, err, failure.ProjectNotFound); !strings.Contains(f.Cause, "web page") {
		t.Error(f.Cause)
	}
}

func TestAWrongClockIsNamedWhereASignatureIsRefused(t *testing.T) {
	for _, tt := range []struct {
		name  string
		ahead time.Duration
		says  string
		skew  bool
	}{
		{"slow", -2 * time.Minute, "behind", true},
		{"fast", 2 * time.Minute, "ahead", true},
		{"right", 0, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
			c := answering(t, saying(401, "application/json", "{}", "Date", server.Format(http.TimeFormat)))
			c.Now = func() time.Time { return server.Add(tt.ahead) }
			_, err := c.Ticket(t.Context(), "p1")
			failuretest.Produced(t, err, failure.TicketRefused) // a token does not depend on the clock
			c.Credential = testKey(t)
			_, err = c.Ticket(t.Context(), "p1")
			hides(t, err)
			if !tt.skew {
				failuretest.Produced(t, err, failure.TicketRefused)
				return
			}
			if f := failuretest.Produced(t, err, failure.ClockSkew); !strings.Contains(f.Cause, "2m0s "+tt.says) {
				t.Error(f.Cause)
			}
		})
	}
}

func TestTheServersWishToWaitIsKept(t *testing.T) {
	server := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "0": 0, "-3": 0, "soon": 0, "1.5": 0, "999999999": longestWait,
		server.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second,
		server.Add(-time.Hour).Format(http.TimeFormat):       0,
	} {
		c := answering(t, saying(429, "application/json", "{}", "Retry-After", header, "Date", server.Format(http.TimeFormat)))
		c.Now = func() time.Time { return server.Add(time.Hour) } // the date is by the server's clock
		_, err := c.Ticket(t.Context(), "p1")
		if got := RetryAfter(err); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
	if got := RetryAfter(errors.New("x")); got != 0 {
		t.Errorf("any other error: %v", got)
	}
}

func TestAnAnswerThatIsNoTicketIsRefused(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"a web page":          saying(200, "text/html; charset=utf-8", "<html>geheim</html>"),
		"nothing":             saying(204, "", ""),
		"half":                saying(201, "application/json", `{"ticket":"`+secretTicket),
		"no ticket":           saying(201, "application/json", `{"engineWsUrl":"ws://x/runner"}`),
		"no address":          saying(201, "application/json", `{"ticket":"`+secretTicket+`"}`),
		"a number":            saying(201, "application/json", `{"ticket":3,"engineWsUrl":"ws://x/runner"}`),
		"a relative address":  saying(201, "application/json", `{"ticket":"`+secretTicket+`","engineWsUrl":"/runner"}`),
		"an unlikely address": saying(201, "application/json", `{"ticket":"`+secretTicket+`","engineWsUrl":"ftp://x"}`),
		"a flood":             saying(201, "application/json", `{"ticket":"`+strings.Repeat("geheim", largestTicket)+`"}`),
		"null":                saying(201, "application/json", "null"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := answering(t, handler).Ticket(t.Context(), "p1")
			failuretest.Produced(t, err, failure.BadServerAnswer)
			hides(t, err)
		})
	}
}

func TestACredentialIsNotCarriedAlongARedirect(t *testing.T) {
	elsewhere := answering(t, func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") })
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.BaseURL+"?code=geheim", http.StatusTemporaryRedirect)
	})
	_, err := c.Ticket(t.Context(), "p1")
	f := failuretest.Produced(t, err, failure.BadServerAnswer)
	hides(t, err)
	if !strings.Contains(f.Cause, strings.TrimRight(elsewhere.BaseURL, "/")) {
		t.Errorf("the cause does not say where to: %s", f.Cause)
	}
}

func TestAServerThatEchoesTheCredentialDoesNotShowIt(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": "bad\x1b[31m\n" + r.Header.Get("Authorization") + strings.Repeat("é", 400)})
	})
	for _, credential := range []Credential{Token{settings.NewSecret(secretToken)}, testKey(t)} {
		c.Credential = credential
		_, err := c.Ticket(t.Context(), "p1")
		hides(t, err)
		var status *StatusError
		if !errors.As(err, &status) || strings.ContainsAny(status.Message, "\x1b\n") || len(status.Message) > longestMessage+len("…") {
			t.Errorf("%q", status.Message)
		}
	}
}

func TestNoAnswerHasACause(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + listener.Addr().String()
	listener.Close()
	tlsServer := httptest.NewUnstartedServer(saying(200, "application/json", "{}"))
	tlsServer.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of the client's distrust
	tlsServer.StartTLS()
	t.Cleanup(tlsServer.Close)
	plain := answering(t, saying(200, "application/json", "{}"))
	cut := answering(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"ticket":`)
	})
	for _, tt := range []struct{ name, base, says string }{
		{"nobody listens", nobody, "nothing listens"},
		{"a certificate that nobody vouches for", tlsServer.URL, "not trusted"},
		{"TLS to a plain server", strings.Replace(strings.TrimRight(plain.BaseURL, "/"), "http://", "https://", 1), "does not speak TLS"},
		{"an answer cut off", cut.BaseURL, "ended before"},
		{"no URL", "http://[::1", "not a URL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Client{BaseURL: tt.base, Credential: Token{settings.NewSecret(secretToken)}}
			_, err := c.Ticket(t.Context(), "p1")
			f := failuretest.Produced(t, err, failure.ServerUnreachable)
			hides(t, err)
			if !strings.Contains(f.Cause, tt.says) {
				t.Errorf("the cause does not say %q: %v", tt.says, err)
			}
		})
	}
}

func TestAProxyThatDoesNotAnswerIsNotTakenForTheServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxy := listener.Addr().String()
	listener.Close()
	transport, err := NewTransport("http://ana:hunter2@"+proxy, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range []string{"http://brabo.invalid", "https://brabo.invalid"} {
		c := Client{BaseURL: server, Credential: Token{settings.NewSecret(secretToken)}, HTTP: &http.Client{Transport: transport.HTTP}}
		_, err = c.Ticket(t.Context(), "p1")
		f := failuretest.Produced(t, err, failure.ServerUnreachable)
		if !strings.Contains(f.Cause, "the proxy does not answer") || !strings.Contains(f.Cause, proxy) || strings.Contains(err.Error(), "hunter2") {
			t.Error(err)
		}
	}
}

func TestACancelledRequestIsNoFailureOfTheServer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-release
	})
	defer close(release)
	_, err := c.Ticket(ctx, "p1")
	if !errors.Is(err, context.Canceled) || failure.As(err) != nil {
		t.Error(err)
	}
}

func TestABadRowOfTheListIsDroppedByName(t *testing.T) {
	c := answering(t, saying(200, "application/json", `[
		{"projectId":"p1","name":"Loja","workspaceDirName":"loja","workspaceVerifiedAt":null},
		{"projectId":"p2","name":"No folder"},
		"rubbish",
		{"projectId":"p3","name":"Local","workspaceDirName":"x","workspaceVerifiedAt":"2026-11-02T10:00:00Z","mode":"mounted","root":"/srv/x","more":1},
		{"projectId":4,"name":"n","workspaceDirName":"x"}]`))
	projects, dropped, err := c.Projects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []Project{{ID: "p1", Name: "Loja", DirName: "loja"},
		{ID: "p3", Name: "Local", DirName: "x", VerifiedAt: time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC), Mode: "mounted", Root: "/srv/x"}}
	if diff := cmp.Diff(want, projects); diff != "" {
		t.Error(diff)
	}
	if len(dropped) != 3 {
		t.Fatalf("dropped: %v", dropped)
	}
	for i, row := range []string{"row 2 of", "row 3 of", "row 5 of"} {
		if f := failuretest.Produced(t, dropped[i], failure.BadServerAnswer); !strings.HasPrefix(f.Subject, row) {
			t.Error(f.Subject)
		}
	}
}

func TestAnEmptyListIsAListAndNullIsNot(t *testing.T) {
	if projects, dropped, err := answering(t, saying(200, "application/json", "[]")).Projects(t.Context()); err != nil || len(projects)+len(dropped) != 0 {
		t.Errorf("%v %v %v", projects, dropped, err)
	}
	for _, body := range []string{"null", "{}", ""} {
		_, _, err := answering(t, saying(200, "application/json", body)).Projects(t.Context())
		failuretest.Produced(t, err, failure.BadServerAnswer)
	}
}
