package containerctl

import (
	"strings"

	"brabo.dev/runner/runner/failure"
)

// pullClasses tells failed pulls apart by the engine's words, since neither Docker nor Podman gives a code: both
// answer 500, or 200 with the error in the stream. The first class with a matching word counts, so that the sharper
// words stand first. Only what is passing is worth another try.
var pullClasses = []struct {
	name    failure.Name
	passing bool
	words   []string
}{
	{failure.ImageRateLimited, false, []string{"toomanyrequests", "too many requests", "rate limit", "status 429"}},
	{failure.DiskFull, false, []string{"no space left on device"}},
	{failure.ImageDenied, false, []string{
		"pull access denied", "unauthorized", "authentication required", "no basic auth credentials",
		"access to the resource is denied", "invalid username/password", "incorrect username or password",
		"denied:", "403 forbidden", "status 403", "401 unauthorized",
	}},
	{failure.ImageNotFound, false, []string{
		"manifest unknown", "name unknown", "repository name not known", "no such image", "no matching manifest",
		"not found: manifest", "404 (not found)", "status 404", "404 not found", "repository does not exist",
	}},
	{failure.RegistryUnreachable, true, []string{
		"connection refused", "no such host", "no route to host", "network is unreachable", "i/o timeout",
		"connection reset", "server misbehaving", "temporary failure in name resolution", "tls handshake timeout",
		"client.timeout exceeded", "context deadline exceeded", "connection timed out",
	}},
	{failure.ImagePullFailed, true, []string{
		"unexpected eof", "received unexpected http status: 5", "status 500", "status 502", "status 503", "status 504",
		"bad gateway", "service unavailable", "gateway timeout", "internal server error",
	}},
}

func classifyPull(text string) (name failure.Name, passing bool) {
	text = strings.ToLower(text)
	for _, class := range pullClasses {
		for _, w := range class.words {
			if strings.Contains(text, w) {
				return class.name, class.passing
			}
		}
	}
	return failure.ImagePullFailed, false
}
