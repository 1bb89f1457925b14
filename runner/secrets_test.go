package runner

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/journal"
	"brabo.dev/runner/runner/redact"
	"brabo.dev/runner/workspace/git"
)

// holdsNone fails where text holds a form of a secret.
func holdsNone(t *testing.T, where, text string, secrets ...string) {
	t.Helper()
	if clean := redact.New(secrets...).Text(text); clean != text {
		at := strings.Index(clean, redact.Mark)
		t.Errorf("%s holds a secret: …%.200s", where, text[max(at-50, 0):])
	}
}

// filesHoldNone is holdsNone for every file below a folder, of which there has to be one.
func filesHoldNone(t *testing.T, folder string, secrets ...string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		holdsNone(t, path, string(raw), secrets...)
		files++
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files in %s, %v", files, folder, err)
	}
}

// What the server sends in env is told nowhere: not in the result, not in what is shown before, not in the output that is
// kept, not in the journal, not in the log. Runs real bash and base64.
func TestAttackEnvComesBackInNoForm(t *testing.T) {
	const secret = `tok&en/with+"quotes" and=12`
	const own = "brb_the-token-of-the-daemon"
	e := newEngine(t, action.Known()...)
	state := t.TempDir()
	kept, err := journal.Open(journal.Options{Folder: filepath.Join(state, "journal"), Keep: time.Hour, Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	d := startDaemon(t, e, func(o *Options) {
		o.Ledger, o.Secrets = kept, &redact.Known{}
		o.Secrets.Keep(own)
		o.Commands.SpoolDir, o.Commands.SpoolLimit, o.Commands.SpoolTotal = filepath.Join(state, "output"), 1<<20, 1<<30
		o.Commands.ResultLimit = 2048
	})
	e.joined(t)
	text := `t=$BRABO_GIT_TOKEN
# ` + secret + `
echo "plain $t"; printf 'u:%s' "$t" | base64; printf 'user:%s' "$t" | base64 | tr '+/' '-_'
printf %s "${t:0:9}"; sleep 0.1; printf '%s\n' "${t:9}" # in two pieces
echo 'tok%26en%2Fwith%2b%22quotes%22+and%3D12 tok&en/with+\"quotes\" and=12'
echo "` + own + `"; seq 2000; echo "$t" end`
	env, _ := json.Marshal(map[string]string{"BRABO_GIT_TOKEN": secret, "BRABO_GIT_USERNAME": "maria", "BRABO_GIT_HOST": "git.example"})
	e.exec(t, "a", text, `,"env":`+string(env))
	pieces, result := e.shown(t)
	if result.ExitCode != 0 || !strings.HasPrefix(result.Output, "plain (redacted)\n") || !strings.HasSuffix(result.Output, "(redacted) end\n") {
		t.Errorf("%+v", result)
	}
	holdsNone(t, "the result", result.Output, secret, own)
	var all strings.Builder
	for _, p := range pieces {
		all.Write(p.Data)
	}
	if len(pieces) == 0 || !strings.Contains(all.String(), "(redacted) end\n") {
		t.Errorf("%d pieces", len(pieces))
	}
	holdsNone(t, "what is shown", all.String(), secret, own)

	// A refusal that names what it refuses, and one by the deny rules whose text is logged.
	e.exec(t, "b", "echo "+secret, fmt.Sprintf(`,"cwd":"/nowhere/brb_a-token-in-a-path","env":{"T":"brb_a-token-in-a-path","LONG":%s}`, mustJSON(secret)))
	refused := e.result(t)
	failuretest.Produced(t, refused.Failure, failure.CwdOutside)
	holdsNone(t, "the refusal", fmt.Sprintf("%+v %+v", refused, *refused.Failure), secret, "brb_a-token-in-a-path")
	if refused.Failure.Subject != "/nowhere/(redacted)" {
		t.Error(refused.Failure.Subject)
	}
	e.exec(t, "c", "echo maria at git.example", `,"env":{"BRABO_GIT_USERNAME":"maria","BRABO_GIT_HOST":"git.example"}`)
	if got := e.result(t); got.Output != "maria at git.example\n" {
		t.Errorf("%+v", got)
	}
	d.stop()
	if err := d.wait(t); err != nil {
		t.Error(err)
	}
	if err := kept.Close(); err != nil {
		t.Error(err)
	}
	holdsNone(t, "the log", d.log.String(), secret, "brb_a-token-in-a-path")
	filesHoldNone(t, filepath.Join(state, "output"), secret, own)
	filesHoldNone(t, filepath.Join(state, "journal"), secret, "brb_a-token-in-a-path")
}

// TestSecretOfAnActionIsToldByNoOtherExit goes through those that a command's end does not pass: what waits for a person, and
// the failures and results of typed actions. It needs git.
func TestSecretOfAnActionIsToldByNoOtherExit(t *testing.T) {
	const secret = "sk_a-token/of+the action"
	e := newEngine(t, action.Known()...)
	d := startDaemon(t, e, func(o *Options) { o.Git = &git.Git{} })
	e.joined(t)
	e.exec(t, "held", "$X "+secret, `,"env":{"T":`+mustJSON(secret)+`},"deadlineMs":600000,"decision":{"kind":"policy","at":"2026-12-02T08:00:00Z"}`)
	held := d.held(t, 1)[0]
	if !strings.HasPrefix(held.Text, "$X "+redact.Mark+"\n") {
		t.Errorf("%+v", held)
	}
	holdsNone(t, "what is held", fmt.Sprintf("%+v", held), secret)
	if err := d.m.Confirm(held.ID, false); err != nil {
		t.Fatal(err)
	}
	if f := failuretest.Produced(t, e.result(t).Failure, failure.ConfirmationRefused); strings.Contains(fmt.Sprint(f), secret) {
		t.Error(f)
	}
	write := func(path string) string {
		e.send(t, "action", `{"ref":`+mustJSON("write "+path[:1])+`,"type":"write_file","params":{"path":`+mustJSON(path)+`,"content":"x"},"env":{"T":`+mustJSON(secret)+`}`+person+`}`)
		return string(e.hear(t, "action_result").Payload)
	}
	for path, says := range map[string]string{"../" + secret: string(failure.WritePathInvalid), "sub/" + secret: `"ok":true`} {
		told := write(path)
		if !strings.Contains(told, says) || !strings.Contains(told, redact.Mark) {
			t.Error(told)
		}
		holdsNone(t, "the answer", told, secret)
	}
	d.stop()
	if err := d.wait(t); err != nil {
		t.Error(err)
	}
	holdsNone(t, "the log", d.log.String(), secret)
}

func mustJSON(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

func TestEnvThatIsTooLargeToBeKeptOutIsRefused(t *testing.T) {
	e := newEngine(t)
	startDaemon(t, e)
	e.joined(t)
	e.exec(t, "a", "true", `,"env":{"T":"`+strings.Repeat("x", redact.MaxTotal+1)+`"}`)
	failuretest.Produced(t, e.result(t).Failure, failure.InvalidEnv)
}
