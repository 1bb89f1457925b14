package control

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Action is one line of the history.
type Action struct {
	Server  string `json:"server"`
	Project string `json:"project"`
	Event   string `json:"event"`
	Ref     string `json:"ref"`
	Text    string `json:"text"` // the command, or what else was asked for, cut
	// The times of its way; one that has not come is left out.
	Received  time.Time `json:"received,omitzero"`
	Begun     time.Time `json:"begun,omitzero"`
	Finished  time.Time `json:"finished,omitzero"`
	Delivered time.Time `json:"delivered,omitzero"`
	ExitCode  *int      `json:"exitCode,omitempty"` // left out where there is none
	Failure   string    `json:"failure,omitempty"`  // the name
}

// Query chooses lines of the history. The zero value is the newest hundred.
type Query struct {
	Project, Ref string // empty: any
	Since        time.Time
	Failed       bool // only those with a failure or an exit code other than 0
	Limit        int  // zero: 100
}

// History asks for the daemon's actions, newest first. Failures are those of Status.
func (c *Client) History(ctx context.Context, q Query) ([]Action, error) {
	v := url.Values{"project": {q.Project}, "ref": {q.Ref}, "limit": {strconv.Itoa(q.Limit)}, "failed": {strconv.FormatBool(q.Failed)}}
	if !q.Since.IsZero() {
		v.Set("since", q.Since.Format(time.RFC3339Nano))
	}
	var actions []Action
	return actions, c.get(ctx, "/history?"+v.Encode(), &actions)
}

// query reads what History sends.
func query(v url.Values) (q Query, err error) {
	q = Query{Project: v.Get("project"), Ref: v.Get("ref")}
	if text := v.Get("limit"); text != "" {
		if q.Limit, err = strconv.Atoi(text); err != nil {
			return q, err
		}
	}
	if text := v.Get("failed"); text != "" {
		if q.Failed, err = strconv.ParseBool(text); err != nil {
			return q, err
		}
	}
	if text := v.Get("since"); text != "" {
		q.Since, err = time.Parse(time.RFC3339Nano, text)
	}
	return q, err
}

// answerHistory is the handler of GET /history.
func answerHistory(history func(Query) ([]Action, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, err := query(r.URL.Query())
		if err != nil {
			answer(w, http.StatusBadRequest, refusal{failure.New(failure.ControlFailed, "history").Because("the question can't be read: %v", err)})
			return
		}
		actions, err := history(q)
		if err != nil {
			answer(w, http.StatusInternalServerError, refusal{failure.From(err, "history")})
			return
		}
		if actions == nil {
			actions = []Action{}
		}
		answer(w, http.StatusOK, actions)
	}
}
