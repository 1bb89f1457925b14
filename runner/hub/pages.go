package hub

import (
	"net/http"

	"brabo.dev/runner/runner/hub/page"
)

// pages are the ways in for browsers, which openapi.json does not describe.
func (h *Hub) pages() []route {
	shown := page.Handler()
	return []route{
		{"GET", "/{$}", nil, plain(h.signedIn(shown))},
		{"GET", "/login", nil, plain(h.getLogin)},
		{"GET", devicePath, nil, plain(h.forOwners(h.getDevice))},
		{"POST", devicePath, nil, plain(h.forOwners(h.postDevice))},
		{"GET", "/assets/", nil, plain(h.notForAgents(shown))},
	}
}

// signedIn shows a page to persons, and others how to sign in.
func (h *Hub) signedIn(shown http.Handler) http.HandlerFunc {
	return h.notForAgents(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch who, known, err := h.who(r); {
		case err != nil:
			writeError(w, err)
		case !known || who.Kind != kindPerson:
			page.WriteSignIn(w, http.StatusUnauthorized, "")
		default:
			shown.ServeHTTP(w, r)
		}
	}))
}

// notForAgents keeps agents away: what is made for people is no door for them.
func (h *Hub) notForAgents(shown http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if bearer(r) != "" {
			if who, known, err := h.who(r); err != nil || known && who.Kind == kindAgent {
				page.WriteFailure(w, http.StatusForbidden, forbidden(r.URL.Path, "the page is for people"))
				return
			}
		}
		shown.ServeHTTP(w, r)
	}
}
