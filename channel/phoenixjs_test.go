// Needs node and npm: the official Phoenix client judges the server half.
package channel_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/channel"
)

// needs skips the test where a component is missing, and fails it where all
// components are required.
func needs(t *testing.T, commands ...string) {
	t.Helper()
	for _, command := range commands {
		if _, err := exec.LookPath(command); err == nil {
			continue
		}
		if os.Getenv("RUNNER_TEST_REQUIRE") == "1" {
			t.Fatalf("%s is missing, and every component is required", command)
		}
		t.Skipf("%s is not installed", command)
	}
}

// installJudge copies the judge to a folder of its own and installs its modules.
func installJudge(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "judge.mjs"} {
		data, err := os.ReadFile(filepath.Join("testdata/phoenixjs", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	install := exec.CommandContext(testContext(t), "npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		if os.Getenv("RUNNER_TEST_REQUIRE") == "1" {
			t.Fatalf("npm ci: %v\n%s", err, out)
		}
		t.Skipf("the client's modules can't be installed here: %v\n%s", err, out)
	}
	return dir
}

// judged is a line that a judge prints.
type judged struct {
	Step   string
	Detail json.RawMessage
}

// judgeLines hands out a judge's lines until its output ends.
func judgeLines(t *testing.T, out io.Reader) <-chan judged {
	lines := make(chan judged, 64)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			var line judged
			if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
				t.Errorf("the judge said %s", scanner.Text())
				continue
			}
			lines <- line
		}
	}()
	return lines
}

// expect takes lines up to the given one, whose detail it compares.
func expect(t *testing.T, lines <-chan judged, step, detail string) {
	t.Helper()
	for {
		line := next(t, lines, "line "+step)
		if line.Step != step {
			continue // reconnecting takes as many tries as it takes
		}
		if string(line.Detail) != detail {
			t.Errorf("%s: %s, want %s", step, line.Detail, detail)
		}
		return
	}
}

func TestOfficialPhoenixClientIsServed(t *testing.T) {
	needs(t, "node", "npm")
	dir := installJudge(t)
	h := newHub(t, nil)
	base, _, _ := strings.Cut(h.URL, "/websocket")
	judge := exec.CommandContext(testContext(t), "node", "judge.mjs")
	judge.Dir = dir
	judge.Env = append(os.Environ(), "JUDGE_ENDPOINT=ws"+strings.TrimPrefix(base, "http"))
	judge.Stderr = os.Stderr
	in, err := judge.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := judge.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := judge.Start(); err != nil {
		t.Fatal(err)
	}
	lines := judgeLines(t, out)
	joined := `{"params":{"capacidades":["exec","pty"]},"topic":"terminal:js"}`
	expect(t, lines, "joined", joined)
	expect(t, lines, "refused", `{"status":"error","response":{"reason":"unauthorized"}}`)
	expect(t, lines, "reply", `{"status":"ok","response":{"text":"é<&>"}}`)
	expect(t, lines, "error reply", `{"status":"error","response":{"reason":"nope"}}`)
	expect(t, lines, "push and reply", `{"status":"ok","response":{}}`)
	expect(t, lines, "pushed", `[{"id":"c1"}]`)
	expect(t, lines, "binary reply", `"deadbeef"`)
	expect(t, lines, "left", `null`)
	expect(t, lines, "ready", `null`)

	if err := h.server().Broadcast("terminal:js", "note", map[string]int{"n": 1}); err != nil {
		t.Fatal(err)
	}
	expect(t, lines, "broadcast", `{"n":1}`)

	if n := h.server().Disconnect("socket:js-1"); n != 1 {
		t.Errorf("%d sockets disconnected", n)
	}
	expect(t, lines, "closed", `1001`)
	expect(t, lines, "joined", joined)

	h.restart(t)
	expect(t, lines, "closed", `1012`)
	expect(t, lines, "joined", joined)

	if _, err := io.WriteString(in, "quit\n"); err != nil {
		t.Fatal(err)
	}
	for range lines { // its output has to be read before Wait
	}
	if err := judge.Wait(); err != nil {
		t.Errorf("the judge ended with %v", err)
	}
}

// restart ends the server as a restart does and puts a new one in its place.
func (h *hub) restart(t testing.TB) {
	t.Helper()
	old := h.server()
	if err := old.Shutdown(testContext(t)); err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Server = &channel.Server{Connect: h.connect, Join: h.join}
}

// server is the one that serves now.
func (h *hub) server() *channel.Server {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Server
}
