package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/client"
)

// patience is how long a terminal may keep silent before the story is given up.
const patience = time.Minute

// keys types so many keys into one terminal of the project, and gives the median time to their echo in milliseconds.
func keys(ctx context.Context, s *stage, n int) (took float64, err error) {
	terminal, err := client.New("http://"+s.address, s.person).Terminal(ctx, projectID, hub.TerminalSize{Cols: 80, Rows: 24})
	if err != nil {
		return 0, err
	}
	screen := make(screen)
	ended := make(chan error, 1)
	go func() {
		_, err := terminal.Show(screen)
		close(screen)
		ended <- err
	}()
	defer func() {
		err = errors.Join(err, terminal.Close())
		for range screen { // what is still on its way
		}
		if shown := <-ended; err != nil {
			err = errors.Join(err, shown)
		}
	}()
	// The terminal itself echoes, since nothing reads there. Quotes keep the echo of the line from being taken for its result.
	ready := func() error {
		return typed(terminal, screen, "PS1=; stty echo icanon; echo qui''et; exec sleep 1000\n", "quiet\r\n")
	}
	if err := ready(); err != nil {
		return 0, err
	}
	return middle(n, func(int) (time.Duration, error) {
		took, err := timed(func() error { return typed(terminal, screen, "x", "x") })
		if err != nil {
			return 0, err
		}
		return took, typed(terminal, screen, "\x15", "\b \b") // the line is taken back, so that it never gets too long
	})
}

// screen passes on what a terminal shows.
type screen chan []byte

func (s screen) Write(p []byte) (int, error) {
	s <- bytes.Clone(p)
	return len(p), nil
}

// typed types text and waits until answer is shown.
func typed(terminal io.Writer, s screen, text, answer string) error {
	if _, err := io.WriteString(terminal, text); err != nil {
		return err
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for shown := []byte(nil); !bytes.Contains(shown, []byte(answer)); {
		select {
		case more, open := <-s:
			if !open {
				return fmt.Errorf("the terminal ended before it showed %q", answer)
			}
			shown = append(shown, more...)
		case <-timeout.C:
			return fmt.Errorf("the terminal did not show %q, but %q", answer, shown)
		}
	}
	return nil
}
