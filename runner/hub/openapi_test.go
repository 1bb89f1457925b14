package hub

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// described is openapi.json as far as the test reads it.
type described struct {
	OpenAPI    string
	Paths      map[string]map[string]operation
	Components struct {
		Schemas   map[string]json.RawMessage
		Responses map[string]content
	}
}

type operation struct {
	Parameters  []struct{ Name, In string }
	RequestBody *content
	Responses   map[string]content
}

type content struct {
	Ref     string `json:"$ref"`
	Content map[string]struct{ Schema json.RawMessage }
}

func readDescription(t *testing.T) described {
	t.Helper()
	var d described
	if err := json.Unmarshal(openAPI, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestEveryRouteIsDescribedAndEveryDescriptionIsARoute(t *testing.T) {
	d := readDescription(t)
	if !strings.HasPrefix(d.OpenAPI, "3.1.") {
		t.Error(d.OpenAPI)
	}
	h := newTestHub(t)
	described := map[string]bool{}
	for path, methods := range d.Paths {
		for method, op := range methods {
			described[strings.ToUpper(method)+" "+path] = true
			var named []string
			for _, p := range op.Parameters {
				if p.In == "path" {
					named = append(named, "{"+p.Name+"}")
				}
			}
			for part := range strings.SplitSeq(path, "/") {
				if strings.HasPrefix(part, "{") && !slices.Contains(named, part) {
					t.Errorf("%s %s does not describe %s", method, path, part)
				}
			}
		}
	}
	for _, r := range h.api() {
		name := r.method + " " + r.path
		if !described[name] {
			t.Errorf("%s is not described", name)
		}
		delete(described, name)
	}
	for name := range described {
		t.Errorf("%s is described and does not exist", name)
	}
}

// judge compares requests and answers with the description.
type judge struct {
	d    described
	h    *ruledHub
	seen map[string]bool // operations whose success was seen
	read map[string]*jsonschema.Resolved
}

// schema gives the resolved form of a schema of the description.
func (j *judge) schema(t *testing.T, raw json.RawMessage) *jsonschema.Resolved {
	t.Helper()
	if known := j.read[string(raw)]; known != nil {
		return known
	}
	defs, err := json.Marshal(j.d.Components.Schemas)
	if err != nil {
		t.Fatal(err)
	}
	text := `{"allOf":[` + string(raw) + `],"$defs":` + string(defs) + `}`
	text = strings.ReplaceAll(text, "#/components/schemas/", "#/$defs/")
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	j.read[string(raw)] = resolved
	return resolved
}

func (j *judge) check(t *testing.T, what string, raw json.RawMessage, body string) {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		t.Errorf("%s: %v: %s", what, err, body)
		return
	}
	if err := j.schema(t, raw).Validate(value); err != nil {
		t.Errorf("%s: %v\n%s", what, err, body)
	}
}

// call makes a request to a described path, whose {id} and {host} become args, and judges both sides of it.
func (j *judge) call(t *testing.T, token, method, path, body string, want int, args ...string) map[string]any {
	t.Helper()
	route, query, _ := strings.Cut(path, "?")
	op, described := j.d.Paths[route][strings.ToLower(method)]
	if !described {
		t.Fatalf("%s %s is not described", method, route)
	}
	real := route
	for _, arg := range args {
		begin, end := strings.Index(real, "{"), strings.Index(real, "}")
		real = real[:begin] + arg + real[end+1:]
	}
	if query != "" {
		real += "?" + query
	}
	name := method + " " + real
	kind, schema := "application/json", json.RawMessage(nil)
	if op.RequestBody != nil {
		for named, content := range op.RequestBody.Content { // there is one
			kind, schema = named, content.Schema
		}
	}
	if body != "" && want < 400 {
		j.check(t, "request of "+name, schema, body)
	}
	if kind != "application/json" {
		body = formOf(t, body)
	}
	r, err := http.NewRequest(method, j.h.url+real, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", kind)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != want {
		t.Fatalf("%s: %d, want %d: %s", name, resp.StatusCode, want, raw)
	}
	answer, described := op.Responses[strconv.Itoa(want)]
	if !described {
		t.Errorf("%s: the status %d is not described", name, want)
	}
	if answer.Ref != "" {
		answer = j.d.Components.Responses[answer.Ref[strings.LastIndex(answer.Ref, "/")+1:]]
	}
	if schema = answer.Content["application/json"].Schema; schema != nil {
		j.check(t, name, schema, string(raw))
	} else if len(raw) > 0 {
		t.Errorf("%s: a body that is not described: %s", name, raw)
	}
	if want < 400 {
		j.seen[method+" "+route] = true
	}
	var got map[string]any
	_ = json.Unmarshal(raw, &got) // a list stays nil
	return got
}

// formOf is a flat object as a form.
func formOf(t *testing.T, object string) string {
	t.Helper()
	var fields map[string]string
	if err := json.Unmarshal([]byte(object), &fields); err != nil {
		t.Fatal(err)
	}
	form := url.Values{}
	for name, value := range fields {
		form.Set(name, value)
	}
	return form.Encode()
}

func TestAnswersAreAsDescribed(t *testing.T) {
	j := &judge{readDescription(t), newRuledHub(t), map[string]bool{}, map[string]*jsonschema.Resolved{}}
	const person, agent = personToken, agentToken
	h, id := j.h, func(a map[string]any) string { return a["id"].(string) }
	h.c.ProjectsBase = filepath.Dir(h.root)
	j.call(t, "", "GET", "/openapi.json", "", 200)
	j.call(t, "", "GET", "/proof?nonce=0123456789abcdef", "", 200)
	j.call(t, "", "GET", "/proof?nonce=short", "", 400)
	j.call(t, agent, "GET", "/me", "", 200)
	j.call(t, "", "GET", "/me", "", 401)
	j.playLogin(t)

	j.call(t, runnerToken, "POST", "/projects/{id}/runner-ticket", "", 201, "p")
	j.call(t, runnerToken, "GET", "/runner/projects", "", 403)
	j.playProjects(t)
	j.playPeople(t)

	h.permissions(t, `{"allow":["Terminal(ls)","OpenAdrPr()"],"ask":["Terminal(ls -x)"]}`)
	a := j.call(t, agent, "POST", "/actions", `{"projectId":"p","type":"terminal","command":"ls"}`, 201)
	if named := a["outcome"].(map[string]any)["failure"].(map[string]any)["name"]; named != "no_runner" {
		t.Errorf("not executed within the proposal: %v", a)
	}
	r := h.runner(t, action.Known()...)
	a = j.call(t, agent, "POST", "/actions?wait=0", `{"projectId":"p","type":"terminal","command":"ls"}`, 201)
	j.call(t, agent, "GET", "/actions/{id}/output?offset=0", "", 200, id(a))
	j.call(t, person, "POST", "/actions/{id}/cancel", "", 200, id(a))
	r.finish(t, r.exec(t).Ref, 0)
	j.call(t, agent, "GET", "/actions/{id}?wait=60", "", 200, id(a))
	a = j.call(t, agent, "POST", "/actions", `{"projectId":"p","type":"terminal","command":"make && ls -x","cwd":"`+h.root+`"}`, 201)
	j.call(t, person, "GET", "/actions/{id}/preview", "", 200, id(a))
	j.call(t, person, "POST", "/actions/{id}/always", "", 200, id(a))
	a = j.call(t, agent, "POST", "/actions", `{"projectId":"p","type":"write_file","params":{"path":"x","content":"y"}}`, 201)
	j.call(t, person, "GET", "/actions/{id}/preview", "", 200, id(a))
	j.call(t, person, "POST", "/actions/{id}/deny", `{"reason":"no"}`, 200, id(a))
	refused := j.call(t, person, "POST", "/actions/{id}/always", "", 409, id(a))
	if refused["reason"] != "acao_ja_recusada" || refused["status"] != "denied" {
		t.Error(refused)
	}
	failuretest.Produced(t, named(refused), failure.ActionDenied)
	a = j.call(t, agent, "POST", "/actions", `{"projectId":"p","type":"git_merge","params":{"pullRequestId":7,"targetBranch":"main","taskId":"t"}}`, 201)
	refused = j.call(t, agent, "POST", "/actions", `{"projectId":"p","type":"git_merge","params":{"pullRequestId":"7"}}`, 409)
	if refused["code"] != "merge_ja_proposto" {
		t.Error(refused)
	}
	refused = j.call(t, person, "POST", "/actions/{id}/always", "", 400, id(a))
	if refused["reason"] != "teto_do_sempre_permitir" || refused["actionType"] != "git_merge" {
		t.Error(refused)
	}
	j.call(t, person, "POST", "/actions/{id}/approve", "", 200, id(a))
	j.call(t, person, "POST", "/actions/{id}/approve", "", 409, id(a))
	j.call(t, agent, "POST", "/actions/{id}/outcome", `{"ok":true,"result":{"state":"merged"}}`, 200, id(a))
	refused = j.call(t, agent, "POST", "/actions", `{"projectId":"p","type":"git_merge","params":{"pullRequestId":7}}`, 409)
	if refused["code"] != "pr_ja_mergeado" {
		t.Error(refused)
	}
	a = j.call(t, agent, "POST", "/actions", `{"projectId":"p","type":"container_start","container":{"imagem":"alpine:3"}}`, 201)
	j.call(t, person, "POST", "/actions/{id}/approve", "", 200, id(a))
	for event := ""; event != action.EventContainerStart; { // the command that was always allowed comes first
		event = (<-r.ch.Receive()).Event
	}
	j.call(t, person, "GET", "/containers", "", 200)
	j.call(t, person, "GET", "/actions?status=denied&limit=1", "", 200)
	j.call(t, person, "GET", "/actions?limit=x", "", 400)
	j.call(t, person, "GET", "/actions?decided=person&limit=1", "", 200)
	j.call(t, person, "GET", "/actions?decided=somebody", "", 400)
	j.call(t, agent, "GET", "/actions", "", 200)
	j.call(t, person, "GET", "/events?since=0", "", 200)
	counts := j.call(t, person, "GET", "/events/decisions?project=p", "", 200)
	if counts["byPeople"] != 3.0 || counts["byPolicy"] != 2.0 {
		t.Error(counts)
	}
	j.call(t, person, "GET", "/projects/{id}/terminal", "", 400, "p")
	j.call(t, agent, "GET", "/projects/{id}/terminal", "", 403, "p")
	j.call(t, agent, "GET", "/actions/{id}/wait", "", 400, id(a))
	j.call(t, agent, "GET", "/actions/{id}/wait", "", 404, "nobody")
	j.call(t, person, "GET", "/daemons", "", 200)
	j.call(t, person, "POST", "/daemons", `{"name":"laptop","key":"7rKQLZBgBYUW8W62SNPiNnhjKBn0wefax7JyU9mCeJc"}`, 201)
	j.call(t, person, "POST", "/daemons", `{"name":"laptop","key":"short"}`, 400)
	j.call(t, person, "POST", "/login-codes", "", 201)
	j.call(t, person, "POST", "/logout", "", 204)
	j.call(t, person, "DELETE", "/daemons/{id}", "", 204, "token")
	<-r.conn.Done()
	for _, r := range j.h.api() {
		name := r.method + " " + r.path
		if !j.seen[name] && name != "GET /runner/websocket" && name != "GET /events/stream" && name != "GET /projects/{id}/terminal" && name != "GET /actions/{id}/wait" && name != "GET /runner/projects" {
			t.Errorf("%s was not played", name)
		}
	}
}

func (j *judge) playProjects(t *testing.T) {
	const person = personToken
	j.call(t, person, "GET", "/projects", "", 200)
	p := j.call(t, person, "POST", "/projects", `{"root":"`+filepath.Join(filepath.Dir(j.h.root), "made")+`"}`, 201)
	made := p["id"].(string)
	j.call(t, person, "POST", "/projects", `{"root":"`+j.h.root+`"}`, 409)
	j.call(t, person, "POST", "/projects", `{"root":"/etc/x"}`, 422)
	j.call(t, person, "POST", "/projects", `{"mode":"balloon"}`, 400)
	j.call(t, person, "PATCH", "/projects/{id}", `{"name":"Made","also_inside":["/tmp/scratch"]}`, 200, made)
	j.call(t, person, "GET", "/projects/{id}", "", 200, made)
	j.call(t, person, "POST", "/projects/{id}/activate", "", 200, made)
	j.call(t, person, "POST", "/projects/{id}/accept-handoff", `{"agent":"infra"}`, 200, made)
	j.call(t, person, "PUT", "/projects/{id}/autonomy", `{"agent":"dev-api","actionType":"*","mode":"auto_approve"}`, 200, made)
	j.call(t, person, "PUT", "/projects/{id}/autonomy", `{"rows":[{"agent":"*","actionType":"spend","mode":"deny"}]}`, 200, made)
	j.call(t, person, "PUT", "/projects/{id}/autonomy", `{"agent":"x","actionType":"teleport","mode":"deny"}`, 400, made)
	j.call(t, person, "GET", "/projects/{id}/autonomy", "", 200, made)
	j.call(t, person, "DELETE", "/projects/{id}", "", 204, made)
	j.call(t, person, "GET", "/projects/{id}", "", 404, made)
}

func (j *judge) playLogin(t *testing.T) {
	const jwk = `"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"7rKQLZBgBYUW8W62SNPiNnhjKBn0wefax7JyU9mCeJc\"}"`
	const grant = `"client_id":"runner","grant_type":"urn:ietf:params:oauth:grant-type:device_code"`
	j.call(t, "", "POST", "/oauth/device_authorization", `{"client_id":"runner","name":"laptop"}`, 400)
	g := j.call(t, "", "POST", "/oauth/device_authorization", `{"client_id":"runner","name":"laptop","publicKeyJwk":`+jwk+`}`, 200)
	question := `{` + grant + `,"device_code":"` + g["device_code"].(string) + `"}`
	if refused := j.call(t, "", "POST", "/oauth/token", question, 400); refused["error"] != "authorization_pending" {
		t.Error(refused)
	}
	if _, err := j.h.decideGrant(Principal{Kind: kindPerson, ID: "ana"}, g["user_code"].(string), true, time.Now()); err != nil {
		t.Fatal(err)
	}
	admitted := j.call(t, "", "POST", "/oauth/token", question, 200)
	j.call(t, personToken, "DELETE", "/daemons/{id}", "", 204, admitted["access_token"].(string))
}

func (j *judge) playPeople(t *testing.T) {
	const person = personToken
	a := j.call(t, person, "POST", "/agents", `{"id":"dev-api","project":"p"}`, 201)
	j.call(t, a["token"].(string), "GET", "/me", "", 200)
	j.call(t, person, "GET", "/agents", "", 200)
	j.call(t, person, "POST", "/agents", `{"id":"../x"}`, 400)
	j.call(t, person, "DELETE", "/agents/{id}?project=p", "", 204, "dev-api")
	j.call(t, a["token"].(string), "GET", "/me", "", 401)
	m := j.call(t, person, "POST", "/members", `{"id":"bia","role":"viewer"}`, 201)
	j.call(t, person, "GET", "/members", "", 200)
	j.call(t, person, "PATCH", "/members/{id}", `{"role":"developer"}`, 200, "bia")
	j.call(t, person, "DELETE", "/members/{id}", "", 409, "ana")
	j.call(t, person, "DELETE", "/members/{id}", "", 204, "bia")
	j.call(t, m["token"].(string), "GET", "/me", "", 401)
	j.call(t, person, "PUT", "/git-credentials/{host}", `{"username":"x","token":"ghp_secret"}`, 204, "git.example")
	if got, err := json.Marshal(j.call(t, person, "GET", "/git-credentials", "", 200)); err != nil || strings.Contains(string(got), "ghp_secret") {
		t.Errorf("%s %v", got, err)
	}
	j.call(t, person, "DELETE", "/git-credentials/{host}", "", 204, "git.example")
	j.call(t, person, "DELETE", "/git-credentials/{host}", "", 404, "git.example")
}
