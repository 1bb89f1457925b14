package runner

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/pairing"
)

// refusal is what a failed attempt to connect means for the next one.
type refusal struct {
	fail *failure.Failure
	// after is the shortest wait before the next attempt.
	after time.Duration
	// person is true where waiting alone will not help. A daemon goes on slowly, since the person may act on the
	// server; a foreground run that never joined ends.
	person bool
}

// Waits that a refusal deserves beyond the jitter.
const (
	slowly = time.Minute
	// secondRunner is tried again soon: after an abrupt loss the server holds our own dead connection for up to a
	// minute (protocol.md 3.6).
	secondRunnerWait = 5 * time.Second
	secondRunnerFor  = 90 * time.Second
)

// closeRestart is the close code of a Phoenix server that drains; what else ends a connection has no code of its own.
const closeRestart = 1012

// Reasons that a Brabo server gives for refusing a join (protocol.md 3.6).
const (
	reasonUnauthorized = "unauthorized"
	reasonSecondRunner = "já existe um runner conectado a este projeto"
	reasonCapability   = "este projeto exige a(s) capacidade(s)"
)

// judge names what went wrong between asking for a ticket and the answered join, and says what it means.
func judge(err error, project string) refusal {
	if f := failure.As(err); f != nil {
		return refusal{fail: f, after: retryAfter(err), person: needsPerson(f.Name)}
	}
	subject := "project " + project
	var refused *channel.RefusedError
	var join *channel.JoinError
	var end *channel.EndError
	var ended *channel.ChannelError
	var proxy *channel.ProxyError
	switch {
	case errors.As(err, &proxy):
		return refusal{fail: pairing.RefusedByProxy(proxy.Proxy, proxy.Status).Wrap(err)}
	case errors.As(err, &refused):
		f := failure.New(failure.UpgradeRefused, subject).Because("the server answered the WebSocket request with %d %s", refused.Status, http.StatusText(refused.Status)).Wrap(err)
		return refusal{fail: f, after: headerRetryAfter(refused.Header)}
	case errors.As(err, &join):
		return judgeJoin(join, subject)
	case errors.As(err, &end):
		return refusal{fail: nameEnd(end, subject)}
	case errors.As(err, &ended):
		return refusal{fail: failure.New(failure.ConnectionLost, subject).Because("the server ended the project's channel: %v", ended).Wrap(err)}
	case errors.Is(err, context.DeadlineExceeded):
		return refusal{fail: failure.New(failure.JoinTimeout, subject).Wrap(err)}
	}
	return refusal{fail: failure.New(failure.ServerUnreachable, subject).Because("%v", err).Wrap(err)}
}

func judgeJoin(join *channel.JoinError, subject string) refusal {
	reason := join.Reason()
	switch {
	case reason == reasonSecondRunner:
		return refusal{fail: failure.New(failure.SecondRunner, subject), after: secondRunnerWait, person: true}
	case strings.HasPrefix(reason, reasonCapability):
		return refusal{fail: failure.New(failure.CapabilityMissing, subject).Because("the server says: %s", reason), after: slowly, person: true}
	case reason == reasonUnauthorized:
		// The ticket was too old or spent; a fresh one is the cure, so this is no more than a failed attempt.
		return refusal{fail: failure.New(failure.JoinRefused, subject).Because("the server says: %s", reason)}
	}
	if reason == "" {
		reason = string(join.Response)
	}
	return refusal{fail: failure.New(failure.JoinRefused, subject).Because("the server says: %s", reason), after: slowly, person: true}
}

// nameEnd names the end of a connection.
func nameEnd(end *channel.EndError, subject string) *failure.Failure {
	switch end.Reason {
	case channel.EndHeartbeatLost:
		return failure.New(failure.HeartbeatLost, subject).Wrap(end)
	case channel.EndProtocolError:
		return failure.New(failure.ProtocolError, subject).Because("the server sent a frame that can't be understood: %s", end.Text).Wrap(end)
	case channel.EndReadLimit:
		return failure.New(failure.ReadLimit, subject).Wrap(end)
	case channel.EndClosedByServer:
		if end.Code == closeRestart {
			return failure.New(failure.ServerDraining, subject).Wrap(end)
		}
	}
	return failure.New(failure.ConnectionLost, subject).Because("%v", end).Wrap(end)
}

func needsPerson(name failure.Name) bool {
	switch name {
	case failure.TicketRefused, failure.CredentialExpired, failure.CredentialRevoked, failure.CredentialUnknown, failure.NotMember, failure.ProjectMode, failure.ProjectNotFound,
		failure.CredentialInvalid, failure.CredentialMissing, failure.ClockSkew, failure.BadServerAnswer:
		return true
	}
	return false
}

// retryAfter is what the server asked for; a refusal that needs a person is slow anyway.
func retryAfter(err error) time.Duration {
	if asked := pairing.RetryAfter(err); asked > 0 {
		return min(asked, time.Hour)
	}
	if f := failure.As(err); f != nil && needsPerson(f.Name) {
		return slowly
	}
	return 0
}

// headerRetryAfter reads Retry-After in both of its forms; at most an hour is believed.
func headerRetryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 {
		return min(time.Duration(seconds)*time.Second, time.Hour)
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(0, time.Until(at)), time.Hour)
	}
	return 0
}
