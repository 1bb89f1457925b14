package control

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"brabo.dev/runner/runner/failure"
)

// HeldAnswer is where a held action stands.
type HeldAnswer string

// The answers.
const (
	HeldWaits   HeldAnswer = "waits"   // for the person
	HeldAllowed HeldAnswer = "allowed" // the same action passes once when it comes again
	HeldRefused HeldAnswer = "refused" // and does not pass
)

// Held is an action that waits for the person at this machine.
type Held struct {
	ID      string     `json:"id"` // for Confirm
	Project string     `json:"project"`
	Event   string     `json:"event"`
	Ref     string     `json:"ref"`
	Text    string     `json:"text"` // the command, or what else was asked for
	Cwd     string     `json:"cwd,omitempty"`
	Reason  string     `json:"reason"` // why a person has to decide
	Since   time.Time  `json:"since"`
	Until   time.Time  `json:"until"` // then it is refused
	Answer  HeldAnswer `json:"answer"`
}

// Confirm tells the daemon what the person says about a held action. Failures: those of Status, HeldActionNotFound, and
// what is wrong with the action by now.
func (c *Client) Confirm(ctx context.Context, id string, allow bool) error {
	var done struct{}
	return c.post(ctx, "/confirm", confirmation{id, allow}, &done)
}

type confirmation struct {
	ID    string `json:"id"`
	Allow bool   `json:"allow"`
}

// answerConfirm is the handler of POST /confirm.
func answerConfirm(confirm func(id string, allow bool) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var c confirmation
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxHeader)).Decode(&c); err != nil || c.ID == "" {
			answer(w, http.StatusBadRequest, refusal{failure.New(failure.ControlFailed, "confirm").Because("the question can't be read").Wrap(err)})
			return
		}
		if err := confirm(c.ID, c.Allow); err != nil {
			answer(w, http.StatusConflict, refusal{failure.From(err, c.ID)})
			return
		}
		answer(w, http.StatusOK, struct{}{})
	}
}
