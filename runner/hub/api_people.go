package hub

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

func (h *Hub) getAgents(w http.ResponseWriter, _ *http.Request, _ Principal) {
	type shown struct {
		ID      string    `json:"id"`
		Project string    `json:"project"` // empty: every project
		Issuer  string    `json:"issuer"`
		Created time.Time `json:"createdAt"`
	}
	list := []shown{}
	err := h.store.View(func(tx store.Tx) error {
		agents, err := tx.Agents()
		for _, a := range agents {
			list = append(list, shown{a.ID, a.Project, a.Issuer, a.Created})
		}
		return err
	})
	answer(w, http.StatusOK, map[string]any{"agents": list}, err)
}

func (h *Hub) postAgent(w http.ResponseWriter, r *http.Request, who Principal) {
	var body struct {
		ID      string `json:"id"`
		Project string `json:"project"`
	}
	err := h.read(w, r, &body)
	var token string
	if err == nil {
		token, err = h.AddAgent(who, body.Project, body.ID)
	}
	answer(w, http.StatusCreated, map[string]string{"agent": body.ID, "project": body.Project, "token": token}, err)
}

func (h *Hub) deleteAgent(w http.ResponseWriter, r *http.Request, who Principal) {
	none(w, h.RemoveAgent(who, r.URL.Query().Get("project"), r.PathValue("id")))
}

func (h *Hub) getMembers(w http.ResponseWriter, _ *http.Request, _ Principal) {
	type shown struct {
		ID      string    `json:"id"`
		Role    string    `json:"role"`
		Created time.Time `json:"createdAt"`
	}
	list := []shown{}
	err := h.store.View(func(tx store.Tx) error {
		members, err := tx.Members()
		for _, m := range members {
			list = append(list, shown{m.ID, m.Role, m.Created})
		}
		return err
	})
	answer(w, http.StatusOK, map[string]any{"members": list}, err)
}

func (h *Hub) postMember(w http.ResponseWriter, r *http.Request, who Principal) {
	var body struct {
		ID   string      `json:"id"`
		Role policy.Role `json:"role"`
	}
	err := h.read(w, r, &body)
	var token string
	if err == nil {
		token, err = h.AddMember(who.actor(), body.ID, body.Role)
	}
	answer(w, http.StatusCreated, map[string]any{"id": body.ID, "role": body.Role, "token": token}, err)
}

func (h *Hub) patchMember(w http.ResponseWriter, r *http.Request, who Principal) {
	var body struct {
		Role policy.Role `json:"role"`
	}
	err := h.read(w, r, &body)
	if err == nil {
		err = h.SetRole(who.actor(), r.PathValue("id"), body.Role)
	}
	answer(w, http.StatusOK, map[string]any{"id": r.PathValue("id"), "role": body.Role}, err)
}

func (h *Hub) deleteMember(w http.ResponseWriter, r *http.Request, who Principal) {
	none(w, h.RemoveMember(who.actor(), r.PathValue("id")))
}

// getGitCredentials lists the hosts only: a token that was set is never shown again.
func (h *Hub) getGitCredentials(w http.ResponseWriter, _ *http.Request, _ Principal) {
	type shown struct {
		Host     string `json:"host"`
		Username string `json:"username"`
	}
	list := []shown{}
	err := h.store.View(func(tx store.Tx) error {
		rows, err := tx.GitCredentials()
		for _, c := range rows {
			list = append(list, shown{c.Host, c.Username})
		}
		return err
	})
	answer(w, http.StatusOK, map[string]any{"credentials": list}, err)
}

var hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$`)

func (h *Hub) putGitCredential(w http.ResponseWriter, r *http.Request, who Principal) {
	host := strings.ToLower(r.PathValue("host"))
	var body struct {
		Username string `json:"username"`
		Token    string `json:"token"`
	}
	err := h.read(w, r, &body)
	_, bare := netip.ParseAddrPort(host)
	if err == nil && (!hostName.MatchString(host) && bare != nil || body.Token == "" || strings.ContainsAny(body.Username+body.Token, "\r\n\x00")) {
		err = failure.New(failure.BadRequest, "git credential").Because("it has a host, perhaps with a port, and a token without line breaks")
	}
	if err == nil {
		err = h.changeCredential(who, host, "set", func(tx store.Tx, now time.Time) error {
			return tx.PutGitCredential(store.GitCredential{Host: host, Username: body.Username, Token: body.Token}, now)
		})
	}
	none(w, err)
}

func (h *Hub) deleteGitCredential(w http.ResponseWriter, r *http.Request, who Principal) {
	host := strings.ToLower(r.PathValue("host"))
	none(w, h.changeCredential(who, host, "removed", func(tx store.Tx, _ time.Time) error { return tx.RemoveGitCredential(host) }))
}

func (h *Hub) changeCredential(who Principal, host, what string, f func(store.Tx, time.Time) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	err := h.commitDurablyLocked(func(tx store.Tx) error {
		if err := f(tx, now); err != nil {
			return err
		}
		return emit(tx, now, eventCredential, who.actor(), "", "", payload{"change": what, "host": host})
	})
	return missing(err, failure.NotFound, "git credential for "+printable(host))
}

// healthItem is something about a daemon that a person should look at.
type healthItem struct {
	Severity string           `json:"severity"` // "warning" or "error"
	Failure  *failure.Failure `json:"failure"`
}

// daemonShown is a daemon as the API shows it. Revoked ones are not shown.
type daemonShown struct {
	ID          string       `json:"id"`
	Name        string       `json:"name"`
	Owner       string       `json:"owner"`
	Fingerprint string       `json:"fingerprint"`
	Connected   bool         `json:"connected"`
	Projects    []string     `json:"projects"` // those that it serves now
	Terminals   int          `json:"terminals"`
	LastContact *time.Time   `json:"lastContact"`
	Health      []healthItem `json:"health"`
}

// Fingerprint is how a public key is shown to people: the beginning of its SHA-256 in groups of four.
func Fingerprint(key []byte) string {
	sum := sha256.Sum256(key)
	text := hex.EncodeToString(sum[:16])
	var groups []string
	for i := 0; i < len(text); i += 4 {
		groups = append(groups, text[i:i+4])
	}
	return strings.Join(groups, " ")
}

func (h *Hub) getDaemons(w http.ResponseWriter, _ *http.Request, _ Principal) {
	var rows []store.Daemon
	err := h.store.View(func(tx store.Tx) (err error) {
		rows, err = tx.Daemons()
		return err
	})
	list := []daemonShown{}
	h.mu.Lock()
	for _, d := range rows {
		if !d.Revoked.IsZero() {
			continue
		}
		shown := daemonShown{ID: d.ID, Name: d.Name, Owner: d.Owner, Projects: []string{}, LastContact: present(d.LastContact), Health: []healthItem{}}
		if d.Key != nil {
			shown.Fingerprint = Fingerprint(d.Key)
		}
		for id, p := range h.projects {
			if p.runner != nil && p.runner.credential == d.ID {
				shown.Connected, shown.Projects = true, append(shown.Projects, id)
				shown.Terminals += len(p.runner.screens)
			}
		}
		if !shown.Connected && !d.LastContact.IsZero() {
			shown.Health = append(shown.Health, healthItem{"warning", failure.New(failure.RunnerGone, "daemon "+d.Name)})
		}
		list = append(list, shown)
	}
	h.mu.Unlock()
	answer(w, http.StatusOK, map[string]any{"daemons": list}, err)
}

// postTicket is call A of protocol.md 1.2.
func (h *Hub) postTicket(w http.ResponseWriter, r *http.Request) {
	now, id := time.Now(), r.PathValue("id")
	d, refused, err := h.daemon(r, now)
	subject := "project " + printable(id)
	missing := h.knows(id)
	switch {
	case err != nil:
		writeError(w, err)
	case refused != "":
		writeFailure(w, http.StatusUnauthorized, failure.New(refused, subject))
	case d.Project != "" && d.Project != id, d.Key != nil && (d.claimed == nil || *d.claimed != id), !d.role.AtLeast(policy.Developer):
		writeFailure(w, http.StatusForbidden, failure.New(failure.NotMember, subject))
	case missing != nil:
		writeError(w, missing)
	default:
		h.contact(d.ID, now)
		scheme := "ws://"
		if r.TLS != nil {
			scheme = "wss://"
		}
		text, expires := h.tickets.issue(id, d.ID, now)
		writeJSON(w, http.StatusCreated, map[string]any{
			"ticket": text, "expiresAt": expires.UTC().Format(time.RFC3339Nano), "engineWsUrl": scheme + r.Host + "/runner",
		})
	}
}

// contact notes that a daemon was heard of.
func (h *Hub) contact(id string, now time.Time) {
	err := h.store.Update(func(tx store.Tx) error { return tx.Contacted(id, now) })
	if err != nil && !errors.Is(err, store.ErrNone) {
		h.c.Log.Warn("that a daemon was heard of is not stored", "daemon", id, "error", err)
	}
}

// getRunnerProjects is call B of protocol.md 1.2, with the mode and root of section 12.
func (h *Hub) getRunnerProjects(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	d, refused, err := h.daemon(r, now)
	switch {
	case err != nil:
		writeError(w, err)
		return
	case refused != "":
		writeFailure(w, http.StatusUnauthorized, failure.New(refused, "projects"))
		return
	case d.Key == nil || d.Project != "" || d.claimed != nil:
		writeFailure(w, http.StatusForbidden, failure.New(failure.NotMember, "projects"))
		return
	}
	h.contact(d.ID, now)
	list, err := h.shownProjects()
	rows := []map[string]any{}
	for _, p := range list {
		if d.role.AtLeast(policy.Developer) {
			rows = append(rows, map[string]any{
				"projectId": p.ID, "name": p.Name, "workspaceDirName": p.DirName, "workspaceVerifiedAt": p.Verified, "mode": p.Mode, "root": p.Root,
			})
		}
	}
	answer(w, http.StatusOK, rows, err)
}
