package hub

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// Principal is who asks: an agent, or a person.
type Principal struct {
	Kind, ID string
	// Role is the person's, or that of the person who issued the agent's token.
	Role    policy.Role
	Project string // the only one that an agent is for; empty: every project
	Session string // the agent's connection
	cookie  bool   // known by the browser's cookie, which other sites' pages could make it send
}

func (p Principal) actor() Actor { return Actor{p.Kind, p.ID} }

// local is the agent of the configuration.
func (h *Hub) local() Principal {
	p, err := h.person(h.c.Person)
	if err != nil {
		h.c.Log.Error("the owner can't be read", "error", err)
	}
	return Principal{Kind: kindAgent, ID: localAgent, Role: p.Role}
}

// person finds a member, or says Forbidden.
func (h *Hub) person(id string) (Principal, error) {
	var m store.Member
	err := h.store.View(func(tx store.Tx) (err error) {
		m, err = tx.Member(id)
		return err
	})
	if errors.Is(err, store.ErrNone) {
		return Principal{}, forbidden("person "+printable(id), "there is no such member")
	}
	return Principal{Kind: kindPerson, ID: m.ID, Role: policy.Role(m.Role)}, err
}

// forbidden is the failure of who may not.
func forbidden(subject, format string, args ...any) *failure.Failure {
	return failure.New(failure.Forbidden, subject).Because(format, args...)
}

// sessionCookie holds the browser's session.
const sessionCookie = "runner_session"

// csrfHeader has to come with what changes something and is authorized by the cookie: another site's page can't set it.
const csrfHeader = "X-Runner-CSRF"

// SessionHeader names the agent's connection where one is more than a TCP connection: up to 64 letters, digits, _ and -.
const SessionHeader = "X-Runner-Session"

var sessionName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// who finds out who asks: by the token, or by the browser's cookie.
func (h *Hub) who(r *http.Request) (p Principal, known bool, err error) {
	err = h.store.View(func(tx store.Tx) error {
		if token := bearer(r); token != "" {
			hash := store.Hash(token)
			switch m, err := tx.MemberByToken(hash); {
			case err == nil:
				p = Principal{Kind: kindPerson, ID: m.ID, Role: policy.Role(m.Role)}
				return nil
			case !errors.Is(err, store.ErrNone):
				return err
			}
			a, err := tx.AgentByToken(hash)
			if err != nil {
				return err
			}
			issuer, err := tx.Member(a.Issuer)
			p = Principal{Kind: kindAgent, ID: a.ID, Project: a.Project, Role: policy.Role(issuer.Role)}
			return err
		}
		c, err := r.Cookie(sessionCookie)
		if err != nil {
			return store.ErrNone
		}
		m, err := tx.MemberBySession(store.Hash(c.Value), time.Now())
		p = Principal{Kind: kindPerson, ID: m.ID, Role: policy.Role(m.Role), cookie: true}
		return err
	})
	if errors.Is(err, store.ErrNone) {
		return Principal{}, false, nil
	}
	if session := r.Header.Get(SessionHeader); sessionName.MatchString(session) {
		p.Session = session
	} else if c := connectionOf(r); c != nil {
		p.Session = c.name
	}
	return p, err == nil, err
}

// bearer gives the text behind "Bearer ", or nothing.
func bearer(r *http.Request) string {
	text, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found {
		return ""
	}
	return text
}

// changes reports whether a method is one that changes something.
func changes(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}
