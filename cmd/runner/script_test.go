package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/control"
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

// TestEveryCommandIsPlayed holds the scripts against the commands: each stands in one of them.
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
		if !regexp.MustCompile(`(?m)\b` + regexp.QuoteMeta(c.CommandPath()) + `( |$|;|\))`).MatchString(played.String()) {
			t.Errorf("no script plays %s", c.CommandPath())
		}
	}
	look(newRootCommand())
}
