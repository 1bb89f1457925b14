package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/client"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/settings"
)

// ownHub is a hub with a daemon, whose owner's commands find it as they find that of `runner hub`.
func ownHub(t *testing.T) (home, root, url string) {
	t.Helper()
	home = inHome(t)
	const owner = "owner-token-of-the-test"
	h, url, root, _ := startHub(t, home, func(c *hub.Config) {
		c.Decider, c.PersonToken, c.Person = nil, owner, "ana"
		c.Projects[0].Mode = hub.ModeMounted
	})
	folder := filepath.Join(home, ".local", "share", "runner", "hub")
	for name, text := range map[string]string{client.AddressFile: fmt.Sprintf(`{"url":%q}`, url), client.TokenFile: owner + "\n"} {
		if err := settings.WriteFile(filepath.Join(folder, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	startProcess(t, home, root, url)
	awaitRunner(t, h)
	rules := `{"allow":["Terminal(echo)"],"deny":["Terminal(curl)"]}`
	if err := os.WriteFile(filepath.Join(root, "permissions.json"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	return home, root, url
}

// wants asserts what a command printed and how it ended.
func wants(t *testing.T, home string, code int, pattern string, args ...string) string {
	t.Helper()
	out, got := command(t, home, args...)
	if got != code || !regexp.MustCompile(pattern).MatchString(out) {
		t.Errorf("runner %s: exit %d, want %d and %s in\n%s", strings.Join(args, " "), got, code, pattern, out)
	}
	return out
}

func TestAgentsProposeAndPeopleDecideFromTheCommandLine(t *testing.T) {
	home, root, _ := ownHub(t)
	wants(t, home, 0, `(?s)^hello\n$`, "propose", "terminal", "--project", "p", "--wait", "--", "echo", "hello")
	wants(t, home, exitDenied, `denied: .*curl`, "propose", "terminal", "--project", "Shop", "--wait", "--", "curl https://example.com")

	id := strings.Fields(wants(t, home, 0, `pending`, "propose", "terminal", "--project", "p", "--", "touch made; exit 3"))[0]
	wants(t, home, 0, id+`.*touch made; exit 3`, "pending")
	wants(t, home, exitTimedOut, `wait_timed_out`, "propose", "terminal", "--project", "p", "--wait", "--patience", "50ms", "--", "touch other")
	wants(t, home, 0, id, "approve", id)
	awaitFileExists(t, filepath.Join(root, "made"))
	wants(t, home, 1, `action_not_found`, "approve", "nobody")

	c, err := (&hubFlags{}).client() // of the same home
	if err != nil {
		t.Fatal(err)
	}
	id = strings.Fields(wants(t, home, 0, `pending`, "propose", "terminal", "--project", "p", "--", "sort made"))[0]
	_, err = (&proposeFlags{patience: time.Millisecond}).await(t.Context(), c, id)
	failuretest.Produced(t, err, failure.WaitTimedOut)
	wants(t, home, 0, `written: Terminal\(sort made\)`, "approve", "--always", id)
	wants(t, home, 0, `desfecho.*ja_aprovada`, "approve", "--always", "--json", id)
	wants(t, home, 0, `^$`, "propose", "terminal", "--project", "p", "--wait", "--", "sort made")

	id = strings.Fields(wants(t, home, 0, `pending`, "propose", "terminal", "--project", "p", "--", "make all"))[0]
	wants(t, home, 0, `denied`, "deny", id, "--reason", "use go build")
	wants(t, home, 0, id+` +denied`, "pending", "--all")
	out := wants(t, home, 0, `proposed_action\.denied`, "events", "--type", "proposed_action.denied", "--json")
	var e hub.Event
	if err := json.Unmarshal([]byte(out), &e); err != nil || e.Actor.ID != "ana" || !strings.Contains(string(e.Payload), "use go build") {
		t.Errorf("%+v %v", e, err)
	}
	wants(t, home, 2, `usage`, "propose", "other", "pr_open", "--project", "p", "--params", "[]")
	wants(t, home, 1, `project_unclear`, "propose", "terminal", "--project", "nowhere", "--", "echo x")
	wants(t, home, 1, `project_unclear`, "propose", "terminal", "--", "echo x")
}

func TestPeopleLookAfterTheHubFromTheCommandLine(t *testing.T) {
	home, _, _ := ownHub(t)
	other := filepath.Join(home, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	id := strings.Fields(wants(t, home, 0, `other`, "project", "add", other))[0]
	wants(t, home, 1, `already_exists`, "project", "add", other)
	wants(t, home, 0, `(?m)`+id+` +other +mounted`, "project", "list")
	wants(t, home, 0, `patterns`, "project", "activate", "other")
	if raw, err := os.ReadFile(filepath.Join(other, "permissions.json")); err != nil || !strings.Contains(string(raw), "Terminal(git status)") {
		t.Errorf("%s %v", raw, err)
	}
	scratch := filepath.Join(home, "scratch")
	wants(t, home, 0, ``, "project", "set", "other", "also_inside", scratch)
	here, err := os.ReadFile(filepath.Join(home, ".config", "runner", "projects.json"))
	if err != nil || !strings.Contains(string(here), scratch) || !strings.Contains(string(here), id) {
		t.Errorf("%s %v", here, err)
	}
	wants(t, home, 2, `usage: project set colour`, "project", "set", "other", "colour", "red")

	out := wants(t, home, 0, `(?s)token .*mcpServers.*"mcp"`, "agent", "add", "coder", "--project", "other")
	wants(t, home, 0, `coder`, "agent", "list")
	wants(t, home, 0, `coder +git_commit +auto_approve`, "autonomy", "auto_approve", "--agent", "coder", "--type", "git_commit", "--project", "other")
	wants(t, home, 0, `^no row of autonomy is set, so the project.s rules decide\n$`, "autonomy", "none", "--agent", "coder", "--type", "git_commit", "--project", "other")
	wants(t, home, 0, ``, "agent", "remove", "coder", "--project", "other")
	token := regexp.MustCompile(`token (\S+)`).FindStringSubmatch(out)[1]
	file := filepath.Join(home, "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, home, 1, `unauthorized`, "propose", "terminal", "--token-file", file, "--project", id, "--", "echo x")

	wants(t, home, 0, `.`, "member", "add", "bia", "developer")
	wants(t, home, 0, ``, "member", "role", "bia", "viewer")
	wants(t, home, 0, `bia +viewer`, "member", "list")
	wants(t, home, 0, ``, "member", "remove", "bia")
	secret := filepath.Join(home, "secret")
	if err := os.WriteFile(secret, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, home, 0, ``, "credential", "set", "git.example", "--username", "ana", "--token-from", secret)
	if out := wants(t, home, 0, `git\.example +ana`, "credential", "list"); strings.Contains(out, "hunter2") {
		t.Error("the token is shown")
	}
	wants(t, home, 0, ``, "credential", "remove", "git.example")
	wants(t, home, 0, ``, "project", "remove", "other")
	wants(t, t.TempDir(), 1, `hub_not_running`, "pending")
}

// connect starts `runner mcp` as a client of the protocol does.
func connect(t *testing.T, home, url, token string, progress chan<- string) *sdk.ClientSession {
	t.Helper()
	cmd := exec.Command(os.Args[0], "mcp")
	cmd.Env = []string{asCommand + "=1", "HOME=" + home, "PATH=" + os.Getenv("PATH"), hubURLVariable + "=" + url, agentTokenVariable + "=" + token}
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Message },
	})
	session, err := c.Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// call calls a tool and gives its text.
func call(t *testing.T, s *sdk.ClientSession, tool string, arguments map[string]any) (text string, failed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	params := &sdk.CallToolParams{Name: tool, Arguments: arguments}
	params.SetProgressToken("token-" + tool)
	r, err := s.CallTool(ctx, params)
	if err != nil {
		t.Fatal(err)
	}
	return r.Content[0].(*sdk.TextContent).Text, r.IsError
}

// TestMCPClientGetsAHandThatAsksFirst needs git. The client is the protocol's own SDK, the daemon a real one.
func TestMCPClientGetsAHandThatAsksFirst(t *testing.T) {
	home, root, url := ownHub(t)
	out := wants(t, home, 0, `token`, "agent", "add", "coder", "--project", "p")
	token := regexp.MustCompile(`token (\S+)`).FindStringSubmatch(out)[1]
	progress := make(chan string, 100)
	s := connect(t, home, url, token, progress)

	if text, failed := call(t, s, "run_command", map[string]any{"command": "echo from the agent"}); failed || text != "from the agent\n[exit code 0]" {
		t.Errorf("%v %q", failed, text)
	}
	if text, failed := call(t, s, "run_command", map[string]any{"command": "curl https://example.com"}); !failed || !strings.Contains(text, "[denied: ") {
		t.Errorf("%v %q", failed, text)
	}
	// What waits for a person reports progress, and comes back with the person's word.
	type answer struct {
		text   string
		failed bool
	}
	waiting := func(tool string, arguments map[string]any) (id string, done chan answer) {
		done = make(chan answer, 1)
		go func() {
			text, failed := call(t, s, tool, arguments)
			done <- answer{text, failed}
		}()
		select {
		case message := <-progress:
			return regexp.MustCompile(`action (\S+) is pending`).FindStringSubmatch(message)[1], done
		case a := <-done:
			t.Fatalf("it did not wait: %+v", a)
		case <-time.After(time.Minute):
			t.Fatal("no progress was reported")
		}
		return "", nil
	}
	id, done := waiting("run_command", map[string]any{"command": "touch approved; exit 4"})
	wants(t, home, 0, id, "approve", id)
	if a := <-done; !a.failed || a.text != "[exit code 4]" {
		t.Errorf("%+v", a)
	}
	if _, err := os.Stat(filepath.Join(root, "approved")); err != nil {
		t.Error(err)
	}
	id, done = waiting("run_command", map[string]any{"command": "make all"})
	wants(t, home, 0, id, "deny", id, "--reason", "use go build")
	if a := <-done; !a.failed || a.text != "[denied: use go build]" {
		t.Errorf("%+v", a)
	}
	if text, failed := call(t, s, "action_status", map[string]any{"id": id}); !failed || text != "[denied: use go build]" {
		t.Errorf("%v %q", failed, text)
	}
	// Typed actions run without a shell; rules approve them by their type.
	for _, kind := range []string{"write_file", "git_commit"} {
		wants(t, home, 0, kind+` +auto_approve`, "autonomy", "auto_approve", "--agent", "coder", "--type", kind, "--project", "p")
	}
	if out, err := exec.Command("git", "init", "-q", "-b", "main", root).CombinedOutput(); err != nil {
		t.Fatalf("needs git: %s", out)
	}
	identity := "[user]\n\tname = Coder\n\temail = coder@example.com\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(identity), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, failed := call(t, s, "write_file", map[string]any{"path": "src/new.txt", "content": "written\n"}); failed || text != "[done]" {
		t.Errorf("%v %q", failed, text)
	}
	if raw, err := os.ReadFile(filepath.Join(root, "src", "new.txt")); err != nil || string(raw) != "written\n" {
		t.Errorf("%q %v", raw, err)
	}
	if text, failed := call(t, s, "git_commit", map[string]any{"message": "Add it", "paths": []string{"src/new.txt"}}); failed || text != "[done]" {
		t.Errorf("%v %q", failed, text)
	}
	if out, err := exec.Command("git", "-C", root, "log", "--format=%s by %an").CombinedOutput(); err != nil || string(out) != "Add it by Coder\n" {
		t.Errorf("%s %v", out, err)
	}
	// Without paths everything is committed but the other client's key, which a browser puts into the project's folder.
	if err := os.WriteFile(filepath.Join(root, pairing.DeviceKeyName), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, failed := call(t, s, "git_commit", map[string]any{"message": "Add the rest"}); failed || text != "[done]" {
		t.Errorf("%v %q", failed, text)
	}
	if out, err := exec.Command("git", "-C", root, "ls-files").CombinedOutput(); err != nil || string(out) != "approved\npermissions.json\nsrc/new.txt\n" {
		t.Errorf("%s %v", out, err)
	}
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 9 {
		t.Errorf("%d tools, %v", len(tools.Tools), err)
	}
}

func TestEventsAreFollowed(t *testing.T) {
	home, _, _ := ownHub(t)
	cmd := exec.Command(os.Args[0], "events", "-f", "--json", "--type", "action.executed")
	cmd.Env = []string{asCommand + "=1", "HOME=" + home}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	wants(t, home, 0, `one`, "propose", "terminal", "--project", "p", "--wait", "--", "echo one")
	wants(t, home, 0, `two`, "propose", "terminal", "--project", "p", "--wait", "--", "echo two")
	lines := bufio.NewScanner(out)
	for range 2 {
		var e hub.Event
		if !lines.Scan() || json.Unmarshal(lines.Bytes(), &e) != nil || e.Type != "action.executed" {
			t.Errorf("%s %v", lines.Text(), lines.Err())
		}
	}
}
