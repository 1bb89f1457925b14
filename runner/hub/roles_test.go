package hub

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/policy"
)

// ranked are the roles, weakest first.
var ranked = []policy.Role{policy.Viewer, policy.Developer, policy.Maintainer, policy.Owner}

// byRole gives the token of a member of each role, and of an agent that each of them issued a token to.
func (h *testHub) byRole(t *testing.T) (persons, agents map[policy.Role]string) {
	t.Helper()
	persons, agents = map[policy.Role]string{}, map[policy.Role]string{}
	for _, role := range ranked {
		token, err := h.AddMember(Actor{kindPerson, "ana"}, "a-"+string(role), role)
		if err != nil {
			t.Fatal(err)
		}
		persons[role] = token
		by := Principal{Kind: kindPerson, ID: "a-" + string(role), Role: role}
		if agents[role], err = h.AddAgent(by, "", "of-"+string(role)); err != nil {
			t.Fatal(err)
		}
	}
	return persons, agents
}

// TestEveryRouteIsForWhomItsDescriptionSays asks on each route as nobody, as an agent and as a person of each role, and
// compares who is let through with what openapi.json says.
func TestEveryRouteIsForWhomItsDescriptionSays(t *testing.T) {
	var described struct {
		Paths map[string]map[string]struct {
			Who string `json:"x-who"`
		}
	}
	if err := json.Unmarshal(openAPI, &described); err != nil {
		t.Fatal(err)
	}
	h := newRuledHub(t)
	persons, _ := h.byRole(t)
	least := regexp.MustCompile(`^person: (viewer|developer|maintainer|owner)\b`)
	for _, r := range h.api() {
		name := r.method + " " + r.path
		who := described.Paths[r.path][strings.ToLower(r.method)].Who
		mine, err := h.Propose(Proposal{ProjectID: "p", Type: "terminal", Command: "make"})
		if err != nil {
			t.Fatal(err)
		}
		id := mine.ID
		switch {
		case strings.HasPrefix(r.path, "/agents/"):
			id = localAgent
		case strings.HasPrefix(r.path, "/daemons/"):
			id = "token"
		}
		path := strings.NewReplacer("{id}", id, "{host}", "git.example").Replace(r.path)
		ask := func(token string) (int, map[string]any) {
			// An id that is none has a stream end with a refusal of its own.
			return h.do(t, r.method, path, token, "{}", func(q *http.Request) { q.Header.Set("Last-Event-ID", "none") })
		}
		open := map[string]bool{}
		switch m := least.FindStringSubmatch(who); {
		case m != nil:
			for _, role := range ranked {
				open[string(role)] = role.AtLeast(policy.Role(m[1]))
			}
		case who == "agent, person":
			open = map[string]bool{"viewer": true, "developer": true, "maintainer": true, "owner": true, kindAgent: true}
		case who == "who proposed it":
			open[kindAgent] = true
		case who == "daemon", who == "nobody": // tested with their handlers
			continue
		default:
			t.Errorf("%s is for %q", name, who)
		}
		if status, answer := ask(""); status != http.StatusUnauthorized {
			t.Errorf("%s as nobody: %d %v", name, status, answer)
		}
		tokens := map[string]string{kindAgent: agentToken}
		for _, role := range ranked {
			tokens[string(role)] = persons[role]
		}
		for _, one := range []string{kindAgent, "viewer", "developer", "maintainer", "owner"} {
			status, answer := ask(tokens[one])
			if let := status != http.StatusUnauthorized && status != http.StatusForbidden; let != open[one] {
				t.Errorf("%s, which is for %q, as %s: %d %v", name, who, one, status, answer)
			}
			if status == http.StatusForbidden {
				failuretest.Produced(t, named(answer), failure.Forbidden)
			}
		}
	}
}

// TestMinimumRoleOfEachTypeIsLookedAtBeforeAnyFile proposes and decides each type in each role, while the project's rules
// can't be read: who may not is told so, and who may, that the file is bad.
func TestMinimumRoleOfEachTypeIsLookedAtBeforeAnyFile(t *testing.T) {
	h := newRuledHub(t)
	persons, agents := h.byRole(t)
	types := policy.Types()
	if len(types) != 20 {
		t.Errorf("%d types", len(types))
	}
	for _, kind := range types {
		p := paramsOf(kind.Type)
		p.ProjectID = "p"
		body, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		h.permissions(t, `{}`)
		a, err := h.Propose(p)
		if err != nil || a.Status != Pending {
			t.Fatalf("%s: %+v, %v", kind.Type, a, err)
		}
		h.permissions(t, `{"deny":`)
		for _, role := range ranked {
			may := role.AtLeast(kind.MinimumRole)
			for who, token := range map[string]string{kindPerson: persons[role], kindAgent: agents[role]} {
				status, answer := h.do(t, "POST", "/actions", token, string(body))
				denied := status == http.StatusCreated && answer["status"] == "denied" && answer["rule"] == string(policy.RoleMinimum)
				if bad := named(answer) == failure.PermissionsFileInvalid; denied == may || bad != may {
					t.Errorf("%s proposed by a %s of role %s: %d %v", kind.Type, who, role, status, answer)
				}
			}
			always := fmt.Sprintf("/actions/%s/always", a.ID)
			status, answer := h.do(t, "POST", always, persons[role], "")
			if may = may && role.AtLeast(policy.Maintainer); (status == http.StatusForbidden) == may {
				t.Errorf("%s always allowed by a %s: %d %v", kind.Type, role, status, answer)
			}
		}
		for _, role := range ranked {
			status, answer := h.do(t, "POST", "/actions/"+a.ID+"/deny", persons[role], "{}")
			if may := role.AtLeast(kind.MinimumRole); (status == http.StatusForbidden) == may {
				t.Errorf("%s denied by a %s: %d %v", kind.Type, role, status, answer)
			}
		}
		h.permissions(t, `{}`)
		if a, err = h.Propose(p); err != nil {
			t.Fatal(err)
		}
		for _, role := range ranked {
			status, answer := h.do(t, "POST", "/actions/"+a.ID+"/approve", persons[role], "")
			if may := role.AtLeast(kind.MinimumRole); (status == http.StatusForbidden) == may {
				t.Errorf("%s approved by a %s: %d %v", kind.Type, role, status, answer)
			}
		}
	}
}
