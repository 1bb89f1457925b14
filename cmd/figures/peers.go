package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"
)

// part is one part of the story: what is measured, in which unit, always the less the better.
type part struct {
	text, unit string
	play       func(context.Context, *stage, *contender) (float64, error)
}

// idleAfter is when a client that was started counts as idle: what its start needed may have been given back by then.
const idleAfter = 3 * time.Second

// story is what both clients go through, in this order and joined from the second part on: each part so many rounds,
// and so many single commands and keys.
func story(rounds, commands int) []part {
	return []part{
		{"start to joined", "ms", func(ctx context.Context, s *stage, c *contender) (float64, error) {
			return middle(rounds, func(round int) (time.Duration, error) {
				if round > 0 {
					if err := c.stop(ctx, s); err != nil {
						return 0, err
					}
				}
				return c.start(ctx, s)
			})
		}},
		{"true, proposed to outcome", "ms", func(ctx context.Context, s *stage, _ *contender) (float64, error) {
			return middle(commands, func(int) (time.Duration, error) { return timed(func() error { return s.command(ctx, "true") }) })
		}},
		{"100 commands at once", "ms", func(ctx context.Context, s *stage, _ *contender) (float64, error) {
			return middle(rounds, func(int) (time.Duration, error) { return timed(func() error { return hundred(ctx, s) }) })
		}},
		{"100 MB of output", "ms", func(ctx context.Context, s *stage, _ *contender) (float64, error) {
			return middle(min(rounds, 3), func(int) (time.Duration, error) {
				return timed(func() error { return s.command(ctx, "head -c 100000000 /dev/zero") })
			})
		}},
		{"resident memory, at most so far", "MB", func(_ context.Context, _ *stage, c *contender) (float64, error) {
			return c.memory("VmHWM")
		}},
		{"resident memory, started anew and idle", "MB", func(ctx context.Context, s *stage, c *contender) (float64, error) {
			if err := anew(ctx, s, c); err != nil {
				return 0, err
			}
			select {
			case <-time.After(idleAfter):
			case <-ctx.Done():
				return 0, ctx.Err()
			}
			return c.memory("VmRSS")
		}},
		{"key typed to its echo", "ms", func(ctx context.Context, s *stage, _ *contender) (float64, error) {
			return keys(ctx, s, commands)
		}},
		{"joined again after the hub's restart", "ms", func(ctx context.Context, s *stage, c *contender) (float64, error) {
			return middle(rounds, func(int) (time.Duration, error) {
				// A hub restarts once in a long while. Several times within a minute, and a client waits longer each time.
				if err := anew(ctx, s, c); err != nil {
					return 0, err
				}
				return restarted(ctx, s)
			})
		}},
	}
}

// comparePeers plays the story with this daemon and with the other client, and prints both beside each other.
func comparePeers(ctx context.Context, root string, parts []part, out, progress io.Writer) (err error) {
	folder, err := os.MkdirTemp("", "figures-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	// The daemon compares real paths, and the temporary folder may lie behind a link.
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return err
	}
	s := newStage(folder)
	if err := os.MkdirAll(s.root, 0o700); err != nil {
		return err
	}
	if err := s.start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	us, err := ours(ctx, root, folder, s)
	if err != nil {
		return err
	}
	them, err := theirs(ctx, folder, s)
	if err != nil {
		return err
	}
	left, err := play(ctx, s, us, parts, progress)
	if err != nil {
		return err
	}
	right, err := play(ctx, s, them, parts, progress)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "less is better\t%s\t%s\tratio\n", us.name, them.name)
	for i, p := range parts {
		fmt.Fprintf(w, "%s\t%s %s\t%s %s\t%s\n", p.text, number(left[i]), p.unit, number(right[i]), p.unit, number(left[i]/right[i]))
	}
	return w.Flush()
}

// play goes through the story with one client, which is stopped at the end.
func play(ctx context.Context, s *stage, c *contender, parts []part, progress io.Writer) (values []float64, err error) {
	defer func() {
		if c.cmd != nil && c.cmd.Process != nil {
			err = errors.Join(err, c.stop(ctx, s))
		}
	}()
	for _, p := range parts {
		v, err := p.play(ctx, s, c)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", c.name, p.text, err)
		}
		fmt.Fprintf(progress, "%s, %s: %s %s\n", c.name, p.text, number(v), p.unit)
		values = append(values, v)
	}
	return values, nil
}

// hundred proposes a hundred commands at once and waits for all outcomes.
func hundred(ctx context.Context, s *stage) error {
	ended := make(chan error)
	for range 100 {
		go func() { ended <- s.command(ctx, "true") }()
	}
	var errs error
	for range 100 {
		errs = errors.Join(errs, <-ended)
	}
	return errs
}

// restarted is the time from the hub's listening again until the client has joined again.
func restarted(ctx context.Context, s *stage) (time.Duration, error) {
	if err := s.stop(); err != nil {
		return 0, err
	}
	if err := s.start(); err != nil {
		return 0, err
	}
	return timed(func() error { return joined(ctx, s) })
}

// anew stops the client and starts it.
func anew(ctx context.Context, s *stage, c *contender) error {
	if err := c.stop(ctx, s); err != nil {
		return err
	}
	_, err := c.start(ctx, s)
	return err
}

func timed(f func() error) (time.Duration, error) {
	began := time.Now()
	err := f()
	return time.Since(began), err
}

// middle is the median of so many rounds, in milliseconds.
func middle(rounds int, measure func(round int) (time.Duration, error)) (float64, error) {
	var all []time.Duration
	for round := range rounds {
		took, err := measure(round)
		if err != nil {
			return 0, err
		}
		all = append(all, took)
	}
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000, nil
}
