package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/gorilla/websocket"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
)

// typedMost bounds one message of what is typed, in bytes.
const typedMost = 32 << 10

// Terminal is an open terminal of a project. Show is for one goroutine; the others may be called from many.
type Terminal struct {
	ws      *websocket.Conn
	project string
	mu      sync.Mutex // one message at a time
}

// Terminal opens a terminal of a project. It fails with what the hub says, HubUnreachable or ctx's error.
func (c *Client) Terminal(ctx context.Context, projectID string, size hub.TerminalSize) (*Terminal, error) {
	path := "/projects/" + url.PathEscape(projectID) + "/terminal"
	query := url.Values{"cols": {strconv.Itoa(size.Cols)}, "rows": {strconv.Itoa(size.Rows)}}
	dialer := websocket.Dialer{NetDialContext: c.dial, NetDialTLSContext: c.dialTLS}
	ws, response, err := dialer.DialContext(ctx, "ws"+strings.TrimPrefix(c.url, "http")+path+"?"+query.Encode(),
		http.Header{"Authorization": {"Bearer " + c.token}})
	switch {
	case err == nil:
		return &Terminal{ws: ws, project: projectID}, nil
	case response != nil && ctx.Err() == nil:
		return nil, refused(response, "GET "+path)
	}
	return nil, c.unreachable(ctx, err)
}

// Write types p.
func (t *Terminal) Write(p []byte) (n int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for n < len(p) {
		most := min(typedMost, len(p)-n)
		if err := t.ws.WriteMessage(websocket.BinaryMessage, p[n:n+most]); err != nil {
			return n, err
		}
		n += most
	}
	return n, nil
}

// Resize tells that the person's window has another size.
func (t *Terminal) Resize(size hub.TerminalSize) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ws.WriteJSON(size)
}

// Show writes what comes to out, until the shell ends by itself, and says how it did. It fails with why the terminal
// was not opened or has ended otherwise, with HubUnreachable where the hub went away, and with out's error.
func (t *Terminal) Show(out io.Writer) (hub.TerminalExit, error) {
	for {
		kind, data, err := t.ws.ReadMessage()
		if err != nil {
			return hub.TerminalExit{}, failure.New(failure.HubUnreachable, "project "+t.project).Wrap(err)
		}
		if kind == websocket.BinaryMessage {
			if _, err := out.Write(data); err != nil {
				return hub.TerminalExit{}, err
			}
			continue
		}
		var news hub.TerminalNews
		switch err := json.Unmarshal(data, &news); {
		case err != nil:
			return hub.TerminalExit{}, failure.New(failure.BadServerAnswer, "project "+t.project).Wrap(err)
		case news.Failure != nil:
			return hub.TerminalExit{}, news.Failure
		case news.Closed != nil:
			return *news.Closed, nil
		}
	}
}

// Close leaves the terminal. What still runs in it is ended, and a Show returns.
func (t *Terminal) Close() error { return t.ws.Close() }
