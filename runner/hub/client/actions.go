package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
)

// pollWait is how long one question waits for the outcome of an action before it is asked again.
const pollWait = 30 * time.Second

// Propose proposes an action and gives it as it was decided; one that is approved by a rule runs from now on.
func (c *Client) Propose(ctx context.Context, p hub.Proposal) (a hub.Action, err error) {
	return a, c.do(ctx, http.MethodPost, "/actions", p, &a)
}

// Action gives an action as it is now.
func (c *Client) Action(ctx context.Context, id string) (a hub.Action, err error) {
	return a, c.get(ctx, actionPath(id, ""), nil, &a)
}

// A hub that stops and starts again knows the action still: so long one is waited for that went away, and asked again so
// often.
const (
	restartPatience = 2 * time.Minute
	restartPause    = 250 * time.Millisecond
)

// Wait gives the action once it has ended, or as it is when ctx ends, with ctx's error. A restart of the hub does not end
// it; a hub that stays away for two minutes does.
func (c *Client) Wait(ctx context.Context, id string) (hub.Action, error) {
	var last hub.Action
	var away time.Time // since when; zero: it is there
	query := url.Values{"wait": {strconv.Itoa(int(pollWait / time.Second))}}
	for {
		var a hub.Action
		asked := time.Now()
		err := c.get(ctx, actionPath(id, ""), query, &a)
		switch {
		case err == nil:
			if last, away = a, (time.Time{}); a.Status.Final() {
				return a, nil
			}
			if time.Since(asked) > restartPause {
				continue
			}
			// It did not wait: it stops.
		case !failure.Is(err, failure.HubUnreachable) && !failure.Is(err, failure.Draining):
			return last, err
		case away.IsZero():
			away = time.Now()
		case time.Since(away) > restartPatience:
			return last, err
		}
		pause := time.NewTimer(restartPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return last, ctx.Err()
		}
	}
}

// Filter chooses actions.
type Filter struct {
	Status, Project, Type, Agent string // empty: any
	Before                       int64  // a cursor; zero: the newest
	Limit                        int    // zero: the hub's
}

// Actions lists actions, the newest first. next is the cursor for what follows; zero: nothing does.
func (c *Client) Actions(ctx context.Context, f Filter) (actions []hub.Action, next int64, err error) {
	q := url.Values{}
	for name, value := range map[string]string{"status": f.Status, "project": f.Project, "type": f.Type, "agent": f.Agent} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.Before > 0 {
		q.Set("before", strconv.FormatInt(f.Before, 10))
	}
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	var page struct {
		Actions []hub.Action `json:"actions"`
		Next    int64        `json:"next"`
	}
	return page.Actions, page.Next, c.get(ctx, "/actions", q, &page)
}

func actionPath(id, rest string) string { return "/actions/" + url.PathEscape(id) + rest }

// Decided is the answer to an approval.
type Decided struct {
	Outcome string     `json:"desfecho"`
	Action  hub.Action `json:"action"`
}

// Approve approves a pending action; that somebody was faster is no failure.
func (c *Client) Approve(ctx context.Context, id string) (d Decided, err error) {
	return d, c.do(ctx, http.MethodPost, actionPath(id, "/approve"), struct{}{}, &d)
}

// Always approves an action and has what it wants remembered (policy.md section 11).
func (c *Client) Always(ctx context.Context, id string) (a hub.Always, err error) {
	return a, c.do(ctx, http.MethodPost, actionPath(id, "/always"), struct{}{}, &a)
}

// Deny refuses a pending action; the reason reaches who proposed it.
func (c *Client) Deny(ctx context.Context, id, reason string) (a hub.Action, err error) {
	return a, c.do(ctx, http.MethodPost, actionPath(id, "/deny"), map[string]string{"reason": reason}, &a)
}

// Cancel ends an action that was approved and has no outcome yet.
func (c *Client) Cancel(ctx context.Context, id string) (a hub.Action, err error) {
	return a, c.do(ctx, http.MethodPost, actionPath(id, "/cancel"), struct{}{}, &a)
}

// Report tells the outcome of an action that its proposer carries out.
func (c *Client) Report(ctx context.Context, id string, r hub.Report) (a hub.Action, err error) {
	return a, c.do(ctx, http.MethodPost, actionPath(id, "/outcome"), r, &a)
}

// Me is who the token belongs to.
type Me struct {
	Kind    string `json:"kind"` // "agent" or "person"
	ID      string `json:"id"`
	Role    string `json:"role"`
	Project string `json:"project"` // the only one that an agent is for; empty: every one
}

// Me asks who the hub takes this client for.
func (c *Client) Me(ctx context.Context) (me Me, err error) {
	return me, c.get(ctx, "/me", nil, &me)
}
