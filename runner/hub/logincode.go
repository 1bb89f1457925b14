package hub

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"time"

	"brabo.dev/runner/runner/hub/page"
	"brabo.dev/runner/runner/hub/store"
)

const (
	// loginCodeLife is how long a one-time code opens the page: long enough to walk to a browser.
	loginCodeLife = 10 * time.Minute
	// browserLife is how long a browser stays signed in.
	browserLife = 30 * 24 * time.Hour
)

// NewLoginCode makes a code that signs a member's browser in once, at LoginPath, until it expires. The store has its
// digest only.
func (h *Hub) NewLoginCode(member string) (code string, expires time.Time, err error) {
	now := time.Now()
	code, expires = rand.Text(), now.Add(loginCodeLife)
	err = h.store.Update(func(tx store.Tx) error { return tx.AddLoginCode(store.Hash(code), member, now, expires) })
	return code, expires, err
}

// LoginPath is what a link has behind the hub's address that signs a browser in by a code.
func LoginPath(code string) string { return "/login?" + url.Values{"code": {code}}.Encode() }

func (h *Hub) postLoginCode(w http.ResponseWriter, _ *http.Request, who Principal) {
	code, expires, err := h.NewLoginCode(who.ID)
	answer(w, http.StatusCreated, map[string]any{"code": code, "expiresAt": expires.UTC()}, err)
}

// getLogin signs a browser in by a code of NewLoginCode, which is used up. A code has 130 random bits, so that guessing
// needs no further bound, and is looked up by its digest, so that the time of it tells nothing about the code.
func (h *Hub) getLogin(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		w.WriteHeader(http.StatusMethodNotAllowed) // who only looks whether a link leads anywhere must not use it up
		return
	}
	secret, err := h.signInBrowser(r.URL.Query().Get("code"))
	switch {
	case errors.Is(err, store.ErrNone):
		page.WriteSignIn(w, http.StatusUnauthorized, "This link was used before, or is too old.")
		return
	case err != nil:
		writeError(w, err)
		return
	}
	http.SetCookie(w, browserCookie(r, secret, int(browserLife/time.Second)))
	page.WriteSignedIn(w)
}

// signInBrowser uses a code up for a session of a browser, and gives the session's secret. It is on the disk before the
// browser hears of it, so that a code is never good again after a power cut. ErrNone says that there is no such code.
func (h *Hub) signInBrowser(code string) (secret string, err error) {
	secret = rand.Text() + rand.Text()
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	return secret, h.commitDurablyLocked(func(tx store.Tx) error {
		member, err := tx.UseLoginCode(store.Hash(code), now)
		if err != nil {
			return err
		}
		if err := tx.AddBrowserSession(store.Hash(secret), member, now, now.Add(browserLife)); err != nil {
			return err
		}
		return emit(tx, now, eventBrowser, Actor{kindPerson, member}, "", "", payload{"change": "signed_in"})
	})
}

// postLogout ends the browser's session. Without a cookie there is none, which is as good.
func (h *Hub) postLogout(w http.ResponseWriter, r *http.Request, who Principal) {
	var err error
	if who.cookie {
		err = h.signOutBrowser(r, who)
	}
	if err == nil {
		h.reviewAll()
		http.SetCookie(w, browserCookie(r, "", -1))
	}
	none(w, err)
}

func (h *Hub) signOutBrowser(r *http.Request, who Principal) error {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	return h.commitDurablyLocked(func(tx store.Tx) error {
		if err := tx.RemoveBrowserSession(store.Hash(c.Value)); err != nil {
			return err
		}
		return emit(tx, now, eventBrowser, who.actor(), "", "", payload{"change": "signed_out"})
	})
}

// browserCookie is the cookie of a browser's session for so many seconds; fewer than none removes it.
func browserCookie(r *http.Request, secret string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: sessionCookie, Value: secret, Path: "/", MaxAge: seconds,
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	}
}
