// Command figures measures what this product promises about speed and size: it runs the benchmarks of the tree and
// prints one row a figure, with its goal beside it. With --peers it plays one story against this daemon and against a
// client as one would write it on the official Phoenix package, both joined to the same hub.
//
// It needs Go and this tree; --peers needs Node and npm too, and the figures of containers an engine
// (RUNNER_TEST_ENGINES, as for the tests). Whatever comes out, the exit code is 0: a figure is no test.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("figures", flag.ContinueOnError)
	flags.SetOutput(progress)
	short := flags.Bool("short", false, "measure less often: done in under ten minutes")
	peers := flags.Bool("peers", false, "play a story against this daemon and a client on the phoenix package (needs node and npm)")
	only := flags.String("only", "", "measure only the rows whose text contains `words`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	if *peers {
		rounds, commands := 11, 300
		if *short {
			rounds, commands = 5, 100
		}
		return comparePeers(ctx, root, story(rounds, commands), out, progress)
	}
	var wanted []figure
	for _, f := range figures() {
		if strings.Contains(f.text, *only) {
			wanted = append(wanted, f)
		}
	}
	m := measurer{root: root, short: *short, progress: progress}
	return printTable(out, m.measure(ctx, wanted))
}

// moduleRoot is the folder of this tree's go.mod.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	file := strings.TrimSpace(string(out))
	if filepath.Base(file) != "go.mod" {
		return "", fmt.Errorf("run it in the project's tree: there is no go.mod above this folder")
	}
	return filepath.Dir(file), nil
}
