package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"brabo.dev/runner/runner/shown"
)

// TestAttackServerThatTalksToTheTerminal has a server put into each of its answers what a terminal would obey.
func TestAttackServerThatTalksToTheTerminal(t *testing.T) {
	const evil = "\x1b]0;x\x07\u009b2J\u202ey\r\b\u200bz"
	one := map[string]any{
		"id": evil, "type": evil, "status": evil, "reason": evil, "rule": evil, "command": evil, "name": evil, "root": evil, "mode": evil,
		"project": evil, "issuer": evil, "payload": map[string]any{evil: evil}, "actor": map[string]any{"kind": evil, "id": evil},
		"proposedBy": map[string]any{"kind": evil, "id": evil},
	}
	said := func(status int, body any) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			if r.URL.Path == "/me" && status == http.StatusOK {
				_, _ = io.WriteString(w, `{"kind": "agent", "id": "a", "project": "p"}`)
			} else if text, ok := body.(string); ok {
				_, _ = io.WriteString(w, text)
			} else {
				_ = json.NewEncoder(w).Encode(body)
			}
		}
	}
	for name, answer := range map[string]http.HandlerFunc{
		"a failure": said(http.StatusBadRequest, map[string]any{"message": evil, "failure": map[string]any{"name": evil, "subject": evil, "cause": evil, "next": evil}}),
		"no JSON":   said(http.StatusInternalServerError, evil),
		"a list": said(http.StatusOK, map[string]any{
			"actions": []any{one}, "projects": []any{one}, "agents": []any{one}, "events": []any{one}, "action": one,
		}),
		"a bare list": said(http.StatusOK, []any{one}),
		"one":         said(http.StatusOK, one),
	} {
		t.Run(name, func(t *testing.T) {
			inHome(t)
			server := httptest.NewServer(answer)
			defer server.Close()
			t.Setenv(hubURLVariable, server.URL)
			t.Setenv(agentTokenVariable, "an agent's token")
			for _, line := range []string{
				"pending", "pending --json", "events", "events --json", "project list", "project list --json", "agent list",
				"approve x", "deny x", "cancel x", "propose terminal --project p -- ls", "propose terminal --project p --json -- ls",
				"project activate x", "member list", "credential list", "autonomy --project p",
			} {
				var out bytes.Buffer
				execute(context.Background(), strings.Fields(line), strings.NewReader(""), &out, &out)
				if i := strings.IndexFunc(out.String(), func(r rune) bool { return r != '\n' && shown.Hidden(r) }); i >= 0 {
					t.Errorf("%s: %q", line, out.String())
				}
			}
		})
	}
}

// TestWordsOfACommandLineAreShown: they may have been copied from a stranger's text.
func TestWordsOfACommandLineAreShown(t *testing.T) {
	inHome(t)
	for _, line := range [][]string{{"\x1b[2J"}, {"mcp", "--\x1b[2J"}, {"config", "set", "\u009b2J", "x"}, {"history", "--project", "\u202ex\x1b"}} {
		var out bytes.Buffer
		execute(context.Background(), line, strings.NewReader(""), &out, &out)
		if strings.ContainsFunc(out.String(), func(r rune) bool { return r != '\n' && shown.Hidden(r) }) {
			t.Errorf("%q: %q", line, out.String())
		}
	}
}
