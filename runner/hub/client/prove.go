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
	wanted bool
	mu     sync.Mutex
	given  bool
}

// prove asks the hub, once, to show that it holds the owner's token, before it is told. Failures: HubUnreachable, and
// HubNotOurs where something else answers.
func (c *Client) prove(ctx context.Context) error {
	p := &c.proof
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.wanted || p.given {
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
	if err != nil || !hmac.Equal([]byte(said.Proof), []byte(hub.Proof(c.token, nonce))) {
		return failure.New(failure.HubNotOurs, c.url).Wrap(err)
	}
	p.given = true
	return nil
}
