package main

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// play says where a command of the README is typed.
type play struct {
	command string // as the README has it
	where   string // "room.TestName", or a file of the tree
	words   string // what stands there; a part of the README that is read and played is "begin: NAME"
}

// plays has every command that the README has people type. The reference's table of commands is held against the
// scripts by TestEveryCommandIsPlayed.
var plays = []play{
	{"go run ./cmd/runner demo", ".ci/run", "as_tester go run ./cmd/runner demo\n"},
	{"go test ./...", ".ci/run", "as_tester go test "},
	{".ci/run", ".ci/run", "\nprepare\n"},
	{".ci/run prepare", ".ci/run", `= prepare ] && exit 0`},
	{"CGO_ENABLED=0 go build -o dist/ ./cmd/runner", ".ci/run", "as_tester env CGO_ENABLED=0 go build -o dist/ ./cmd/runner\n"},
	{"go run ./packaging", "packaging.TestOneCommandBuildsAll", `"go", "run", "./packaging"`},
	{"go run ./cmd/figures", "cmd/figures.TestOneRowIsMeasuredForReal", `"go", "run", "./cmd/figures", "--short"`}, // of one row
	{"go run ./cmd/figures --peers", "cmd/figures.TestBothClientsPlayTheStory", "comparePeers("},                   // a short one

	{"sudo apt install ./runner_*_amd64.deb", "packaging.TestRootUpOnSystemd", "installLines(t)"},
	{"runner up", "packaging.TestRootUpOnSystemd", "installLines(t)"},
	{"runner project add .", "packaging.TestRootUpOnSystemd", "installLines(t)"},
	{"runner down", "packaging.TestRootUpOnSystemd", `"runner down && `},
	{"runner service install --system --as-user NAME", "packaging.TestRootSystemServiceOnSystemd", "runner service install --system --as-user ana"},
	{"runner service install", "packaging.TestRootServiceOfAUserOnSystemd", "runner service install "},

	{"runner agent add coder", "cmd/runner.TestReadmeFiveMinutes", `"five minutes"`},
	{"runner propose terminal -- touch hello.txt", "cmd/runner.TestReadmeFiveMinutes", `"five minutes"`},
	{"runner pending", "cmd/runner.TestReadmeFiveMinutes", `"five minutes"`},
	{"runner approve ID", "cmd/runner.TestReadmeFiveMinutes", `"five minutes"`},
	{"runner history", "cmd/runner.TestReadmeFiveMinutes", `"five minutes"`},
	{"runner events", "cmd/runner.TestReadmeFiveMinutes", `"five minutes"`},
	{"runner policy check --scope . -- 'git status && git push'", "cmd/runner.TestReadmeFiveMinutes", `"rules"`},
	{"runner policy explain --scope . -- 'cat go.mod | xargs rm'", "cmd/runner.TestReadmeFiveMinutes", `"rules"`},
	{"runner run --project ID --dir FOLDER --api-url URL", "cmd/runner.TestReadmeRun", `"run"`},

	{"runner agent add NAME", "cmd/runner.TestReadmeWorkingDay", `"agent", "add"`},
	{"runner propose terminal -- go test ./...", "cmd/runner.TestReadmeWorkingDay", `"terminal", "--", "go", "test", "./..."`},
	{"runner project activate PROJECT", "cmd/runner.TestReadmeWorkingDay", `"project", "activate"`},
	{"runner hub link", "cmd/runner.TestHubGivesLinksToItsPage", `"hub", "link"`},
	{"runner hub", "cmd/runner.TestHubGivesLinksToItsPage", "startHubCommand("},
	{"runner login", "cmd/runner.TestLoginIsEnoughForARun", "loggedIn(t, address)"},
	{"runner run", "cmd/runner.TestFolderOfTheExistingClientNeedsNoFlags", `start(t, "run")`},
	{"runner run --base FOLDER", "cmd/runner.TestMachineKeyServesItsProjectsBelowTheBase", `"run", "--api-url", url, "--base", base`},
	{"runner confirm", "cmd/runner.TestPersonConfirmsAtTheMachine", `"confirm")`},
	{"runner confirm allow ID", "cmd/runner.TestPersonConfirmsAtTheMachine", `"confirm", "allow", held.ID`},
	{"runner approve", "cmd/runner.TestReadmeFiveMinutes", `"runner approve ID"`},
	{"runner policy lint FILE", "cmd/runner/testdata/script/policy_lint.txtar", "\nexec runner policy lint clean.json\n"},
	{"runner device-key create", "cmd/runner/testdata/script/device_key.txtar", "\nexec runner device-key create\n"},
	{"runner device-key finish", "cmd/runner/testdata/script/device_key.txtar", "\nexec runner device-key finish --id "},
	{"runner config", "cmd/runner/testdata/script/config.txtar", "exec runner config "},
	{"runner config path", "cmd/runner/testdata/script/config.txtar", "exec runner config path"},
	{"runner config show", "cmd/runner/testdata/script/config.txtar", "exec runner config show"},
	{"runner help COMMAND", "cmd/runner/testdata/script/root.txtar", "exec runner help "},
}

