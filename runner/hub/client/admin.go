package client

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"net/http"
	"net/url"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
)

// Project is a project of the hub.
type Project struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Mode       string     `json:"mode"`
	Root       string     `json:"root"`
	DirName    string     `json:"workspaceDirName"`
	AlsoInside []string   `json:"also_inside"`
	Verified   *time.Time `json:"workspaceVerifiedAt"`
	Activated  *time.Time `json:"activatedAt"`
	Connected  bool       `json:"connected"` // a daemon serves it now
}

// Projects lists the projects in the order of their creation.
func (c *Client) Projects(ctx context.Context) ([]Project, error) {
	var page struct {
		Projects []Project `json:"projects"`
	}
	return page.Projects, c.get(ctx, "/projects", nil, &page)
}

// AddProject makes a project.
func (c *Client) AddProject(ctx context.Context, spec hub.ProjectSpec) (p Project, err error) {
	return p, c.do(ctx, http.MethodPost, "/projects", spec, &p)
}

// ChangeProject changes what is set in change.
func (c *Client) ChangeProject(ctx context.Context, id string, change hub.ProjectChange) (p Project, err error) {
	return p, c.do(ctx, http.MethodPatch, projectPath(id, ""), change, &p)
}

// RemoveProject removes a project; its folder, actions and events stay.
func (c *Client) RemoveProject(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, projectPath(id, ""), nil, nil)
}

// Activate seeds the execution patterns and the autonomy that comes with them (policy.md section 10).
func (c *Client) Activate(ctx context.Context, id string) (a hub.Activation, err error) {
	return a, c.do(ctx, http.MethodPost, projectPath(id, "/activate"), struct{}{}, &a)
}

// AcceptHandoff seeds the infrastructure agent's autonomy.
func (c *Client) AcceptHandoff(ctx context.Context, id, agent string) ([]hub.Autonomy, error) {
	return c.autonomy(ctx, http.MethodPost, projectPath(id, "/accept-handoff"), map[string]string{"agent": agent})
}

// Autonomy lists the rows of a project.
func (c *Client) Autonomy(ctx context.Context, id string) ([]hub.Autonomy, error) {
	return c.autonomy(ctx, http.MethodGet, projectPath(id, "/autonomy"), nil)
}

// SetAutonomy sets one row, or removes it where it has no mode, and gives all.
func (c *Client) SetAutonomy(ctx context.Context, id string, row hub.Autonomy) ([]hub.Autonomy, error) {
	return c.autonomy(ctx, http.MethodPut, projectPath(id, "/autonomy"), row)
}

func (c *Client) autonomy(ctx context.Context, method, path string, body any) ([]hub.Autonomy, error) {
	var page struct {
		Rows []hub.Autonomy `json:"rows"`
	}
	return page.Rows, c.do(ctx, method, path, body, &page)
}

// Agent is an agent that may propose.
type Agent struct {
	ID      string    `json:"id"`
	Project string    `json:"project"` // empty: every project
	Issuer  string    `json:"issuer"`
	Created time.Time `json:"createdAt"`
}

// Agents lists the agents.
func (c *Client) Agents(ctx context.Context) ([]Agent, error) {
	var page struct {
		Agents []Agent `json:"agents"`
	}
	return page.Agents, c.get(ctx, "/agents", nil, &page)
}

// AddAgent makes an agent and gives its token, which is told only once.
func (c *Client) AddAgent(ctx context.Context, project, id string) (token string, err error) {
	var made struct {
		Token string `json:"token"`
	}
	err = c.do(ctx, http.MethodPost, "/agents", map[string]string{"id": id, "project": project}, &made)
	return made.Token, err
}

// RemoveAgent removes an agent; its token is worth nothing from then on.
func (c *Client) RemoveAgent(ctx context.Context, project, id string) error {
	return c.do(ctx, http.MethodDelete, "/agents/"+url.PathEscape(id)+"?"+url.Values{"project": {project}}.Encode(), nil, nil)
}

// Member is a person with a role.
type Member struct {
	ID      string    `json:"id"`
	Role    string    `json:"role"`
	Created time.Time `json:"createdAt"`
}

