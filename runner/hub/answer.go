package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/policy"
)

// read decodes a bounded body strictly: a member that is not known is a mistake of the caller, who is told. No body
// leaves into as it is.
func (h *Hub) read(w http.ResponseWriter, r *http.Request, into any) error {
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, h.c.MaxBody))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if errors.Is(err, io.EOF) && r.ContentLength == 0 {
		return nil
	}
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

// refusal is the body of every error: the message that the contract's clients show, which is short, the whole failure,
// and the contract's own literals where it has them.
type refusal struct {
	Message    failure.Name     `json:"message"`
	Failure    *failure.Failure `json:"failure"`
	Reason     string           `json:"reason,omitempty"`
	Code       string           `json:"code,omitempty"`
	Status     string           `json:"status,omitempty"`
	ActionType string           `json:"actionType,omitempty"`
}

func writeFailure(w http.ResponseWriter, status int, f *failure.Failure) {
	body := refusal{Message: f.Name, Failure: f}
	switch f.Name {
	case failure.AlwaysAllowRefused:
		body.Reason, body.ActionType = policy.RefusedAlwaysAllow, f.Subject
	case failure.ActionDenied:
		body.Reason, body.Status = string(f.Name), string(Denied)
	case failure.AlreadyMerged, failure.MergeAlreadyProposed, failure.NoContainerService:
		body.Code = string(f.Name)
	}
	writeJSON(w, status, body)
}

// writeError answers an error under the status that its name stands for.
func writeError(w http.ResponseWriter, err error) {
	f := failure.From(err, "hub")
	status := statusOf(f.Name)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		status = http.StatusRequestEntityTooLarge
		f.Because("the body is larger than %s bytes", fmt.Sprint(tooLarge.Limit))
	}
	writeFailure(w, status, f)
}

func statusOf(name failure.Name) int {
	switch name {
	case failure.BadRequest, failure.UnknownActionType, failure.InvalidDeadline, failure.AlwaysAllowRefused:
		return http.StatusBadRequest
	case failure.Unauthorized:
		return http.StatusUnauthorized
	case failure.Forbidden, failure.ControlRefused:
		return http.StatusForbidden
	case failure.ActionNotFound, failure.ProjectNotFound, failure.NotFound:
		return http.StatusNotFound
	case failure.InvalidTransition, failure.NoRunner, failure.TerminalsDisabled, failure.ActionDenied, failure.AlreadyMerged, failure.MergeAlreadyProposed,
		failure.NoContainerService, failure.AlreadyExists, failure.LastOwner:
		return http.StatusConflict
	case failure.PermissionsFileInvalid, failure.ModulesFileInvalid, failure.RootNotConfirmable, failure.RootHoldsOurs, failure.RootNotAllowed:
		return http.StatusUnprocessableEntity
	case failure.RateLimited:
		return http.StatusTooManyRequests
	case failure.Draining, failure.DiskFull, failure.HubStoreUnwritable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// answer writes body, or the error.
func answer(w http.ResponseWriter, status int, body any, err error) {
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, status, body)
}

// number reads a number from the query: usual where there is none, and at most `most`.
func number(r *http.Request, name string, usual, most int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, failure.New(failure.BadRequest, name).Because("it is not a number from 0 up")
	}
	return min(n, most), nil
}

// maxWait bounds a long poll; the proposer asks again.
const maxWait = 60 * time.Second

// waitOf is how many seconds a request wants to wait.
func waitOf(r *http.Request, usual time.Duration) (int64, error) {
	return number(r, "wait", int64(usual/time.Second), int64(maxWait/time.Second))
}

// waited gives an action, after the wait that the request asks for, or else after usual.
func (h *Hub) waited(r *http.Request, id string, usual time.Duration) (Action, error) {
	seconds, err := waitOf(r, usual)
	if err != nil {
		return Action{}, err
	}
	if seconds == 0 {
		return h.Get(id)
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(seconds)*time.Second)
	defer cancel()
	a, err := h.Wait(ctx, id)
	if err != nil && a.ID != "" {
		err = nil // the time is over: the action as it is now is the answer
	}
	return a, err
}