// readmeCommands are the commands of the README's shell blocks and of its prose, without comments, and without the
// generated tables.
func readmeCommands(t *testing.T) (all []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, table := range referenceTables() {
		text = strings.Replace(text, table, "", 1)
	}
	block := regexp.MustCompile("(?s)```(\\w*)\n(.*?)```")
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(m[2]) {
			line, _, _ = strings.Cut(line, "  #")
			if line = strings.TrimSpace(line); m[1] == "sh" && line != "" {
				all = append(all, line)
			}
		}
	}
	command := regexp.MustCompile(`^(runner|go|sudo|[A-Z_]+=\S+|\S*\.ci/run) \S|^\.ci/run$`)
	for _, span := range spans(block.ReplaceAllString(text, "")) {
		if command.MatchString(span) {
			all = append(all, span)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// spans are the pieces of a text that are set as code, in one line each.
func spans(text string) (all []string) {
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		all = append(all, strings.Join(strings.Fields(m[1]), " "))
	}
	return all
}

func TestEveryCommandOfTheReadmeIsPlayed(t *testing.T) {
	byCommand := map[string]play{}
	tests := testsOfTheTree(t)
	for _, p := range plays {
		if byCommand[p.command] != (play{}) {
			t.Errorf("%q stands in the list twice", p.command)
		}
		byCommand[p.command] = p
		if !strings.Contains(textOfPlay(t, p.where, tests), p.words) {
			t.Errorf("%q: %s does not have %q", p.command, p.where, p.words)
		}
	}
	commands := readmeCommands(t)
	for _, command := range commands {
		if byCommand[command] == (play{}) {
			t.Errorf("nobody plays %q, which the README has people type", command)
		}
	}
	for command := range byCommand {
		if !slices.Contains(commands, command) {
			t.Errorf("the README does not have %q any more", command)
		}
	}
}

// textOfPlay gives the text of a file, or of one test.
func textOfPlay(t *testing.T, where string, tests []string) string {
	t.Helper()
	if !slices.Contains(tests, where) {
		raw, err := os.ReadFile(filepath.Join("..", "..", where))
		if err != nil {
			t.Errorf("%s is neither a test nor a file: %v", where, err)
		}
		return string(raw)
	}
	room, name, _ := strings.Cut(where, ".")
	files, err := filepath.Glob(filepath.Join("..", "..", room, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, body, found := strings.Cut(string(raw), "\nfunc "+name+"(t *testing.T) {\n"); found {
			body, _, _ = strings.Cut(body, "\n}\n")
			return body
		}
	}
	t.Errorf("%s was not found", where)
	return ""
}

// TestCommandsThatTextsNameExist reads every command that the documents, and what the program says, set as code.
func TestCommandsThatTextsNameExist(t *testing.T) {
	var texts []string
	for _, name := range []string{"README.md", "SECURITY.md"} {
		raw, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, regexp.MustCompile("(?s)```.*?```").ReplaceAllString(string(raw), ""))
	}
	sources(t, func(_ string, f *ast.File) { texts = append(texts, literals(f)...) })
	found := 0
	for _, text := range texts {
		for _, span := range spans(text) {
			words := strings.Fields(strings.TrimPrefix(span, "sudo "))
			if words[0] == "runner" && len(words) > 1 {
				found++
				checkCommand(t, span, words[1:])
			}
		}
	}
	if found < 150 {
		t.Errorf("only %d commands were found", found)
	}
}

func checkCommand(t *testing.T, span string, words []string) {
	t.Helper()
	root := newRootCommand()
	root.InitDefaultHelpCmd()
	c, rest, err := root.Find(words)
	if err != nil || c == root && !strings.HasPrefix(words[0], "-") {
		t.Errorf("`%s`: there is no such command (%v)", span, err)
		return
	}
	if lower := regexp.MustCompile(`^[a-z][a-z-]*$`); c.HasSubCommands() && len(rest) > 0 && lower.MatchString(rest[0]) {
		t.Errorf("`%s`: %s has no command %s", span, c.CommandPath(), rest[0])
	}
	checkFlags(t, span, c, rest)
}

func checkFlags(t *testing.T, span string, c *cobra.Command, rest []string) {
	t.Helper()
	c.InitDefaultHelpFlag()
	for _, word := range rest {
		if word == "--" {
			return
		}
		if name, long := strings.CutPrefix(strings.Trim(word, "[]"), "--"); long && c.Flag(name) == nil {
			t.Errorf("`%s`: %s has no flag --%s", span, c.CommandPath(), name)
		}
	}
}

// TestReadmeShowsTheDemonstration holds the picture of the demonstration against its steps.
func TestReadmeShowsTheDemonstration(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "<!-- begin: demo -->")
	shown, _, _ := strings.Cut(rest, "<!-- end: demo -->")
	var steps []string
	for line := range strings.Lines(shown) {
		if text, isStep := strings.CutPrefix(line, "✓ "); isStep {
			steps = append(steps, strings.TrimSpace(text[:22]))
		}
	}
	var want []string
	for _, step := range (&stage{}).story() {
		want = append(want, step.name)
	}
	if !slices.Equal(steps, want) {
		t.Errorf("the README shows %q, and the demonstration has %q", steps, want)
	}
}
