//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// watchSize tells each time when the window of the terminal has another size, until unwatch closes resized.
func watchSize(int) (resized chan os.Signal, unwatch func()) {
	resized = make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	return resized, func() {
		signal.Stop(resized)
		close(resized)
	}
}

// untilHungUp is ended by the signals, beside those of every command, that would leave a terminal in raw mode.
func untilHungUp(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, syscall.SIGHUP, syscall.SIGQUIT)
}

// understandSequences has a terminal follow control sequences, which it does here.
func understandSequences(io.Writer) (restore func()) { return func() {} }

// signalCode is the exit code that shells give a program which a signal ended.
func signalCode(name string) int {
	if n := unix.SignalNum("SIG" + strings.TrimPrefix(name, "SIG")); n != 0 {
		return 128 + int(n)
	}
	return exitFail
}
