package hub

import (
	_ "embed"
	"net/http"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/policy"
)

// openAPI describes every route below.
//
//go:embed openapi.json
var openAPI []byte

// route is one way into the hub.
type route struct {
	method, path string
	// may says who is let in; nil: the handler looks by itself.
	may     func(Principal) bool
	handler func(http.ResponseWriter, *http.Request, Principal)
}

// steers: it decides about what runs, or lets somebody decide. What is open to agents does not, nor what only shows; a
// terminal has nobody decide.
func (r route) steers() bool {
	return r.may != nil && !r.may(Principal{Kind: kindAgent}) && (changes(r.method) || r.path == terminalPath)
}

// terminalPath leads to a shell in a project's folder.
const terminalPath = "/projects/{id}/terminal"

// anyone is an agent or a person.
func anyone(Principal) bool { return true }

// person gives those persons whose role is at least the one that is named.
func person(least policy.Role) func(Principal) bool {
	return func(p Principal) bool { return p.Kind == kindPerson && p.Role.AtLeast(least) }
}

// api is the table of what openapi.json describes.
func (h *Hub) api() []route {
	return []route{
		{"POST", "/projects/{id}/runner-ticket", nil, plain(h.postTicket)},
		{"GET", "/runner/projects", nil, plain(h.getRunnerProjects)},
		{"GET", "/runner/websocket", nil, plain(h.server.ServeHTTP)},
		{"GET", "/openapi.json", nil, plain(getOpenAPI)},
		{"GET", "/proof", nil, plain(h.getProof)},
		{"POST", "/oauth/device_authorization", nil, plain(h.postDeviceAuthorization)},
		{"POST", "/oauth/token", nil, plain(h.postToken)},
		{"GET", "/me", anyone, h.getMe},
		{"POST", "/login-codes", person(policy.Viewer), h.postLoginCode},
		{"POST", "/logout", person(policy.Viewer), h.postLogout},

		{"POST", "/actions", anyone, h.postAction},
		{"GET", "/actions", anyone, h.getActions},
		{"GET", "/actions/{id}", anyone, h.getAction},
		{"GET", "/actions/{id}/wait", anyone, h.getWait},
		{"GET", "/actions/{id}/output", anyone, h.getOutput},
		{"POST", "/actions/{id}/outcome", anyone, h.postOutcome},
		{"POST", "/actions/{id}/approve", person(policy.Developer), h.postApprove},
		{"POST", "/actions/{id}/always", person(policy.Maintainer), h.postAlways},
		{"POST", "/actions/{id}/deny", person(policy.Developer), h.postDeny},
		{"POST", "/actions/{id}/cancel", person(policy.Developer), h.postCancel},
		{"GET", "/actions/{id}/preview", person(policy.Viewer), h.getPreview},

		{"GET", "/events", person(policy.Viewer), h.getEvents},
		{"GET", "/events/decisions", person(policy.Viewer), h.getDecisions},
		{"GET", "/events/stream", person(policy.Viewer), h.getStream},

		{"GET", "/projects", person(policy.Viewer), h.getProjects},
		{"POST", "/projects", person(policy.Maintainer), h.postProject},
		{"GET", "/projects/{id}", person(policy.Viewer), h.getProject},
		{"PATCH", "/projects/{id}", person(policy.Maintainer), h.patchProject},
		{"DELETE", "/projects/{id}", person(policy.Maintainer), h.deleteProject},
		{"POST", "/projects/{id}/activate", person(policy.Maintainer), h.postActivate},
		{"POST", "/projects/{id}/accept-handoff", person(policy.Maintainer), h.postHandoff},
		{"GET", terminalPath, person(policy.Developer), h.getTerminal},
		{"GET", "/projects/{id}/autonomy", person(policy.Viewer), h.getAutonomy},
		{"PUT", "/projects/{id}/autonomy", person(policy.Maintainer), h.putAutonomy},

		{"GET", "/agents", person(policy.Viewer), h.getAgents},
		{"POST", "/agents", person(policy.Developer), h.postAgent},
		{"DELETE", "/agents/{id}", person(policy.Developer), h.deleteAgent},
		{"GET", "/members", person(policy.Viewer), h.getMembers},
		{"POST", "/members", person(policy.Owner), h.postMember},
		{"PATCH", "/members/{id}", person(policy.Owner), h.patchMember},
		{"DELETE", "/members/{id}", person(policy.Owner), h.deleteMember},
		{"GET", "/git-credentials", person(policy.Owner), h.getGitCredentials},
		{"PUT", "/git-credentials/{host}", person(policy.Owner), h.putGitCredential},
		{"DELETE", "/git-credentials/{host}", person(policy.Owner), h.deleteGitCredential},
		{"GET", "/daemons", person(policy.Viewer), h.getDaemons},
		{"POST", "/daemons", person(policy.Owner), h.postDaemon},
		{"DELETE", "/daemons/{id}", nil, plain(h.deleteDaemon)},
		{"GET", "/containers", person(policy.Viewer), h.getContainers},
	}
}

func (h *Hub) routes() http.Handler {
	mux := http.NewServeMux()
	for _, r := range append(h.api(), h.pages()...) {
		mux.HandleFunc(r.method+" "+r.path, h.let(r))
	}
	return h.guarded(mux)
}

// plain is a handler that finds out by itself who asks.
func plain(f http.HandlerFunc) func(http.ResponseWriter, *http.Request, Principal) {
	return func(w http.ResponseWriter, r *http.Request, _ Principal) { f(w, r) }
}

// let lets a request through to a route's handler whose sender may.
func (h *Hub) let(to route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if to.may == nil {
			to.handler(w, r, Principal{})
			return
		}
		subject := r.Method + " " + r.URL.Path
		who, known, err := h.who(r)
		switch {
		case err != nil:
			writeError(w, err)
		case !known:
			writeError(w, failure.New(failure.Unauthorized, subject))
		case who.cookie && changes(r.Method) && r.Header.Get(csrfHeader) == "":
			writeError(w, forbidden(subject, "the request comes from a browser without the header %s", csrfHeader))
		case !to.may(who):
			writeError(w, forbidden(subject, "a %s with the role %s may not do this", who.Kind, who.Role))
		default:
			if to.steers() {
				if refused := h.refusePeer(r); refused != nil {
					writeError(w, refused)
					return
				}
			}
			to.handler(w, r, who)
		}
	}
}

func getOpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	// An error here means that the client is gone; nobody is left to be told.
	_, _ = w.Write(openAPI)
}

// getMe says who asks.
func (h *Hub) getMe(w http.ResponseWriter, _ *http.Request, who Principal) {
	writeJSON(w, http.StatusOK, map[string]any{"kind": who.Kind, "id": who.ID, "role": who.Role, "project": who.Project})
}
