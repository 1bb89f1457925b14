package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"brabo.dev/runner/runner/failure"
)

// maxWait bounds a long poll; the proposer asks again.
const maxWait = 60 * time.Second

func (h *Hub) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /runner/websocket", h.server)
	mux.HandleFunc("POST /projects/{project}/runner-ticket", h.postTicket)
	mux.HandleFunc("GET /runner/projects", h.getProjects)
	mux.HandleFunc("POST /actions", h.allowed(h.postAction, h.c.AgentToken, h.c.PersonToken))
	mux.HandleFunc("GET /actions", h.allowed(h.getActions, h.c.AgentToken, h.c.PersonToken))
	mux.HandleFunc("GET /actions/{id}", h.allowed(h.getAction, h.c.AgentToken, h.c.PersonToken))
	mux.HandleFunc("POST /actions/{id}/approve", h.allowed(h.postApprove, h.c.PersonToken))
	mux.HandleFunc("POST /actions/{id}/deny", h.allowed(h.postDeny, h.c.PersonToken))
	mux.HandleFunc("POST /actions/{id}/cancel", h.allowed(h.postCancel, h.c.PersonToken))
	return h.guarded(mux)
}

// allowed lets a request through that carries one of the tokens.
func (h *Hub) allowed(next http.HandlerFunc, tokens ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		given := bearer(r)
		for _, token := range tokens {
			if token != "" && given != "" && sameSecret(token, given) {
				next(w, r)
				return
			}
		}
		writeFailure(w, http.StatusUnauthorized, failure.New(failure.Unauthorized, r.Method+" "+r.URL.Path))
	}
}

// postTicket is call A of protocol.md 1.2.
func (h *Hub) postTicket(w http.ResponseWriter, r *http.Request) {
	now, id := time.Now(), r.PathValue("project")
	c, claimed, ok := h.credential(r, now)
	subject := "project " + printable(id)
	h.mu.Lock()
	p := h.projects[id]
	h.mu.Unlock()
	switch {
	case !ok:
		writeFailure(w, http.StatusUnauthorized, failure.New(failure.TicketRefused, subject))
	case c.Project != "" && c.Project != id, c.Key != nil && (claimed == nil || *claimed != id):
		writeFailure(w, http.StatusForbidden, failure.New(failure.NotMember, subject))
	case p == nil:
		writeFailure(w, http.StatusNotFound, failure.New(failure.ProjectNotFound, subject))
	default:
		text, expires := h.tickets.issue(id, c.ID, now)
		writeJSON(w, http.StatusCreated, map[string]any{
			"ticket": text, "expiresAt": expires.UTC().Format(time.RFC3339Nano), "engineWsUrl": "ws://" + r.Host + "/runner",
		})
	}
}

// getProjects is call B of protocol.md 1.2, with the mode and root of section 12.
func (h *Hub) getProjects(w http.ResponseWriter, r *http.Request) {
	c, claimed, ok := h.credential(r, time.Now())
	switch {
	case !ok:
		writeFailure(w, http.StatusUnauthorized, failure.New(failure.TicketRefused, "projects"))
		return
	case c.Key == nil || c.Project != "" || claimed != nil:
		writeFailure(w, http.StatusForbidden, failure.New(failure.NotMember, "projects"))
		return
	}
	rows := []map[string]any{}
	for _, p := range h.c.Projects {
		rows = append(rows, map[string]any{
			"projectId": p.ID, "name": p.Name, "workspaceDirName": p.ID, "workspaceVerifiedAt": nil, "mode": p.Mode, "root": p.Root,
		})
	}
	writeJSON(w, http.StatusOK, rows)
}

func (h *Hub) postAction(w http.ResponseWriter, r *http.Request) {
	var p Proposal
	if err := h.read(w, r, &p); err != nil {
		writeError(w, err)
		return
	}
	a, err := h.Propose(p)
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, a)
}

func (h *Hub) getActions(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, h.List(Status(r.URL.Query().Get("status"))))
}

// getAction answers at once, or with ?wait=SECONDS once the action has an outcome or the time is over.
func (h *Hub) getAction(w http.ResponseWriter, r *http.Request) {
	id, wait := r.PathValue("id"), r.URL.Query().Get("wait")
	if wait == "" {
		h.answer(w)(h.Get(id))
		return
	}
	seconds, err := strconv.Atoi(wait)
	if err != nil || seconds < 0 {
		writeError(w, failure.New(failure.BadRequest, "wait").Because("it is not a number of seconds"))
		return
	}
	ctx, cancel := contextWithin(r, min(time.Duration(seconds)*time.Second, maxWait))
	defer cancel()
	a, err := h.Wait(ctx, id)
	if err != nil && failure.As(err) == nil {
		err = nil // the time is over: the action as it is now is the answer
	}
	h.answer(w)(a, err)
}

func (h *Hub) postApprove(w http.ResponseWriter, r *http.Request) {
	h.answer(w)(h.Approve(r.PathValue("id"), h.c.Person))
}

func (h *Hub) postDeny(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Reason string `json:"reason"`
	}
	if err := h.read(w, r, &body); err != nil {
		writeError(w, err)
		return
	}
	h.answer(w)(h.Deny(r.PathValue("id"), h.c.Person, body.Reason))
}

func (h *Hub) postCancel(w http.ResponseWriter, r *http.Request) {
	if err := h.Cancel(r.PathValue("id"), "cancelled by "+h.c.Person); err != nil {
		writeError(w, err)
		return
	}
	h.answer(w)(h.Get(r.PathValue("id")))
}

func (h *Hub) answer(w http.ResponseWriter) func(Action, error) {
	return func(a Action, err error) {
		if err != nil {
			writeError(w, err)
			return
		}
		writeJSON(w, http.StatusOK, a)
	}
}

// read decodes a bounded body strictly: a member that is not known is a mistake of the caller, who is told.
func (h *Hub) read(w http.ResponseWriter, r *http.Request, into any) error {
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, h.c.MaxBody))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more than one value")
		}
	}
	if err != nil {
		return failure.New(failure.BadRequest, r.Method+" "+r.URL.Path).Because("the body can't be read: %v", err).Wrap(err)
	}
	return nil
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte(`{"message":"the answer can't be written"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// An error here means that the client is gone; nobody is left to be told.
	_, _ = w.Write(append(raw, '\n'))
}

// writeFailure answers with the message that the contract's clients show, which is short, and the whole failure.
func writeFailure(w http.ResponseWriter, status int, f *failure.Failure) {
	writeJSON(w, status, map[string]any{"message": f.Name, "failure": f})
}

// writeError answers an error under the status that its name stands for.
func writeError(w http.ResponseWriter, err error) {
	f := failure.From(err, "hub")
	status := http.StatusInternalServerError
	switch f.Name {
	case failure.BadRequest, failure.UnknownActionType, failure.InvalidDeadline:
		status = http.StatusBadRequest
	case failure.ActionNotFound, failure.ProjectNotFound:
		status = http.StatusNotFound
	case failure.InvalidTransition, failure.NoRunner:
		status = http.StatusConflict
	case failure.PermissionsFileInvalid, failure.ModulesFileInvalid, failure.ResourcesBelowMinimum:
		status = http.StatusUnprocessableEntity
	case failure.Draining:
		status = http.StatusServiceUnavailable
	}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		status = http.StatusRequestEntityTooLarge
		f.Because("the body is larger than %s bytes", fmt.Sprint(tooLarge.Limit))
	}
	writeFailure(w, status, f)
}
