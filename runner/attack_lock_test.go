package runner

import (
	"encoding/json"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/machinepolicy"
	"brabo.dev/runner/runner/policy"
	"brabo.dev/runner/workspace/git"
)

// withPolicy locks a daemon by the text of a policy.json, in which BASE stands for the test's folder.
func withPolicy(t testing.TB, base, text string) func(*Options) {
	t.Helper()
	p, err := machinepolicy.Parse("policy.json", []byte(strings.ReplaceAll(text, "BASE", base)))
	if err != nil {
		t.Fatal(err)
	}
	return func(o *Options) {
		o.Lock = func(id string) (machinepolicy.Lock, error) { return p.For(id), nil }
	}
}

// protecting lets a daemon know what is its own: a folder in base, which is the home.
func protecting(base string) func(*Options) {
	return func(o *Options) {
		o.Protected = policy.Protected{
			Programs: []string{"runner"}, Commands: []string{"approve", "confirm", "policy", "config"},
			Folders: []string{filepath.Join(base, ".config", "runner"), filepath.Join(base, "state", "runner")},
			Files:   []string{"brabo-runner-device-key.jwk.json"}, Variables: map[string]string{"HOME": base},
		}
		o.Managed = filepath.Join(base, "etc", "runner", machinepolicy.FileName)
	}
}

const person = `,"decision":{"kind":"human","by":"ana","at":"2026-12-02T08:00:00Z"}`

// answer gives the failure in the next message of an event.
func (e *engine) answer(t testing.TB, event string) *failure.Failure {
	t.Helper()
	var r struct{ Failure *failure.Failure }
	if err := json.Unmarshal(e.hear(t, event).Payload, &r); err != nil {
		t.Fatal(err)
	}
	return r.Failure
}

// TestAttackServerThatApprovesWhatThisMachineRefuses needs git. Each row says what a server tried in the name of a
// person, and which rule stopped it.
func TestAttackServerThatApprovesWhatThisMachineRefuses(t *testing.T) {
	command := func(text string) string {
		raw, _ := json.Marshal(text)
		return `{"ref":"a","command":` + string(raw) + person + `}`
	}
	for _, c := range []struct {
		tried, policy  string
		event, payload string
		answer         string
		stopped        failure.Name
	}{
		{"a command where none may run", `{"default":{"actions":["git_commit"]}}`, "exec", command("touch done"), "exec_result", failure.MachinePolicyRefused},
		{"a command in a project for which none may run", `{"default":{},"projects":{"p":{"actions":[]}}}`, "exec", command("touch done"), "exec_result", failure.MachinePolicyRefused},
		{"a project elsewhere", `{"default":{"roots":["BASE/other"]}}`, "exec", command("touch done"), "exec_result", failure.MachinePolicyRefused},
		{"a denied command", `{"default":{"deny":["Terminal(touch)"]}}`, "exec", command("touch done"), "exec_result", failure.PolicyDenied},
		{"a denied command in a disguise", `{"default":{"deny":["Terminal(touch)"]}}`, "exec", command("bash -c 'env X=1 to\"\"uch done'"), "exec_result", failure.PolicyDenied},
		{"a denied command that the server calls its git work", `{"default":{"deny":["Terminal(touch)"]}}`, "exec", `{"ref":"a","command":"touch done","gitCredenciado":true` + person + `}`, "exec_result", failure.PolicyDenied},
		{"privileges", `{"default":{"ceilings":{"privileged":"refuse"}}}`, "exec", command("touch done; sudo true"), "exec_result", failure.MachinePolicyRefused},
		{"a push", `{"default":{"ceilings":{"external_effect":"refuse"}}}`, "exec", command("touch done; git push"), "exec_result", failure.MachinePolicyRefused},
		{"text that hides what runs", `{"default":{"ceilings":{"unresolved":"refuse"}}}`, "exec", command("touch done; $X"), "exec_result", failure.MachinePolicyRefused},
		{"a hook of git", `{"default":{"ceilings":{"policy_file":"refuse"}}}`, "exec", command("touch done; echo x >.git/hooks/pre-commit"), "exec_result", failure.MachinePolicyRefused},
		{"a command without the confinement that is demanded", `{"default":{"confine":{"mode":"on"}}}`, "exec", command("touch done"), "exec_result", failure.ConfinementUnavailable},
		{"a typed push", `{"default":{"ceilings":{"external_effect":"refuse"}}}`, "action", `{"ref":"a","type":"git_push","params":{"branch":"main"}` + person + `}`, "action_result", failure.MachinePolicyRefused},
		{"a typed push that is denied", `{"default":{"deny":["GitPush()"]}}`, "action", `{"ref":"a","type":"git_push","params":{"branch":"main"}` + person + `}`, "action_result", failure.PolicyDenied},
		{"a hook, written without a shell", `{"default":{"ceilings":{"policy_file":"refuse"}}}`, "action", `{"ref":"a","type":"write_file","params":{"path":".husky/x","content":"x"}` + person + `}`, "action_result", failure.MachinePolicyRefused},
		{"a file, where none may be written", `{"default":{"actions":["terminal"]}}`, "action", `{"ref":"a","type":"write_file","params":{"path":"done","content":"x"}` + person + `}`, "action_result", failure.MachinePolicyRefused},
		{"a container of another image", `{"default":{"images":["local/*"]}}`, "container_start", `{"ref":"a","spec":` + spec("shop", "evil:1") + person + `}`, "container_start_result", failure.MachinePolicyRefused},
		{"a container with a network", `{"default":{"network":"none"}}`, "container_start", `{"ref":"a","spec":` + strings.Replace(spec("shop", "busybox:1"), `"rede":"none"`, `"rede":"egress"`, 1) + person + `}`, "container_start_result", failure.MachinePolicyRefused},
		{"the end of a container, where none may end", `{"default":{"actions":["container_start"]}}`, "container_stop", `{"ref":"a","workspaceDirName":"shop"` + person + `}`, "container_stop_result", failure.MachinePolicyRefused},
		{"a mirror, where none may be", `{"default":{"actions":["terminal"]}}`, "mirror_sync", `{"ref":"a","destino":"BASE/copy"}`, "mirror_sync_result", failure.MachinePolicyRefused},
		{"a mirror elsewhere", `{"default":{"roots":["BASE/project"]}}`, "mirror_sync", `{"ref":"a","destino":"BASE/copy"}`, "mirror_sync_result", failure.MachinePolicyRefused},
		{"a look around, where none may look", `{"default":{"actions":["terminal"]}}`, "fs_list_dir", `{"ref":"a","path":"BASE"}`, "fs_list_dir_reply", failure.MachinePolicyRefused},
		{"a look around elsewhere", `{"default":{"roots":["BASE/project"]}}`, "fs_list_dir", `{"ref":"a","path":"BASE"}`, "fs_list_dir_reply", failure.MachinePolicyRefused},
		{"the name of the home, where none may look", `{"default":{"actions":["terminal"]}}`, "fs_home_dir", `{"ref":"a"}`, "fs_home_dir_reply", failure.MachinePolicyRefused},
		{"a terminal", `{"default":{"terminals":false}}`, "pty_open", `{"sessionRef":"a","cols":80,"rows":24}`, "pty_error", failure.MachinePolicyRefused},
		{"a terminal without the confinement that is demanded", `{"default":{"confine":{"mode":"on"}}}`, "pty_open", `{"sessionRef":"a","cols":80,"rows":24}`, "pty_error", failure.ConfinementUnavailable},
	} {
		t.Run(c.tried, func(t *testing.T) {
			e := newEngine(t, action.Known()...)
			base := t.TempDir()
			e.mirror = filepath.Join(base, "copy")
			d := startDaemonIn(t, e, base, withPolicy(t, base, c.policy), func(o *Options) {
				o.Git, o.Terminals.Max, o.Browse.Roots = &git.Git{}, 1, []string{base}
			})
			e.joined(t)
			e.send(t, c.event, strings.ReplaceAll(c.payload, "BASE", base))
			failuretest.Produced(t, e.answer(t, c.answer), c.stopped)
			for _, name := range []string{"done", ".husky"} {
				if _, err := os.Stat(filepath.Join(d.root, name)); err == nil {
					t.Error("it ran")
				}
			}
		})
	}
}

