package hub

import (
	"net/http"
	"net/url"
	"slices"

	"brabo.dev/runner/runner/failure"
)

// hostAllowed protects against pages that reach the hub under a name of their own (DNS rebinding): only the names in
// Config.Hosts are served.
func (h *Hub) hostAllowed(r *http.Request) bool { return h.known(r.Host) }

// originAllowed protects against other sites' pages, those of another port of this machine included, to which a browser
// gives the same cookies: it says where a request comes from, and only pages from where the request goes may ask. Programs
// send no Origin.
func (h *Hub) originAllowed(r *http.Request) bool {
	origins, sent := r.Header["Origin"]
	if !sent {
		return true
	}
	if len(origins) != 1 {
		return false
	}
	u, err := url.Parse(origins[0])
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host == r.Host && h.known(u.Host)
}

func (h *Hub) known(host string) bool {
	if slices.Contains(h.c.Hosts, host) {
		return true
	}
	u := url.URL{Host: host}
	return u.Hostname() != "" && slices.Contains(h.c.Hosts, u.Hostname())
}

// guarded refuses what does not name the hub's own host and origin.
func (h *Hub) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !h.hostAllowed(r):
			writeFailure(w, http.StatusMisdirectedRequest, failure.New(failure.HostRefused, "host "+printable(r.Host)))
		case !h.originAllowed(r):
			writeFailure(w, http.StatusForbidden, failure.New(failure.HostRefused, "origin "+printable(r.Header.Get("Origin"))))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// printable bounds what a stranger sent before it is repeated.
func printable(s string) string {
	if len(s) > 100 {
		s = s[:100]
	}
	return url.QueryEscape(s)
}
