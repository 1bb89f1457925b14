package channel

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// bodyLimit is how much of a refusal's body is kept.
const bodyLimit = 4 << 10

// RefusedError is an answer to the upgrade that is not 101. A bare 403 is all
// that most servers say, whatever the cause. Redirects are not followed, as they
// would carry the ticket elsewhere.
type RefusedError struct {
	Status int
	Header http.Header
	Body   []byte // its beginning, at most 4 KiB
}

func newRefused(resp *http.Response) *RefusedError {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, bodyLimit)) // what came of it is enough
	return &RefusedError{Status: resp.StatusCode, Header: resp.Header, Body: body}
}

func (e *RefusedError) Error() string {
	text := fmt.Sprintf("channel: upgrade refused with status %d", e.Status)
	if name := http.StatusText(e.Status); name != "" {
		text += " " + name
	}
	if e.HTML() {
		text += " and a web page"
	}
	return text
}

// HTML reports whether a web page was answered, as portals and proxies do.
func (e *RefusedError) HTML() bool {
	return strings.HasPrefix(strings.ToLower(e.Header.Get("Content-Type")), "text/html")
}

// RetryAfter reads the Retry-After header, seconds or an HTTP date. ok is false
// where there is none that can be read; a date in the past gives 0.
func (e *RefusedError) RetryAfter(now time.Time) (wait time.Duration, ok bool) {
	value := strings.TrimSpace(e.Header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}
