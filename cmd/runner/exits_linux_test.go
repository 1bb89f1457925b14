package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/client"
)

// formsOf are the ways in which programs write a secret, worked out here and not by what takes them out: as they are
// printed, and what of that must not be left.
func formsOf(secret string) (printed, left []string) {
	quoted, _ := json.Marshal(secret) // of a text it can't fail
	left = []string{secret, url.QueryEscape(secret), url.PathEscape(secret), string(quoted[1 : len(quoted)-1])}
	printed = slices.Clone(left)
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for before := range 3 { // what may stand in front of it
			text := enc.EncodeToString([]byte("uuu"[:before] + secret))
			printed, left = append(printed, text), append(left, text[(before*8+5)/6:len(text)-4])
		}
	}
	return printed, left
}

// exits fails for each text that leaves with a form of a secret in it.
type exits struct {
	t       *testing.T
	secrets []string
}

func (x exits) look(exit, text string) {
	x.t.Helper()
	if text == "" {
		x.t.Errorf("%s: nothing leaves there", exit)
	}
	for _, secret := range x.secrets {
		_, left := formsOf(secret)
		for _, form := range left {
			if at := strings.Index(text, form); at >= 0 {
				x.t.Errorf("%s tells a secret: …%.200s", exit, text[max(0, at-100):])
			}
		}
	}
}

// files looks at every file below a folder but those that are named.
func (x exits) files(folder string, but ...string) {
	x.t.Helper()
	files := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		for _, b := range but {
			if d.Name() == b {
				return nil
			}
		}
		raw, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the store folds its journal in meanwhile
		}
		if len(raw) > 0 {
			x.look(path, string(raw))
			files++
		}
		return err
	})
	if err != nil || files == 0 {
		x.t.Errorf("%d files in %s, %v", files, folder, err)
	}
}

// archive looks at what `runner doctor` packs for a bug report.
func (x exits) archive(path string) {
	x.t.Helper()
	file, err := os.Open(path)
	if err != nil {
		x.t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		x.t.Fatal(err)
	}
	for archive := tar.NewReader(unzipped); ; {
		head, err := archive.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			x.t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			x.t.Fatal(err)
		}
		x.look("the bundle's "+head.Name, string(text))
	}
}

// TestSecretsLeaveByNoExit has an allowed command print the secret that came in its env, in all forms and in pieces, and the
// owner's token of the hub, and looks at everything that hub and daemon write, answer and show. It needs bash.
func TestSecretsLeaveByNoExit(t *testing.T) {
	home := inHome(t)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	_, daemon := hubAndDaemon(t, home, log)
	owner, err := (&hubFlags{}).client() // of the same home
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(home, ".local", "share", "runner", "hub")
	raw, err := os.ReadFile(filepath.Join(data, client.TokenFile))
	if err != nil {
		t.Fatal(err)
	}
	ownersToken := strings.TrimSpace(string(raw))
	const secret = `s3cret/of+the "action" & its=env`
	x := exits{t, []string{secret, ownersToken}}

	root := filepath.Join(home, "shop")
	var forms []string
	for _, secret := range x.secrets {
		printed, _ := formsOf(secret)
		forms = append(forms, printed...)
	}
	for name, text := range map[string]string{
		"forms": strings.Join(forms, "\n") + "\n",
		"print.sh": `printf %s "${S:0:7}"; printf '%s\n' "${S:7}"; cat forms; printf 'x%s' "$S" | base64 -w 0; echo
echo "a warning with $S" >&2; seq 20000; cat forms; echo all-is-printed
until [ -e go ]; do sleep 0.01; done; exit 3`,
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	projects, err := owner.Projects(t.Context())
	if err != nil || len(projects) != 1 {
		t.Fatal(projects, err)
	}
	agentsToken, err := owner.AddAgent(t.Context(), projects[0].ID, "dev")
	if err != nil {
		t.Fatal(err)
	}
	x.secrets = append(x.secrets, agentsToken)
	proposed, err := owner.WithToken(agentsToken).Propose(t.Context(), hub.Proposal{
		ProjectID: projects[0].ID, Type: "terminal", Command: "bash print.sh", Env: map[string]string{"S": secret},
	})
	if err == nil {
		_, err = owner.Approve(t.Context(), proposed.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	prints := proposed.ID
	ask := func(path string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "GET", owner.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+ownersToken)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(path, resp.Status, err)
		}
		return string(body)
	}
	var shown hub.Output
	awaitTrue(t, "the output is shown", func() bool {
		if err := json.Unmarshal([]byte(ask("/actions/"+prints+"/output?offset=0")), &shown); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(shown.Data), "all-is-printed")
	})
	x.look("the output as it comes", string(shown.Data))
	x.look("status", wants(t, home, 0, prints, "status", "--json"))
	if err := os.WriteFile(filepath.Join(root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err := owner.Wait(t.Context(), prints); err != nil || a.Outcome == nil || a.Outcome.ExitCode == nil || *a.Outcome.ExitCode != 3 {
		t.Fatalf("%+v, %v", a, err)
	}
	x.look("what is told of the action", ask("/actions/"+prints))
	x.look("the actions", ask("/actions"))
	x.look("the events", ask("/events"))
	x.look("events", wants(t, home, 0, prints, "events", "--json", "-n", "1000"))
	x.look("history", wants(t, home, 0, prints, "history", "--json"))
	x.look("logs", wants(t, home, 0, prints, "logs", "-n", "1000"))
	x.look("logs, of the action", wants(t, home, 0, prints, "logs", "--action", prints, "--json"))
	text, _ := call(t, connect(t, home, owner.URL(), agentsToken, make(chan string, 100)), "action_status", map[string]any{"id": prints})
	x.look("MCP", text)
	bundle := filepath.Join(t.TempDir(), "bundle.tar.gz")
	out, _ := command(t, home, "doctor", "--bundle", bundle) // some checks may warn here
	x.look("doctor", out)
	x.archive(bundle)
	x.files(filepath.Join(home, ".local", "state", "runner"))
	x.files(data, client.TokenFile)
	for of, file := range map[string]string{"the daemon": daemon.log.Name(), "the hub": log.Name()} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		x.look("what "+of+" says", string(text))
	}
	if kept, err := filepath.Glob(filepath.Join(home, ".local", "state", "runner", "output", "*")); err != nil || len(kept) == 0 {
		t.Errorf("no output was kept: %v", err)
	}
}
