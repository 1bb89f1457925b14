package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/shlex"
)

// readmePart gives the commands of a marked part of the README, without their comments.
func readmePart(t *testing.T, name string) (lines []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(raw), "<!-- begin: "+name+" -->")
	part, _, found := strings.Cut(part, "<!-- end: "+name+" -->")
	if !found {
		t.Fatalf("the README has no part %q", name)
	}
	for line := range strings.Lines(part) {
		if line, _, _ = strings.Cut(line, "   #"); strings.HasPrefix(line, "runner ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// TestReadmeFiveMinutes plays the README's own lines, one after the other, with a real hub and daemon.
func TestReadmeFiveMinutes(t *testing.T) {
	lines := append(readmePart(t, "five minutes"), readmePart(t, "rules")...)
	home, root, _ := ownHub(t)
	t.Chdir(root)
	answers := map[string]string{
		"runner agent add coder":                     `(?s)token .*mcpServers.*"mcp"`,
		"runner propose terminal -- touch hello.txt": `pending`,
		"runner pending":                             `(?P<ID>\S+) .*touch hello.txt`,
		"runner approve ID":                          `approved`,
		"runner history":                             `touch hello.txt`,
		"runner events":                              `proposed_action.approved`,
		"runner policy check --scope . -- 'git status && git push'":  `require_approval`,
		"runner policy explain --scope . -- 'cat go.mod | xargs rm'": `xargs`,
	}
	id := ""
	for _, line := range lines {
		pattern, known := answers[line]
		if !known {
			t.Errorf("nobody plays %q", line)
			continue
		}
		args, err := shlex.Split(strings.ReplaceAll(line, "ID", id))
		if err != nil {
			t.Fatal(err)
		}
		out := wants(t, home, 0, pattern, args[1:]...)
		if m := regexp.MustCompile(pattern).FindStringSubmatch(out); line == "runner pending" && m != nil {
			id = m[1]
		}
		if strings.HasPrefix(line, "runner approve") {
			awaitFileExists(t, filepath.Join(root, "hello.txt"))
		}
	}
	if len(lines) < 8 {
		t.Errorf("the README shows %d lines", len(lines))
	}
}

// TestReadmeRun plays the line that serves one project in the foreground, with a real hub.
func TestReadmeRun(t *testing.T) {
	lines := readmePart(t, "run")
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	t.Setenv("BRABO_ACCOUNT_TOKEN", testToken)
	for _, line := range lines {
		words := strings.Fields(line)
		for i, word := range words {
			if value, ok := map[string]string{"ID": "p", "FOLDER": root, "URL": url}[word]; ok {
				words[i] = value
			}
		}
		c := start(t, words[1:]...)
		proposeEcho(t, h)
		c.stop()
		if code := c.code(t); code != exitOK {
			t.Errorf("%s: exit %d:\n%s", line, code, c)
		}
	}
	if len(lines) != 1 {
		t.Errorf("the README shows %q", lines)
	}
}

// TestReadmeWorkingDay needs git: it plays what the README says about a day with an agent: what nothing was said about asks
// first; in an activated project an ordinary day does not, and what reaches the outside world goes on asking.
func TestReadmeWorkingDay(t *testing.T) {
	home, root, _ := ownHub(t)
	t.Chdir(root)
	if out, err := exec.Command("git", "init", "--quiet").CombinedOutput(); err != nil {
		t.Fatalf("git: %v %s", err, out)
	}
	wants(t, home, 0, `(?s)token .*mcpServers`, "agent", "add", "coder")
	wants(t, home, 0, `pending`, "propose", "terminal", "--", "go", "test", "./...")
	m := regexp.MustCompile(`(\S+) .*go test \./\.\.\.`).FindStringSubmatch(wants(t, home, 0, `go test \./\.\.\.`, "pending"))
	if m == nil {
		t.Fatal("it does not wait")
	}
	wants(t, home, 0, `denied`, "deny", m[1])
	wants(t, home, 0, `patterns`, "project", "activate", "p")
	wants(t, home, 0, `No commits yet`, "propose", "terminal", "--wait", "--", "git", "status")
	wants(t, home, 0, `pending`, "propose", "terminal", "--", "git", "push")
	wants(t, home, 0, `git status`, "history")
}
