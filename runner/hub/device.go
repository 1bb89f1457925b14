package hub

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/page"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// devicePath is the page on which an owner lets a machine in.
const devicePath = "/device"

// formToken is the field of the page's form that another site's page can't know.
const formToken = "form_token"

// forOwners shows a page to owners alone.
func (h *Hub) forOwners(shown func(http.ResponseWriter, *http.Request, Principal)) http.HandlerFunc {
	return h.notForAgents(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch who, known, err := h.who(r); {
		case err != nil:
			writeError(w, err)
		case !known || who.Kind != kindPerson:
			page.WriteSignIn(w, http.StatusUnauthorized, "")
		case !who.Role.AtLeast(policy.Owner):
			page.WriteFailure(w, http.StatusForbidden, forbidden(r.URL.Path, "an owner lets machines in"))
		default:
			if changes(r.Method) {
				if refused := h.refusePeer(r); refused != nil {
					page.WriteFailure(w, http.StatusForbidden, refused)
					return
				}
			}
			shown(w, r, who)
		}
	}))
}

// getDevice asks for a code, or shows the machine that waits under the one in the address.
func (h *Hub) getDevice(w http.ResponseWriter, r *http.Request, _ Principal) {
	code := r.URL.Query().Get("user_code")
	if code == "" {
		page.WriteDevice(w, http.StatusOK, page.Device{Hidden: hidden(r)})
		return
	}
	h.showGrant(w, r, code)
}

// postDevice takes a code, or the decision about the machine that waits under it.
func (h *Hub) postDevice(w http.ResponseWriter, r *http.Request, who Principal) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	err := r.ParseForm()
	code, decision := r.PostForm.Get("user_code"), r.PostForm.Get("decision")
	undecided := decision != page.DeviceApproved && decision != page.DeviceDenied
	switch {
	case err != nil, decision != "" && undecided:
		page.WriteFailure(w, http.StatusBadRequest, failure.New(failure.BadRequest, devicePath).Because("the form can't be read"))
	case who.cookie && !hmac.Equal([]byte(r.PostForm.Get(formToken)), []byte(formTokenOf(r))):
		page.WriteFailure(w, http.StatusForbidden, forbidden(devicePath, "the form was not sent by this hub's own page, or the page is an old one").
			Then("open the page again"))
	case undecided:
		h.showGrant(w, r, code)
	default:
		h.tryCode(w, r, code, func(now time.Time) (store.Grant, error) {
			return h.decideGrant(who, code, decision == page.DeviceApproved, now)
		})
	}
}

func (h *Hub) showGrant(w http.ResponseWriter, r *http.Request, code string) {
	h.tryCode(w, r, code, func(now time.Time) (store.Grant, error) { return h.grant(code, now) })
}

// tryCode shows what became of a code, unless too many were tried that led nowhere.
func (h *Hub) tryCode(w http.ResponseWriter, r *http.Request, typed string, look func(time.Time) (store.Grant, error)) {
	now := time.Now()
	if wait := h.limits.mayTry(now); wait > 0 {
		w.Header().Set("Retry-After", retryAfter(wait))
		page.WriteDevice(w, http.StatusTooManyRequests, page.Device{
			Hidden: hidden(r), Problem: "Too many codes were tried that lead nowhere. Wait a minute, and look at the code again.",
		})
		return
	}
	g, err := look(now)
	switch {
	case failure.Is(err, failure.NotFound):
		h.limits.failed(now)
		page.WriteDevice(w, http.StatusNotFound, page.Device{
			Code: typed, Hidden: hidden(r), Problem: "No machine waits with this code. It may have expired: start the login on the machine again.",
		})
	case err != nil:
		writeError(w, err)
	default:
		d := page.Device{Code: shownUserCode(g.UserCode), Machine: g.Name, Fingerprint: Fingerprint(g.Key), Hidden: hidden(r)}
		switch g.State {
		case grantApproved:
			d.Outcome = page.DeviceApproved
		case grantDenied:
			d.Outcome = page.DeviceDenied
		}
		page.WriteDevice(w, http.StatusOK, d)
	}
}

// hidden are the fields of the form that the person does not see.
func hidden(r *http.Request) map[string]string { return map[string]string{formToken: formTokenOf(r)} }

// formTokenOf is derived from the browser's session, so that nobody else knows it, and it has to be kept nowhere.
func formTokenOf(r *http.Request) string {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(c.Value))
	mac.Write([]byte("the form of " + devicePath))
	return hex.EncodeToString(mac.Sum(nil))
}
