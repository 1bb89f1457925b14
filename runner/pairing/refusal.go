package pairing

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/settings"
)

const (
	// longestMessage is how much of a server's own words is shown, in bytes.
	longestMessage = 300
	// longestWait is the longest Retry-After that is believed.
	longestWait = 24 * time.Hour
	// skewNoticed is the difference between the clocks that explains a refused signature. It lies a little under
	// Lifetime, because Date has whole seconds and the answer took its time.
	skewNoticed = Lifetime - 5*time.Second
)

// StatusError is the answer behind a refusal; the named failure wraps it.
type StatusError struct {
	Status     int           // of HTTP
	Message    string        // the server's own words, cut and without control characters; they may be empty
	RetryAfter time.Duration // how long the server asks to wait; 0 when it does not say
}

// Error is the status and the server's words.
func (e *StatusError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("HTTP %d", e.Status)
	}
	return fmt.Sprintf("HTTP %d: %s", e.Status, e.Message)
}

// RetryAfter is how long the server behind err asks to wait, or 0.
func RetryAfter(err error) time.Duration {
	var e *StatusError
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

// refused names a refusal by its status alone, as protocol.md 1.1 demands; the server's words are shown beside.
func (c Client) refused(call request, resp *http.Response, bearer settings.Secret) error {
	message, told := said(resp, bearer)
	status := &StatusError{Status: resp.StatusCode, Message: message, RetryAfter: c.retryAfter(resp)}
	named := func(name failure.Name) *failure.Failure { return failure.New(name, c.subject(call)).Wrap(status) }
	if byProxy := c.RefusedByProxy(resp); byProxy != nil {
		return byProxy.Wrap(status)
	}
	var f *failure.Failure
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized:
		return c.unauthorized(resp, told, named)
	case code == http.StatusForbidden && call.projectID == "":
		return named(failure.NotMember).Because("the credential is bound to one project, and the list is for machine keys").
			Then("name the project by `--project`, or pair this machine with a machine key")
	case code == http.StatusTooManyRequests:
		return named(failure.RateLimited)
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusTooEarly:
		return named(failure.ServerUnavailable)
	case code >= 300 && code < 400:
		return named(failure.BadServerAnswer).Because("the server points to %s, and a credential is sent nowhere else", redirectHost(resp)).
			Then("if that is the server's address, set `api_url` to it")
	case code == http.StatusForbidden:
		f = named(failure.NotMember)
	case code == http.StatusBadRequest && call.projectID != "":
		f = named(failure.ProjectMode)
	case code == http.StatusNotFound && call.projectID != "":
		f = named(failure.ProjectNotFound)
	default:
		return named(failure.BadServerAnswer).Because("the server answers with status %d, which the protocol does not have here", code)
	}
	if webPage(resp) {
		other := "another server answers at this address"
		if proxy := c.proxyOf(resp); proxy != "" {
			other = "the proxy " + proxy + " answers in its place"
		}
		f.Because("%s; or %s, for it sent a web page", f.Cause, other)
	}
	return f
}

// withWords has the status and the server's own words stand in the cause, which travels further than the error does: into
// the log and the daemon's status.
func withWords(err error) error {
	f := failure.As(err)
	return f.Because("%s (%v)", f.Cause, f.Err)
}

// unauthorized names the cause of a 401: by the clocks, and, where the server tells one, as a hub does, by that.
func (c Client) unauthorized(resp *http.Response, told failure.Name, named func(failure.Name) *failure.Failure) *failure.Failure {
	if told == failure.CredentialRevoked || told == failure.CredentialUnknown {
		return named(told)
	}
	if skew := c.skew(resp); c.signs() && skew.Abs() >= skewNoticed {
		return named(failure.ClockSkew).Because("this machine's clock is %s", skewText(skew))
	}
	if told == failure.CredentialExpired {
		return named(told)
	}
	return named(failure.TicketRefused)
}

// Unauthorized reports whether err is a server's word that it does not accept the credential, whatever the cause.
func Unauthorized(err error) bool {
	var e *StatusError
	return errors.As(err, &e) && e.Status == http.StatusUnauthorized
}

// signs reports whether the credential depends on the clock.
func (c Client) signs() bool {
	_, token := c.Credential.(Token)
	return !token
}

// skew is how far this machine's clock is ahead of the server's, or 0 when the server does not say.
func (c Client) skew(resp *http.Response) time.Duration {
	theirs, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return 0
	}
	return c.now().Sub(theirs)
}

func skewText(skew time.Duration) string {
	if skew < 0 {
		return fmt.Sprintf("%s behind the server's", (-skew).Round(time.Second))
	}
	return fmt.Sprintf("%s ahead of the server's", skew.Round(time.Second))
}

// retryAfter reads both forms of Retry-After, a date by the server's own clock.
func (c Client) retryAfter(resp *http.Response) time.Duration {
	text := resp.Header.Get("Retry-After")
	var wait time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(c.now().Add(-c.skew(resp)))
	}
	return min(max(wait, 0), longestWait)
}

// said is the server's own words, fit to be shown: one line, cut, and without the credential should it be echoed; and the
// name of the failure, where the server is one that names them.
func said(resp *http.Response, bearer settings.Secret) (words string, name failure.Name) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, largestTicket))
	if err != nil {
		return "", ""
	}
	var in struct {
		Message any `json:"message"`
		Failure any `json:"failure"`
	}
	if json.Unmarshal(body, &in) != nil {
		return "", ""
	}
	if f, ok := in.Failure.(map[string]any); ok {
		text, _ := f["name"].(string)
		name = failure.Name(text)
	}
	if in.Message == nil {
		return "", name
	}
	text := fmt.Sprint(in.Message)
	if !bearer.IsZero() {
		text = strings.ReplaceAll(text, bearer.Reveal(), "(hidden)")
	}
	return printable(text), name
}

// printable is a server's text in one line, cut.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
	if len(text) > longestMessage {
		text = strings.ToValidUTF8(text[:longestMessage], "") + "…"
	}
	return text
}

func webPage(resp *http.Response) bool {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && (kind == "text/html" || kind == "application/xhtml+xml")
}

// redirectHost is where a redirect points, without what may be secret in it.
func redirectHost(resp *http.Response) string {
	to, err := resp.Location()
	if err != nil {
		return "another address"
	}
	return (&url.URL{Scheme: to.Scheme, Host: to.Host}).String()
}

// networkCause puts the usual reasons for no answer into plain words.
func networkCause(err error) (cause, next string) {
	var (
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		op          *net.OpError
	)
	switch {
	case errors.As(err, &op) && op.Op == "proxyconnect": // net/http's word for the way to the proxy
		return fmt.Sprintf("the proxy does not answer (%v)", op.Err), "check `proxy`, or the variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
	case errors.As(err, &dns):
		return "the name " + dns.Name + " can't be resolved", "check the address and the network"
	case errors.As(err, &certificate):
		return "the server's certificate is not trusted here", "name the authority that issued it by `ca_file`, or check that no portal or proxy stands in between"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return "what answers does not speak TLS", "check whether the address begins with http:// instead"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens at the address", "check the address, and that the server runs"
	case errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		return "no answer came in time", ""
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return "the connection ended before the answer did", ""
	}
	return "", ""
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}