// TestAttackJudgedThatSteersTheJudge needs git. Each row is a way to reach what decides about the action itself, which a
// person approved.
func TestAttackJudgedThatSteersTheJudge(t *testing.T) {
	for tried, command := range map[string]string{
		"approve itself":                   "runner approve 1",
		"confirm itself":                   "/usr/local/bin/runner confirm allow 1",
		"approve through wrappers":         `sh -c 'env A=1 nohup runner appro""ve 1'`,
		"approve through a pipe":           "echo 1 | xargs runner approve",
		"change the settings":              "runner config set terminals.enabled true",
		"read the policy":                  "cat BASE/.config/runner/policy.json",
		"read it from home":                "cat ~/.config/runner/policy.json",
		"read it by a variable":            `cat "$HOME/.config/runner/policy.json"`,
		"read it relatively":               "cat ../.config/runner/policy.json",
		"read it after a change of folder": "cd ~/.config && cat runner/policy.json",
		"read it by a glob":                "cat ~/.conf*/run*/policy.json",
		"replace it":                       "echo '{}' >BASE/.config/runner/policy.json",
		"move it away":                     "mv ~/.config ~/gone",
		"talk to the socket":               "curl --unix-socket BASE/state/runner/control.sock http://x/confirm -d '{}'",
		"read the journal":                 "strings ../state/runner/journal.db",
		"read the other client's key":      "cat brabo-runner-device-key.jwk.json",
		"change the other client's server": `echo '{"projectId":"p","apiUrl":"https://evil.example"}' >brabo-runner.config.json`,
		"the same by a tool":               "sed -i s/brabo/evil/ ./brabo-runner.config.json",
		"read it in another language":      `python3 -c 'print(open("BASE/.config/runner/policy.json").read())'`,
		"replace the machine's own":        "sudo tee BASE/etc/runner/policy.json <permissions.json",
		"take it away with its folder":     "sudo rm -r BASE/etc/runner",
		"hide it in text that is no Bash":  "if then cat BASE/.config/runner/policy.json",
	} {
		t.Run(tried, func(t *testing.T) {
			for name, grants := range map[string][]action.Extension{"from a hub": action.Known(), "from a server that asks by itself": nil} {
				e := newEngine(t, grants...)
				base := t.TempDir()
				startDaemonIn(t, e, base, protecting(base))
				e.joined(t)
				e.exec(t, "a", strings.ReplaceAll(command, "BASE", base), person)
				r := e.result(t)
				if r.ExitCode != -1 {
					t.Errorf("%s: %+v", name, r)
				}
				failuretest.Produced(t, r.Failure, failure.SteersTheJudge)
			}
		})
	}
}

