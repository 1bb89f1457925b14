// Command packaging builds everything that installs runner: deb and rpm packages, archives for six targets, SHA-256
// sums, a bill of materials for each binary, shell completions and the pages of the manual.
//
//	go run ./packaging --version 1.2.3 --out dist
//
// Two builds of the same commit are the same to the byte: nothing of the machine, the folder or the hour gets in. The time
// in all files is SOURCE_DATE_EPOCH, else the commit's.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("packaging", flag.ContinueOnError)
	version := flags.String("version", "", "version of the release, as in 1.2.3 (default: 0.0.0-dev)")
	out := flags.String("out", "dist", "folder for the results; it is made where it is missing")
	targets := flags.String("targets", strings.Join(allTargets, ","), "what to build for")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	if *version == "" {
		*version = "0.0.0-dev"
	}
	when, err := sourceDate(ctx, root, os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	r := release{root: root, version: *version, when: when, out: *out}
	files, err := r.build(ctx, strings.Split(*targets, ","))
	if err != nil {
		return err
	}
	for _, f := range files {
		fmt.Println(f)
	}
	return nil
}
