package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"brabo.dev/runner/containerctl"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub"
	hubclient "brabo.dev/runner/runner/hub/client"
	"brabo.dev/runner/runner/settings"
)

// managedHub is a hub that keeps project folders itself, with an owner's files and without a daemon.
func managedHub(t *testing.T) (h *hub.Hub, home, url string) {
	t.Helper()
	home = inHome(t)
	const owner = "owner-token-of-the-test"
	h, url, _, _ = startHub(t, home, func(c *hub.Config) {
		c.Decider, c.PersonToken, c.Person, c.Projects, c.Credentials = nil, owner, "ana", nil, nil
		c.Home, c.ProjectsBase, c.WorkspacesRoot = home, home, filepath.Join(home, "runner-workspaces")
	})
	folder := filepath.Join(home, ".local", "share", "runner", "hub")
	for name, text := range map[string]string{hubclient.AddressFile: `{"url":"` + url + `"}`, hubclient.TokenFile: owner + "\n"} {
		if err := settings.WriteFile(filepath.Join(folder, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return h, home, url
}

// pairHere pairs this machine with the hub as `runner up` does.
func pairHere(t *testing.T) {
	t.Helper()
	src, err := processSources()
	if err != nil {
		t.Fatal(err)
	}
	near, err := awaitHub(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := near.pairAnew(t.Context(), pairingStore(src, settings.Settings{})); err != nil {
		t.Fatal(err)
	}
}

// engineOfTest needs the first of the engines in RUNNER_TEST_ENGINES, with one of its small images.
func engineOfTest(t *testing.T) (address, image string) {
	t.Helper()
	address, _, _ = strings.Cut(os.Getenv("RUNNER_TEST_ENGINES"), ",")
	if address == "" {
		if os.Getenv("RUNNER_TEST_REQUIRE") == "1" && os.Geteuid() != 0 {
			t.Fatal("needs engines in RUNNER_TEST_ENGINES")
		}
		t.Skip("needs engines in RUNNER_TEST_ENGINES")
	}
	engine, err := containerctl.Discover(t.Context(), containerctl.Discovery{Setting: address})
	if err != nil {
		t.Fatal(err)
	}
	image, err = engine.PlainImage(t.Context())
	if err := errors.Join(err, engine.Close()); err != nil || image == "" {
		t.Fatalf("the engine at %s has no small image: %v", address, err)
	}
	return address, image
}

// TestProjectOfModeContainerRunsInItsContainer needs an engine from RUNNER_TEST_ENGINES. A hub keeps the project's folder,
// this machine's daemon is its container service, and while the container runs, what the rules say nothing about runs
// there without a question.
func TestProjectOfModeContainerRunsInItsContainer(t *testing.T) {
	address, image := engineOfTest(t)
	h, home, url := managedHub(t)
	id := strings.Fields(wants(t, home, 0, `box`, "project", "add", "--mode", "container", "--name", "box"))[0]
	propose := func(code int, pattern string, args ...string) string {
		t.Helper()
		return wants(t, home, code, pattern, append([]string{"propose", args[0], "--project", "box"}, args[1:]...)...)
	}
	propose(1, `sem_broker_na_instalacao`, "container-start", image)
	pairHere(t)
	startProcess(t, home, "", url, func(cmd *exec.Cmd) {
		cmd.Args, cmd.Dir = []string{os.Args[0], "run"}, home
		cmd.Env = append(cmd.Env, "BRABO_ACCOUNT_TOKEN=", "RUNNER_CONTAINER_ENGINE="+address)
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := h.WaitRunner(ctx, id); err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + id + ` .* (/\S+)$`).FindStringSubmatch(wants(t, home, 0, `served`, "project", "list"))
	if m == nil || filepath.Dir(m[1]) != filepath.Join(home, "runner-workspaces") {
		t.Fatalf("the folder is not the hub's: %q", m)
	}
	root := m[1]
	name := "brabo-" + filepath.Base(root)
	api, err := client.New(client.WithHost(address))
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	t.Cleanup(func() { removeContainer(t, address, name) })

	wants(t, home, 0, `patterns`, "project", "activate", "box") // the rules lie in the managed folder
	if err := os.WriteFile(filepath.Join(root, hub.ModulesFile), []byte(`[{"name":"api","cpus":0.5,"memoriaMb":64,"pidsLimit":33}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	// approved proposes what a person has to decide, and gives it as it ended.
	approved := func(want hub.Status, args ...string) hub.Action {
		t.Helper()
		id := strings.Fields(propose(0, `pending`, args...))[0]
		wants(t, home, 0, id, "approve", id)
		a := awaitAction(t, h, id)
		if a.Status != want || a.DecidedBy == nil || *a.DecidedBy != "ana" {
			t.Fatalf("%v: %s %+v", args, a.Status, a.Outcome)
		}
		return a
	}
	// Before there is a container the host is meant, and what nothing was said about asks.
	propose(0, `^`+regexp.QuoteMeta(root)+`\n$`, "terminal", "--wait", "--", "pwd")
	touch := strings.Fields(propose(0, `pending.*\(default\)`, "terminal", "--", "touch asked"))[0]
	wants(t, home, 0, touch, "deny", touch)

	less := approved(hub.Failed, "container-start", "--pids", "5", image)
	failuretest.Produced(t, less.Outcome.Failure, failure.ResourcesBelowMinimum)
	approved(hub.Executed, "container-start", image)
	inspected, err := api.ContainerInspect(t.Context(), name, client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	limits := inspected.Container.HostConfig
	if limits.NanoCPUs != 500_000_000 || limits.Memory != 64<<20 || limits.PidsLimit == nil || *limits.PidsLimit != 33 {
		t.Errorf("not the minimum of the module map: %d, %d, %v", limits.NanoCPUs, limits.Memory, limits.PidsLimit)
	}
	propose(0, `^`+containerctl.MountPoint+`\n$`, "terminal", "--wait", "--", "pwd")
	out := propose(0, `container_floor`, "terminal", "--json", "--wait", "--", "touch inside.txt")
	var a hub.Action
	if err := json.Unmarshal([]byte(out), &a); err != nil || a.Status != hub.Executed || a.DecidedBy != nil || a.ScopeRoot != "container:"+filepath.Base(root) {
		t.Errorf("%+v %v", a, err)
	}
	if _, err := os.Stat(filepath.Join(root, "inside.txt")); err != nil {
		t.Error(err)
	}
	// The floor is where the decision starts, and skips nothing that follows.
	propose(exitDenied, `builtin_deny`, "terminal", "--", "rm -rf /")
	for text, rule := range map[string]string{
		"git push": "ceiling_external_effect", "sudo id": "ceiling_privileged", "cat /etc/hostname": "ceiling_path_scope",
		"echo {} >permissions.json": "ceiling_policy_file", "echo x; $(cat made)": "compound_unmatched",
	} {
		id := strings.Fields(propose(0, `pending.*`+rule, "terminal", "--", text))[0]
		wants(t, home, 0, id, "deny", id)
	}

	// The container goes behind the hub's back: what was allowed for its sake alone runs nowhere else, and then asks.
	beyond := func() string {
		id := strings.Fields(propose(0, `pending`, "terminal", "--", "touch beyond.txt && git push"))[0]
		wants(t, home, 0, id+`.*inside of the project's container alone`, "pending")
		return id
	}
	shownFirst, shownNext := beyond(), beyond()
	removed := func() {
		t.Helper()
		if _, err := api.ContainerRemove(t.Context(), name, client.ContainerRemoveOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
	}
	removed()
	refusesOutside := func(id string) {
		t.Helper()
		wants(t, home, 0, id, "approve", id)
		failuretest.Produced(t, awaitAction(t, h, id).Outcome.Failure, failure.ContainerGone)
		if _, err := os.Stat(filepath.Join(root, "beyond.txt")); err == nil {
			t.Error("a command left the container that a person allowed it for")
		}
	}
	refusesOutside(shownFirst) // by the daemon: the hub has not heard yet
	approved(hub.Executed, "container-start", image)
	removed()
	propose(1, `container_gone`, "terminal", "--wait", "--", "touch outside.txt")
	refusesOutside(shownNext) // by the hub: it has heard by now
	asks := strings.Fields(propose(0, `pending.*\(default\)`, "terminal", "--", "touch outside.txt"))[0]
	wants(t, home, 0, asks, "deny", asks)
	if _, err := os.Stat(filepath.Join(root, "outside.txt")); err == nil {
		t.Error("a command left the container that it was allowed for")
	}
	approved(hub.Executed, "container-start", image)

	// The door for agents leads there too: an MCP client's call waits for the person, and comes back with the outcome.
	token := regexp.MustCompile(`token (\S+)`).FindStringSubmatch(wants(t, home, 0, `token`, "agent", "add", "coder", "--project", "box"))[1]
	progress := make(chan string, 100)
	session := connect(t, home, url, token, progress)
	if text, failed := call(t, session, "run_command", map[string]any{"command": "pwd"}); failed || text != containerctl.MountPoint+"\n[exit code 0]" {
		t.Errorf("%v %q", failed, text)
	}
	answered := make(chan string, 1)
	go func() {
		text, _ := call(t, session, "container_stop", nil)
		answered <- text
	}()
	select {
	case message := <-progress:
		id := regexp.MustCompile(`action (\S+) is pending`).FindStringSubmatch(message)[1]
		wants(t, home, 0, id, "approve", id)
	case text := <-answered:
		t.Fatalf("it did not wait: %s", text)
	}
	if text := <-answered; text != "[done]" {
		t.Error(text)
	}
	propose(0, `^`+regexp.QuoteMeta(root)+`\n$`, "terminal", "--wait", "--", "pwd") // on the host again
	propose(0, `pending.*\(default\)`, "terminal", "--", "touch asked")
	approved(hub.Executed, "container-remove")
	if _, err := api.ContainerInspect(t.Context(), name, client.ContainerInspectOptions{}); err == nil {
		t.Error("the container is still there")
	}
	if _, err := os.Stat(filepath.Join(root, "inside.txt")); err != nil {
		t.Errorf("the folder went with it: %v", err)
	}
	wants(t, home, 0, ``, "project", "remove", "box")
}

// removeContainer takes away the container of a test that failed in the midst.
func removeContainer(t *testing.T, address, name string) {
	t.Helper()
	api, err := client.New(client.WithHost(address))
	if err != nil {
		t.Error(err)
		return
	}
	defer api.Close()
	// In the usual case it is gone.
	_, _ = api.ContainerRemove(context.Background(), name, client.ContainerRemoveOptions{Force: true})
}
