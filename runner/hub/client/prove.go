package client

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"sync"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
)

// proof is whether the hub at a client's address has shown that it is this machine's. The zero value asks for nothing.
type proof struct {
	owner string // the token that it has to know
	mu    sync.Mutex
	given bool // and no connection has failed since
}

// Prove has a client that was made by Local ask the hub to show that it is this machine's; others it leaves alone.
// Failures: HubUnreachable, HubNotOurs.
func (c *Client) Prove(ctx context.Context) error { return c.prove(ctx) }

// WithToken is a client of the same hub for another token, shown to nobody else either.
func (c *Client) WithToken(token string) *Client {
	other := New(c.url, token)
	other.http, other.tls, other.proof.owner = c.http, c.tls, c.proof.owner
	return other
}

// doubt has the next request ask for the proof again: a connection that failed may mean that the hub is gone.
func (c *Client) doubt() {
	c.proof.mu.Lock()
	defer c.proof.mu.Unlock()
	c.proof.given = false
}

// prove asks the hub, once, to show that it holds the owner's token, before it is told. Failures: HubUnreachable, and
// HubNotOurs where something else answers.
func (c *Client) prove(ctx context.Context) error {
	p := &c.proof
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owner == "" || p.given {
		return nil
	}
	nonce := rand.Text()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/proof?nonce="+url.QueryEscape(nonce), nil)
	if err != nil {
		return failure.New(failure.HubUnreachable, c.url).Wrap(err)
	}
	response, err := c.http.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return failure.New(failure.HubUnreachable, c.url).Wrap(err)
	}
	defer response.Body.Close()
	var said struct {
		Proof string `json:"proof"`
	}
	err = json.NewDecoder(io.LimitReader(response.Body, 1<<10)).Decode(&said)
	if err != nil || !hmac.Equal([]byte(said.Proof), []byte(hub.Proof(p.owner, nonce))) {
		return failure.New(failure.HubNotOurs, c.url).Wrap(err)
	}
	p.given = true
	return nil
}
