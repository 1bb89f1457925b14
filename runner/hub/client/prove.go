package client

import (
	"bufio"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
)

// dialTimeout bounds each of connecting, the handshake of TLS, and the hub's proof.
const dialTimeout = 10 * time.Second

// maxProof bounds the answer, in bytes.
const maxProof = 64 << 10

// Prove has a client that was made by Local ask the hub to show that it is this machine's; others it leaves alone.
// Failures: HubUnreachable, HubNotOurs.
func (c *Client) Prove(ctx context.Context) error {
	if c.owner == "" {
		return nil
	}
	at, err := url.Parse(c.url)
	if err != nil {
		return failure.New(failure.HubUnreachable, c.url).Wrap(err)
	}
	port, dial := "80", c.dial
	if at.Scheme == "https" {
		port, dial = "443", c.dialTLS
	}
	conn, err := dial(ctx, "tcp", net.JoinHostPort(at.Hostname(), cmp.Or(at.Port(), port)))
	if err != nil {
		return c.unreachable(ctx, err)
	}
	return conn.Close()
}

// WithToken is a client of the same hub for another token, shown to nobody else either.
func (c *Client) WithToken(token string) *Client { return newClient(c.url, token, c.owner, c.tls) }

// At is a client of what listens at address, another name of the same hub, which has to prove there that it is it.
func (c *Client) At(address string) *Client { return newClient(address, c.token, c.owner, c.tls) }

// dial makes a connection on which the hub has proven itself, where it has to.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return c.proven(ctx, conn)
}

// dialTLS is dial for a hub that listens with a certificate.
func (c *Client) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	config := &tls.Config{}
	if c.tls != nil {
		config = c.tls.Clone()
	}
	config.NextProtos = []string{"http/1.1"} // in which the proof is asked for
	dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: dialTimeout}, Config: config}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return c.proven(ctx, conn)
}

// proven gives conn once what is at its other end has shown that it holds the owner's token. It is asked on each
// connection, and before anything else is said: whoever takes the hub's port when it is gone would be told a token by
// the next one. Failure: HubNotOurs where something else answers.
func (c *Client) proven(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if c.owner == "" {
		return conn, nil
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	err := conn.SetDeadline(time.Now().Add(dialTimeout))
	if err == nil {
		err = c.prove(conn)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func (c *Client) prove(conn net.Conn) error {
	nonce := rand.Text()
	request, err := http.NewRequest(http.MethodGet, c.url+"/proof?nonce="+url.QueryEscape(nonce), nil)
	if err != nil {
		return err
	}
	if err := request.Write(conn); err != nil {
		return err
	}
	answer := bufio.NewReader(io.LimitReader(conn, maxProof))
	response, err := http.ReadResponse(answer, request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var said struct {
		Proof string `json:"proof"`
	}
	err = json.Unmarshal(text, &said)
	switch {
	case err != nil || !hmac.Equal([]byte(said.Proof), []byte(hub.Proof(c.owner, nonce))):
		return failure.New(failure.HubNotOurs, c.url).Wrap(err)
	case response.Close || answer.Buffered() > 0:
		return failure.New(failure.BadServerAnswer, "GET "+c.url+"/proof").Because("it says more than it was asked, or will say no more")
	}
	return nil
}

// unreachable is why there is no answer: ctx's error, that what answers is not the hub, or that nothing does.
func (c *Client) unreachable(ctx context.Context, err error) error {
	var f *failure.Failure
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &f) && f.Name == failure.HubNotOurs:
		return f
	}
	return failure.New(failure.HubUnreachable, c.url).Wrap(err)
}
