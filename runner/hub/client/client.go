// Package client asks a hub over its HTTP API: what the command line and the MCP server do on behalf of people and agents.
//
// A Client starts no goroutines but those of net/http, which end with each request.
package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
)

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 64 << 20

// Names of the files in the hub's data folder by which a person's own commands find it.
const (
	AddressFile = "address"
	TokenFile   = "owner-token"
)

// Client asks one hub.
type Client struct {
	url, token string
	session    string // one for all requests, on however many connections of TCP
	http       *http.Client
	tls        *tls.Config // nil: as the system says
	owner      string      // the token that the hub has to know; empty: it may be any
}

// New makes a client of the hub at address, with a person's or an agent's token. What it proposes is of one session.
func New(address, token string) *Client { return newClient(address, token, "", nil) }

func newClient(address, token, owner string, config *tls.Config) *Client {
	c := &Client{url: strings.TrimRight(address, "/"), token: token, session: rand.Text(), owner: owner, tls: config}
	// The hub is on this machine or named by the person; a proxy in the environment is for other things.
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy, transport.DialContext, transport.DialTLSContext = nil, c.dial, c.dialTLS
	c.http = &http.Client{Transport: transport}
	return c
}

// Local makes a client of the hub whose files lie in folder, as its owner. Failures: HubNotRunning where there never was
// one, HubUnreachable where the files can't be read. The files may outlive the hub, so each connection first has what listens
// there prove that it is the hub (HubNotOurs where it is not), and only then shows the token.
func Local(folder string) (*Client, error) {
	raw, err := os.ReadFile(filepath.Join(folder, AddressFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failure.New(failure.HubNotRunning, folder).Wrap(err)
	}
	var address struct {
		URL string `json:"url"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &address)
	}
	var token []byte
	if err == nil {
		token, err = os.ReadFile(filepath.Join(folder, TokenFile))
	}
	if err != nil {
		return nil, failure.New(failure.HubUnreachable, folder).Because("its files can't be read: %v", err).Wrap(err)
	}
	owner := strings.TrimSpace(string(token))
	return newClient(address.URL, owner, owner, nil), nil
}

// Trusting is a client of the same hub, for the same token, that judges the hub's certificate by config.
func (c *Client) Trusting(config *tls.Config) *Client {
	other := newClient(c.url, c.token, c.owner, config)
	other.session = c.session
	return other
}

// URL is where the hub is.
func (c *Client) URL() string { return c.url }

// get asks, and post, put, patch and remove change. into may be nil. A refusal of the hub is its own named failure.
func (c *Client) get(ctx context.Context, path string, query url.Values, into any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.do(ctx, http.MethodGet, path, nil, into)
}

func (c *Client) do(ctx context.Context, method, path string, body, into any) error {
	response, err := c.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(into); err != nil {
		return failure.New(failure.BadServerAnswer, method+" "+c.url+path).Wrap(err)
	}
	return nil
}

// send gives a good answer, whose body the caller closes.
func (c *Client) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("writing the question: %w", err)
		}
		content = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, content)
	if err != nil {
		return nil, failure.New(failure.HubUnreachable, c.url).Wrap(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set(hub.SessionHeader, c.session)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	return nil, refused(response, method+" "+path)
}

// refused is what the hub said, or that it said nothing that can be read.
func refused(response *http.Response, what string) error {
	var said struct {
		Failure *failure.Failure `json:"failure"`
	}
	err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&said)
	if err == nil && said.Failure != nil {
		return said.Failure
	}
	return failure.New(failure.BadServerAnswer, what).Because("it answered %s", response.Status).Wrap(err)
}
