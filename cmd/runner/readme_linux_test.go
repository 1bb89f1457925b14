package main

import (
	"os"
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
		"runner agent add coder":                           `(?s)token .*mcpServers.*"mcp"`,
		"runner propose terminal -- touch hello.txt":       `pending`,
		"runner pending":                                   `(?P<ID>\S+) .*touch hello.txt`,
		"runner approve ID":                                `approved`,
		"runner history":                                   `touch hello.txt`,
		"runner events":                                    `proposed_action.approved`,
		"runner policy check -- 'git status && git push'":  `require_approval`,
		"runner policy explain -- 'cat go.mod | xargs rm'": `xargs`,
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
