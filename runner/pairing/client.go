package pairing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/settings"
)

// Bounds of one request.
const (
	requestTime   = 30 * time.Second // for the whole of it, unless the context ends earlier
	largestTicket = 64 << 10         // bytes of a ticket's or a refusal's answer
	largestList   = 8 << 20          // bytes of a list of projects
)

// Client asks one server. The zero values of HTTP and Now are a client of Go's and the time of this machine. It may be
// used by several goroutines at once.
type Client struct {
	BaseURL    string // without a trailing slash
	Credential Credential
	HTTP       *http.Client
	Now        func() time.Time
}

// Ticket lets one connection join one project, once and within half a minute.
type Ticket struct {
	Ticket      settings.Secret
	ExpiresAt   time.Time // zero when the server does not say
	EngineWSURL string
}

// URL is the address to connect to, ticket included: a secret itself.
func (t Ticket) URL() string { return WebSocketURL(t.EngineWSURL, t.Ticket.Reveal()) }

// Project is one row of the list of projects.
type Project struct {
	ID         string
	Name       string    // for people only
	DirName    string    // the folder below the base, as the server says; not checked here
	VerifiedAt time.Time // zero when no runner has confirmed a folder yet
	Mode, Root string    // from servers with the extension `root` only
}

// Ticket asks for a ticket for the project. A ticket is never kept: each attempt to connect takes a new one. Its
// failures are the named ones of the connection: TicketRefused, CredentialExpired, CredentialRevoked, CredentialUnknown,
// ClockSkew, NotMember, ProjectNotFound, ProjectMode, RateLimited, ServerUnavailable, ServerUnreachable, ProxyRefused, BadServerAnswer. A
// cancelled context comes back as its own error.
func (c Client) Ticket(ctx context.Context, projectID string) (Ticket, error) {
	var in struct {
		Ticket      string `json:"ticket"`
		ExpiresAt   string `json:"expiresAt"`
		EngineWSURL string `json:"engineWsUrl"`
	}
	call := request{http.MethodPost, "/projects/" + url.PathEscape(projectID) + "/runner-ticket", projectID, largestTicket}
	if err := c.do(ctx, call, &in); err != nil {
		return Ticket{}, err
	}
	if in.Ticket == "" || !webSocketAddress(in.EngineWSURL) {
		return Ticket{}, failure.New(failure.BadServerAnswer, c.subject(call)).
			Because("the answer lacks a ticket or the address of the engine")
	}
	expires, err := time.Parse(time.RFC3339, in.ExpiresAt)
	if err != nil {
		expires = time.Time{} // for people only: the server decides
	}
	return Ticket{settings.NewSecret(in.Ticket), expires, in.EngineWSURL}, nil
}

// Projects asks for the projects that a machine key may serve. A row that can't be used is left out and named in
// dropped; the others count. The failures are those of Ticket, without the two about one project.
func (c Client) Projects(ctx context.Context) (projects []Project, dropped []*failure.Failure, err error) {
	call := request{http.MethodGet, "/runner/projects", "", largestList}
	var rows []json.RawMessage
	if err := c.do(ctx, call, &rows); err != nil {
		return nil, nil, err
	}
	if rows == nil {
		return nil, nil, failure.New(failure.BadServerAnswer, c.subject(call)).Because("the answer is not a list")
	}
	for i, row := range rows {
		p, why := projectOf(row)
		if why != "" {
			dropped = append(dropped, failure.New(failure.BadServerAnswer, fmt.Sprintf("row %d of %s", i+1, c.subject(call))).
				Because("%s", why).Then("correct the project on the server; the others are served"))
			continue
		}
		projects = append(projects, p)
	}
	return projects, dropped, nil
}

// Revoke gives up the key with this id, which is the Credential: no connection that it opened stays, and it opens no other.
// A key that was revoked before is as good. The failures are those of Projects.
func (c Client) Revoke(ctx context.Context, id string) error {
	return c.do(ctx, request{http.MethodDelete, "/daemons/" + url.PathEscape(id), "", largestTicket}, nil)
}