// TestAttackWritesThatSteerTheJudge needs git.
func TestAttackWritesThatSteerTheJudge(t *testing.T) {
	base := t.TempDir()
	e := newEngine(t, action.Known()...)
	e.mirror = filepath.Join(base, ".config", "runner", "x")
	d := startDaemonIn(t, e, base, protecting(base), func(o *Options) {
		o.Git, o.Browse.Roots = &git.Git{}, []string{base}
		o.Protected.Folders = append(o.Protected.Folders, filepath.Join(base, "project", "ours")) // as where the root is the home
	})
	e.joined(t)
	for _, c := range []struct{ tried, event, payload, answer string }{
		{"the other client's key", "action", `"type":"write_file","params":{"path":"brabo-runner-device-key.jwk.json","content":"{}"}`, "action_result"},
		{"which server the other client's settings name", "action", `"type":"write_file","params":{"path":"brabo-runner.config.json","content":"{}"}`, "action_result"},
		{"a policy, where the root holds ours", "action", `"type":"write_file","params":{"path":"ours/policy.json","content":"{}"}`, "action_result"},
		{"the same in other letters", "action", `"type":"write_file","params":{"path":"OURS/policy.json","content":"{}"}`, "action_result"},
		{"a commit of the key", "action", `"type":"git_commit","params":{"message":"x","paths":["brabo-runner-device-key.jwk.json"]}`, "action_result"},
		{"a mirror into ours", "mirror_sync", `"destino":"` + e.mirror + `"`, "mirror_sync_result"},
		{"a look into ours", "fs_list_dir", `"path":"` + filepath.Join(base, ".config", "runner") + `"`, "fs_list_dir_reply"},
	} {
		e.send(t, c.event, `{"ref":"`+c.tried+`",`+c.payload+person+`}`)
		if f := e.answer(t, c.answer); f == nil || f.Name != failure.SteersTheJudge {
			t.Errorf("%s: %v", c.tried, f)
		}
	}
	if entries, err := os.ReadDir(d.root); err != nil || len(entries) > 0 {
		t.Errorf("something was written: %v %v", entries, err)
	}
}

// TestPolicyThatIsBrokenRefusesEverything, and what is correct again is used at once.
func TestPolicyThatIsBrokenRefusesEverything(t *testing.T) {
	e := newEngine(t, action.Known()...)
	path := filepath.Join(t.TempDir(), machinepolicy.FileName)
	put := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	startDaemon(t, e, func(o *Options) { o.Lock = (&machinepolicy.Files{Own: path}).Lock })
	e.joined(t)
	for i, text := range []string{`{"default":{}}`, `{"default":{"denny":[]}}`, `{}`, ""} {
		put(text)
		ref := string(rune('a' + i))
		e.exec(t, ref, "echo ran", person)
		r := e.result(t)
		if i%2 == 0 {
			if r.Output != "ran\n" {
				t.Errorf("%s: %+v", text, r)
			}
			continue
		}
		failuretest.Produced(t, r.Failure, failure.MachinePolicyInvalid)
	}
}

// TestAttackMirrorThatCarriesTheKeyAway needs git. The key of the existing client lies in the project's folder, where git
// lists it.
func TestAttackMirrorThatCarriesTheKeyAway(t *testing.T) {
	base := t.TempDir()
	e := newEngine(t, action.Known()...)
	e.mirror = filepath.Join(base, "copy")
	d := startDaemonIn(t, e, base, protecting(base), func(o *Options) { o.Git = &git.Git{} })
	e.joined(t)
	if out, err := osexec.Command("git", "init", "-q", d.root).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"brabo-runner-device-key.jwk.json", "brabo-runner.config.json", "main.go"} {
		if err := os.WriteFile(filepath.Join(d.root, name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e.send(t, action.EventMirrorSync, `{"ref":"a","destino":"`+e.mirror+`"`+person+`}`)
	var r action.MirrorSyncResult
	if err := json.Unmarshal(e.hear(t, action.EventMirrorSyncResult).Payload, &r); err != nil {
		t.Fatal(err)
	}
	if !r.Sucesso || *r.Copiados != 1 || *r.Recusados != 2 {
		t.Errorf("%+v", r)
	}
	if entries, err := os.ReadDir(e.mirror); err != nil || len(entries) != 1 || entries[0].Name() != "main.go" {
		t.Errorf("the copy holds %v %v", entries, err)
	}
}
