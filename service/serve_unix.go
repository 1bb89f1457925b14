//go:build unix

package service

import "context"

// Serve calls run, which gives the process's exit code, and returns that. Managers here talk by signals and sockets,
// which run knows itself.
func Serve(ctx context.Context, run func(context.Context) int) int { return run(ctx) }
