package hub

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"brabo.dev/runner/runner/hub/store"
)

// TestSessionIsOneConnectionOfAnAgent: what came on one connection, or under one name, is of one session, and the log says
// of which.
func TestSessionIsOneConnectionOfAnAgent(t *testing.T) {
	h := newTestHub(t)
	connect := func() func(name string) Action {
		conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		answers := bufio.NewReader(conn)
		return func(name string) (a Action) {
			t.Helper()
			r, err := http.NewRequest("POST", h.url+"/actions", strings.NewReader(`{"projectId":"p","type":"terminal","command":"asks"}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+agentToken)
			if name != "" {
				r.Header.Set(SessionHeader, name)
			}
			if err := r.Write(conn); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(answers, r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			raw, err := io.ReadAll(response.Body)
			if err == nil {
				err = json.Unmarshal(raw, &a)
			}
			if err != nil || a.ID == "" {
				t.Fatalf("%s %s, %v", response.Status, raw, err)
			}
			return a
		}
	}
	one, other := connect(), connect()
	first, second, third := one(""), one(""), other("")
	if first.Session == "" || second.Session != first.Session || third.Session == first.Session {
		t.Errorf("%q, %q; %q", first.Session, second.Session, third.Session)
	}
	if a, b := one("mcp-1"), other("mcp-1"); a.Session != "mcp-1" || b.Session != "mcp-1" {
		t.Errorf("%q, %q", a.Session, b.Session)
	}
	for _, strange := range []string{"a b", "../x", strings.Repeat("x", 65)} {
		if a := one(strange); a.Session != first.Session {
			t.Errorf("%q is of session %q", strange, a.Session)
		}
	}
	if _, err := h.Deny(first.ID, "ana", "no"); err != nil {
		t.Fatal(err)
	}
	events, err := h.Events(store.EventFilter{Limit: maxEvents})
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, e := range events {
		if strings.Contains(string(e.Payload), first.ID) {
			told++
			if e.Session != first.Session {
				t.Errorf("%s is of session %q", e.Type, e.Session)
			}
		}
	}
	if told < 3 { // proposed, refused, settled
		t.Errorf("%d events", told)
	}
}