// projectOf reads one row, or says why it can't be used.
func projectOf(row json.RawMessage) (Project, string) {
	var in struct {
		ProjectID           string `json:"projectId"`
		Name                string `json:"name"`
		WorkspaceDirName    string `json:"workspaceDirName"`
		WorkspaceVerifiedAt any    `json:"workspaceVerifiedAt"`
		Mode                string `json:"mode"`
		Root                string `json:"root"`
	}
	if err := json.Unmarshal(row, &in); err != nil {
		return Project{}, "the row is not an object of texts"
	}
	for name, value := range map[string]string{"projectId": in.ProjectID, "name": in.Name, "workspaceDirName": in.WorkspaceDirName} {
		if value == "" {
			return Project{}, "the row has no `" + name + "`"
		}
	}
	p := Project{ID: in.ProjectID, Name: in.Name, DirName: in.WorkspaceDirName, Mode: in.Mode, Root: in.Root}
	if text, ok := in.WorkspaceVerifiedAt.(string); ok {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			p.VerifiedAt = at
		}
	}
	return p, ""
}

// request is one call of the api.
type request struct {
	method, path string
	projectID    string // "" when it is about no project
	largest      int64  // bytes of a good answer
}

// do makes the call and decodes a good answer into out.
func (c Client) do(ctx context.Context, call request, out any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	bearer, err := c.Credential.Bearer(call.projectID, c.now())
	if err != nil {
		return failure.New(failure.CredentialInvalid, "the credential").Wrap(err)
	}
	req, err := http.NewRequestWithContext(ctx, call.method, strings.TrimRight(c.BaseURL, "/")+call.path, nil)
	if err != nil {
		return failure.New(failure.ServerUnreachable, c.subject(call)).Because("the address is not a URL").Wrap(err)
	}
	req.Header.Set("Authorization", "Bearer "+bearer.Reveal())
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "runner")
	resp, err := c.http().Do(req)
	if err != nil {
		return c.unreachable(ctx, call, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return withWords(c.refused(call, resp, bearer))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, call.largest+1))
	switch {
	case err != nil:
		return c.unreachable(ctx, call, err)
	case int64(len(body)) > call.largest:
		return failure.New(failure.BadServerAnswer, c.subject(call)).Because("the answer is larger than %d bytes", call.largest)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		cause := "the answer is not the JSON that it should be"
		if webPage(resp) {
			cause = "the answer is a web page"
		}
		return failure.New(failure.BadServerAnswer, c.subject(call)).Because("%s", cause)
	}
	return nil
}

// http is the client to use. Redirects are not followed: they would carry the credential to another place.
func (c Client) http() *http.Client {
	client := http.Client{}
	if c.HTTP != nil {
		client = *c.HTTP
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

func (c Client) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

// subject is what was asked, for people.
func (c Client) subject(call request) string {
	return call.method + " " + strings.TrimRight(c.BaseURL, "/") + call.path
}

// unreachable names why there was no answer, or only a part of one.
func (c Client) unreachable(ctx context.Context, call request, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%s: %w", c.subject(call), ctx.Err())
	}
	return Unreachable(c.subject(call), err)
}

// Unreachable names why there was no answer, with the usual reasons in plain words.
func Unreachable(subject string, err error) *failure.Failure {
	var refused *proxyError
	if errors.As(err, &refused) {
		return RefusedByProxy(refused.proxy, refused.status).Wrap(fmt.Errorf("%s: %w", subject, err))
	}
	f := failure.New(failure.ServerUnreachable, subject).Wrap(err)
	if cause, next := networkCause(err); cause != "" {
		f.Because("%s", cause)
		if next != "" {
			f.Then("%s", next)
		}
	}
	return f
}
