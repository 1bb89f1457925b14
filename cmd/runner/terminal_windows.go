package main

import (
	"context"
	"io"
	"os"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/term"
)

// sizeEvery is how often the size of the console is looked at, of which Windows tells by its input alone.
const sizeEvery = 250 * time.Millisecond

// watchSize tells each time when the window of the console has another size, until unwatch closes resized.
func watchSize(fd int) (resized chan os.Signal, unwatch func()) {
	resized, stop := make(chan os.Signal, 1), make(chan struct{})
	go func() {
		defer close(resized)
		tick := time.NewTicker(sizeEvery)
		defer tick.Stop()
		cols, rows, _ := term.GetSize(fd)
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			c, r, err := term.GetSize(fd)
			if err != nil || c == cols && r == rows {
				continue
			}
			cols, rows = c, r
			select {
			case resized <- os.Interrupt:
			default:
			}
		}
	}()
	return resized, func() { close(stop) }
}

// untilHungUp is ctx: the signals of every command are all that there are.
func untilHungUp(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

// understandSequences has the console follow control sequences until restore.
func understandSequences(out io.Writer) (restore func()) {
	f, isFile := out.(*os.File)
	if !isFile {
		return func() {}
	}
	var before uint32
	handle := windows.Handle(f.Fd())
	if windows.GetConsoleMode(handle, &before) != nil {
		return func() {} // no console
	}
	_ = windows.SetConsoleMode(handle, before|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
	return func() { _ = windows.SetConsoleMode(handle, before) }
}

// signalCode: no signal ends a program here.
func signalCode(string) int { return exitFail }
