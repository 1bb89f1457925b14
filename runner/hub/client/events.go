package client

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
)

// EventFilter chooses events.
type EventFilter struct {
	Type, Project string // empty: any
	Since         int64  // behind this number; negative: the last ones
	Limit         int    // zero: the hub's
}

// Events lists events in the order in which they happened.
func (c *Client) Events(ctx context.Context, f EventFilter) ([]hub.Event, error) {
	q := url.Values{}
	if f.Type != "" {
		q.Set("type", f.Type)
	}
	if f.Project != "" {
		q.Set("project", f.Project)
	}
	if f.Since >= 0 {
		q.Set("since", strconv.FormatInt(f.Since, 10))
	}
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	var page struct {
		Events []hub.Event `json:"events"`
	}
	return page.Events, c.get(ctx, "/events", q, &page)
}

// Decisions counts the approvals of people and of the policy in one project, or for an empty one in all.
func (c *Client) Decisions(ctx context.Context, project string) (counts hub.Decisions, err error) {
	return counts, c.get(ctx, "/events/decisions", url.Values{"project": {project}}, &counts)
}

// maxEvent bounds one event of a stream, in bytes.
const maxEvent = 16 << 20

// Follow calls show for each event behind since, and goes on with those that come until ctx ends or show fails, whose
// error it returns. A stream that ends by itself is a HubUnreachable; the caller may follow on from the last event.
func (c *Client) Follow(ctx context.Context, since int64, show func(hub.Event) error) error {
	path := "/events/stream?since=" + strconv.FormatInt(since, 10)
	response, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxEvent)
	event, data := "", ""
	for lines.Scan() {
		switch line := lines.Text(); {
		case line == "":
			if event == "" && data != "" {
				var e hub.Event
				if err := json.Unmarshal([]byte(data), &e); err != nil {
					return failure.New(failure.BadServerAnswer, path).Wrap(err)
				}
				if err := show(e); err != nil {
					return err
				}
			}
			event, data = "", ""
		case strings.HasPrefix(line, "event:"):
			event = strings.TrimSpace(line[len("event:"):])
		case strings.HasPrefix(line, "data:"):
			data += strings.TrimPrefix(line[len("data:"):], " ")
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return failure.New(failure.HubUnreachable, c.url).Because("the stream of events ended").Wrap(lines.Err())
}
