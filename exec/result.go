package exec

import (
	"context"
	"time"

	"brabo.dev/runner/runner/failure"
)

// lastWords is how long the pipe is read on when all that is known of the family has ended.
const lastWords = 100 * time.Millisecond

// notRun is the result of a command that never started.
func notRun(f *failure.Failure) Result {
	return Result{ExitCode: -1, Failure: f, Cancelled: f.Name == failure.Cancelled}
}

// result closes the account of the family.
func (r *run) result(ctx context.Context, why reason) Result {
	r.pump.finish(min(lastWords, max(r.window.left(time.Now()), lastWords/10)))
	var res Result
	refused := r.family.refused(r.c.Limits)
	res.ExitCode, res.Signal, res.Left, res.Survivors = r.dismiss()
	res.Output, res.Truncated, res.Total, res.Invalid = r.pump.output.Result()
	res.Spool, res.SpoolFailure = r.pump.spool.close(res.Truncated)

	if r.excess == nil && why == byItself && res.ExitCode != 0 {
		r.excess = refused
	}

	switch {
	case why == byDeadline:
		res.ExitCode, res.TimedOut = -1, true
		res.Failure = failure.New(failure.TimedOut, about(r.c)).
			Because("it ran past its deadline of %v and was ended with its children", r.c.Deadline.Sub(r.c.Received).Round(time.Millisecond))
	case why == byCancel:
		res.ExitCode, res.Cancelled = -1, true
		res.Failure = failure.New(failure.Cancelled, about(r.c)).Wrap(context.Cause(ctx))
	case r.excess != nil:
		res.ExitCode = -1
		res.Failure = r.excess.failure(about(r.c))
	case res.ExitCode < 0 && res.Signal == "":
		res.Failure = failure.New(failure.Internal, about(r.c)).Because("the shell's exit status was lost")
	case res.ExitCode < 0:
		res.Failure = failure.New(failure.KilledBySignal, about(r.c)).
			Because("it was ended by %s, which the runner did not send", res.Signal)
	}
	return res
}
