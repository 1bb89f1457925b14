package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/hub/client"
)

var update = flag.Bool("update", false, "write what the commands print into the scripts")

// asCommand is the variable under which the test binary is runner itself, for tests that kill it.
const asCommand = "RUNNER_TEST_AS_COMMAND"

// asAsker is the variable under which the test binary asks the daemon of that state folder for its status.
const asAsker = "RUNNER_TEST_AS_ASKER"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	if folder := os.Getenv(asAsker); folder != "" {
		_, err := control.NewClient(folder).Status(context.Background())
		fmt.Println(err)
		return
	}
	testscript.Main(m, map[string]func(){
		"runner": func() { os.Exit(execute(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts plays the command line as a person types it: the scripts in testdata/script are its specification.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("there is no condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"admit": admit},
		Setup: func(env *testscript.Env) error {
			// A home of its own: nothing of the person's settings reaches the scripts.
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CONFIG_HOME", env.WorkDir+"/config")
			env.Setenv("XDG_CACHE_HOME", env.WorkDir+"/cache")
			env.Setenv("NO_COLOR", "1")
			return nil
		},
	})
}

// admit is `admit FILE HUB`: it waits until FILE holds the code that `runner login --json` shows, and approves it at the
// hub of the data folder HUB, as the owner does on the page.
func admit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: admit FILE HUB")
	}
	var line string
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		raw, err := os.ReadFile(ts.MkAbs(args[0]))
		var whole bool
		if line, _, whole = strings.Cut(string(raw), "\n"); err == nil && whole {
			break
		}
		if time.Now().After(deadline) {
			ts.Fatalf("no login shows its code: %v", err)
		}
	}
	var code struct {
		UserCode string `json:"user_code"`
	}
	ts.Check(json.Unmarshal([]byte(line), &code))
	owner, err := client.Local(ts.MkAbs(args[1]))
	ts.Check(err)
	ts.Check(decideLogin(owner.URL(), strings.TrimSpace(ts.ReadFile(filepath.Join(args[1], hubTokenFile))), code.UserCode, "approve"))
}

// playedElsewhere reports whether the JSON of a command is asserted by a test in Go, because no script has what it needs:
// a service manager that answers, a daemon that holds an action back or looks after containers.
func playedElsewhere(t *testing.T, path string) bool {
	file, line := "", ""
	switch path {
	case "runner up":
		file, line = "../../packaging/up_test.go", `runner up --json"); !strings.Contains(out, `
	case "runner confirm allow", "runner confirm refuse":
		file, line = "confirm_linux_test.go", fmt.Sprintf("%q, held.ID, \"--json\"", strings.TrimPrefix(path, "runner confirm "))
	case "runner propose container-start", "runner propose container-stop", "runner propose container-remove":
		return true // printed as the other kinds are
	default:
		return false
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
	}
	return strings.Contains(string(text), line)
}

// TestEveryCommandIsPlayed holds the scripts against the commands: each stands in one of them, and where it can speak
// JSON, a script compares what that looks like.
func TestEveryCommandIsPlayed(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var played strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		played.Write(text)
	}
	var look func(*cobra.Command)
	look = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			look(below)
		}
		if c.Hidden || !c.Runnable() || c.HasSubCommands() {
			return
		}
		path := `\b` + regexp.QuoteMeta(c.CommandPath())
		if !regexp.MustCompile(`(?m)` + path + `( |$|;|\))`).MatchString(played.String()) {
			t.Errorf("no script plays %s", c.CommandPath())
		}
		// The line with --json, and at once the one that looks at what was printed, or at the file that it went to.
		compared := regexp.MustCompile(path + `( [^\n]*)? --json\b[^\n]*\n((stderr|admit|wait) [^\n]*\n)*(stdout|cmp|cp stdout|grep|exec head) `)
		if c.Flag("json") != nil && !compared.MatchString(played.String()) && !playedElsewhere(t, c.CommandPath()) {
			t.Errorf("no script compares what %s --json prints", c.CommandPath())
		}
		if noun := c.Name(); (noun == "list" || noun == "show" || noun == "status") && c.Flag("json") == nil {
			t.Errorf("%s has no --json", c.CommandPath())
		}
	}
	look(newRootCommand())
}
