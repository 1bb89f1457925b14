package main

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"brabo.dev/runner/runner/hub"
)

// manyProjects is how many projects one daemon serves in a test of scale.
const manyProjects = 1000

// TestFaultThousandProjectsSurviveARestartOfTheHub starts a daemon that serves a thousand projects, starts its hub again,
// and waits until all are back and one of them works.
func TestFaultThousandProjectsSurviveARestartOfTheHub(t *testing.T) {
	home := inHome(t)
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	var projects []hub.Project
	for i := range manyProjects {
		id := fmt.Sprint("project-", i)
		projects = append(projects, hub.Project{ID: id, Name: id, Mode: hub.ModeRunner, Root: filepath.Join(home, "base", id)})
	}
	host := startHubHost(t, home, func(c *hub.Config) {
		c.Projects, c.Credentials = projects, []hub.Credential{{ID: "key-1", Key: public}}
	})
	b64 := base64.RawURLEncoding.EncodeToString
	jwk, err := json.Marshal(map[string]string{"kty": "OKP", "crv": "Ed25519", "x": b64(public), "d": b64(private.Seed()), "kid": "key-1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "brabo-runner-device-key.jwk.json"), jwk, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RUNNER_CONNECT_BACKOFF_MAX", "5s")
	p := startProcess(t, home, "", host.url, func(cmd *exec.Cmd) {
		cmd.Dir = home
		cmd.Args = []string{os.Args[0], "run", "--api-url", host.url, "--base", filepath.Join(home, "base")}
		cmd.Env = append(cmd.Env, "BRABO_ACCOUNT_TOKEN=") // the key is for all of them
	})
	await := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
		defer cancel()
		for i, p := range projects {
			if err := host.hub.WaitRunner(ctx, p.ID); err != nil {
				t.Fatalf("%d of %d are there: %v", i, len(projects), err)
			}
		}
	}
	await()
	host.stop()
	host.start()
	await()
	a, err := host.hub.Propose(hub.Proposal{ProjectID: "project-500", Type: "terminal", Command: "basename $PWD"})
	if err != nil {
		t.Fatal(err)
	}
	if a = awaitAction(t, host.hub, a.ID); a.Status != hub.Executed || a.Outcome.Output != "project-500\n" {
		t.Errorf("%s %+v", a.Status, a.Outcome)
	}
	p.signal(t, syscall.SIGTERM)
	p.wait(t, exitOK)
}