// Members lists the members.
func (c *Client) Members(ctx context.Context) ([]Member, error) {
	var page struct {
		Members []Member `json:"members"`
	}
	return page.Members, c.get(ctx, "/members", nil, &page)
}

// AddMember adds a person and gives their token, which is told only once.
func (c *Client) AddMember(ctx context.Context, id, role string) (token string, err error) {
	var made struct {
		Token string `json:"token"`
	}
	err = c.do(ctx, http.MethodPost, "/members", map[string]string{"id": id, "role": role}, &made)
	return made.Token, err
}

// SetRole changes a member's role.
func (c *Client) SetRole(ctx context.Context, id, role string) error {
	return c.do(ctx, http.MethodPatch, "/members/"+url.PathEscape(id), map[string]string{"role": role}, nil)
}

// RemoveMember removes a member.
func (c *Client) RemoveMember(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, "/members/"+url.PathEscape(id), nil, nil)
}

// GitCredential says for which host there is one; the token is never told.
type GitCredential struct {
	Host     string `json:"host"`
	Username string `json:"username"`
}

// GitCredentials lists the hosts.
func (c *Client) GitCredentials(ctx context.Context) ([]GitCredential, error) {
	var page struct {
		Credentials []GitCredential `json:"credentials"`
	}
	return page.Credentials, c.get(ctx, "/git-credentials", nil, &page)
}

// SetGitCredential keeps the owner's credential for a host.
func (c *Client) SetGitCredential(ctx context.Context, host, username, token string) error {
	return c.do(ctx, http.MethodPut, "/git-credentials/"+url.PathEscape(host), map[string]string{"username": username, "token": token}, nil)
}

// RemoveGitCredential forgets the credential for a host.
func (c *Client) RemoveGitCredential(ctx context.Context, host string) error {
	return c.do(ctx, http.MethodDelete, "/git-credentials/"+url.PathEscape(host), nil, nil)
}

// Daemon is a paired daemon.
type Daemon struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Owner       string     `json:"owner"`
	Fingerprint string     `json:"fingerprint"`
	Connected   bool       `json:"connected"`
	Projects    []string   `json:"projects"`
	Terminals   int        `json:"terminals"`
	LastContact *time.Time `json:"lastContact"`
	Health      []struct {
		Severity string           `json:"severity"`
		Failure  *failure.Failure `json:"failure"`
	} `json:"health"`
}

// Daemons lists the paired daemons.
func (c *Client) Daemons(ctx context.Context) ([]Daemon, error) {
	var page struct {
		Daemons []Daemon `json:"daemons"`
	}
	return page.Daemons, c.get(ctx, "/daemons", nil, &page)
}

// PairDaemon lets the daemon with this public key in, in the name of who asks, an owner, and gives the id of its key and
// the owner's. machine binds it to one machine; empty: to none. A key that is in already keeps its id.
func (c *Client) PairDaemon(ctx context.Context, name, machine string, key ed25519.PublicKey) (id, owner string, err error) {
	var made struct {
		ID    string `json:"id"`
		Owner string `json:"owner"`
	}
	err = c.do(ctx, http.MethodPost, "/daemons", map[string]string{
		"name": name, "machine": machine, "key": base64.RawURLEncoding.EncodeToString(key),
	}, &made)
	return made.ID, made.Owner, err
}

// LoginLink makes a link that signs a browser in once, as who asks, until it expires. Whoever has it may use it.
func (c *Client) LoginLink(ctx context.Context) (link string, expires time.Time, err error) {
	var made struct {
		Code    string    `json:"code"`
		Expires time.Time `json:"expiresAt"`
	}
	err = c.do(ctx, http.MethodPost, "/login-codes", nil, &made)
	return c.url + hub.LoginPath(made.Code), made.Expires, err
}

// RevokeDaemon ends a pairing and drops its connections.
func (c *Client) RevokeDaemon(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, "/daemons/"+url.PathEscape(id), nil, nil)
}

func projectPath(id, rest string) string { return "/projects/" + url.PathEscape(id) + rest }
