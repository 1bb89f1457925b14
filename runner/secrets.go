package runner

import (
	"encoding/json"
	"errors"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/redact"
)

// likeToken is the length in bytes from which the user name of a git credential counts as a secret: some hosts take a
// token there. A shorter one is a name, which stands in paths and addresses too.
const likeToken = 20

// hide has what the env of an action carries taken out of all that is kept and told about it. One that is too large for
// that is refused.
func (s *session) hide(in *incoming, env map[string]string) *failure.Failure {
	var secrets []string
	total := 0
	for name, value := range env {
		if name == "BRABO_GIT_HOST" || name == "BRABO_GIT_USERNAME" && len(value) < likeToken {
			continue
		}
		secrets = append(secrets, value)
		total += len(value)
	}
	if total > redact.MaxTotal {
		return failure.New(failure.InvalidEnv, "env").
			Because("its values are %d bytes, and no more than %d can be kept out of what the action prints", total, redact.MaxTotal)
	}
	if len(secrets) > 0 {
		in.secrets = s.m.o.Secrets.With(secrets...)
	}
	return nil
}

// secrets are what must not be told about in.
func (s *session) secrets(in incoming) *redact.Set {
	if in.secrets != nil {
		return in.secrets
	}
	return s.m.o.Secrets.Set()
}

// storable is in's payload as the journal may have it. One that came with an env is never run from there, since the env
// is not kept; another one has to stay as it is.
func storable(in incoming) json.RawMessage {
	raw := in.payload
	if in.event == action.EventWorkspaceCreate {
		raw = withoutAddressSecrets(raw)
	}
	return in.secrets.JSON(raw)
}

// needsCleaning reports whether an answer may hold a secret yet. What a command printed has been through the filter.
func needsCleaning(answer any) bool {
	r, isExec := answer.(action.ExecResult)
	return !isExec || r.Failure != nil
}

// withoutSecrets is f with the secrets taken out of its texts.
func withoutSecrets(secrets *redact.Set, f *failure.Failure) *failure.Failure {
	if f == nil || secrets == nil {
		return f
	}
	told := *f
	told.Subject, told.Cause, told.Next = secrets.Text(f.Subject), secrets.Text(f.Cause), secrets.Text(f.Next)
	if f.Err != nil {
		if text := f.Err.Error(); secrets.Text(text) != text {
			told.Err = errors.New(secrets.Text(text))
		}
	}
	return &told
}
