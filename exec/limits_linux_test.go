package exec

import (
	"context"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// Needs bash, coreutils and util-linux. What is tried ends by itself, so that a limit that does not hold costs little.
func TestCommandPastItsLimitsEndsByName(t *testing.T) {
	processes, memory := Limits{Processes: 40}, Limits{Memory: 64 << 20}
	for _, tc := range []struct {
		name, text string
		limits     Limits
		said       string
	}{
		{"many processes", `for i in {1..200}; do sleep 60 & done; wait`, processes, "more than the 40 processes"},
		{"a bomb", `bomb() { [ $1 = 0 ] || { bomb $(($1-1)) & bomb $(($1-1)) & sleep 60; }; }; bomb 8`, processes, "more than the 40 processes"},
		{"a bomb behind the shell's back", `bomb() { [ $1 = 0 ] || { bomb $(($1-1)) & bomb $(($1-1)) & sleep 60; }; }; bomb 8 & exit 0`, processes, "more than the 40 processes"},
		{"a bomb of sessions", `for i in {1..200}; do setsid sleep 60 & done; sleep 60`, processes, "more than the 40 processes"},
		{"one that fills the memory", `{ head -c 300000000 /dev/zero; sleep 60; } | tail`, memory, "more than the 64 MiB"},
		{"many that fill the memory", `for i in 1 2 3 4; do { head -c 30000000 /dev/zero; sleep 60; } | tail & done; wait`, memory, "more than the 64 MiB"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for name, c := range map[string]Command{
				"free":    command(t, tc.text),
				"bounded": limited(t, tc.text, Limits{OpenFiles: 256}),
			} {
				c.Limits.Processes, c.Limits.Memory = tc.limits.Processes, tc.limits.Memory
				r := Run(context.Background(), c)
				failuretest.Produced(t, r.Failure, failure.LimitExceeded)
				if r.ExitCode != -1 || r.TimedOut || !strings.Contains(r.Failure.Error(), tc.said) {
					t.Errorf("%s: %+v", name, r)
				}
				if r.Survivors > 0 {
					t.Errorf("%s: %d processes were not ended", name, r.Survivors)
				}
			}
		})
	}
}

// Needs bash and coreutils.
func TestCommandInsideItsLimitsGoesOn(t *testing.T) {
	c := command(t, `for i in {1..8}; do sleep 0.3 & done; wait; echo done`)
	c.Limits.Processes = 40
	must(t, c, 0, "done\n")

	// Five processes with the same 40 MB; each for itself, they had 240.
	c = command(t, `x=$(head -c 40000000 /dev/zero | tr '\0' x); for i in {1..5}; do (sleep 0.5; :) & done; wait; echo ${#x}`)
	c.Limits.Memory = 160 << 20
	must(t, c, 0, "40000000\n")
}
