package hub

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// postAction takes a proposal. What was approved at once and is executed by a daemon is answered with its outcome
// (policy.md section 15), or as it is when the longest wait is over.
func (h *Hub) postAction(w http.ResponseWriter, r *http.Request, who Principal) {
	if who.Kind == kindAgent && h.c.Rate > 0 {
		if wait := h.limits.take(who.Project+"/"+who.ID, h.c.Rate, time.Now()); wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
			writeError(w, failure.New(failure.RateLimited, "agent "+who.ID).
				Because("it proposes more than %d actions a second", h.c.Rate).Then("propose again after the time in Retry-After"))
			return
		}
	}
	var p Proposal
	err := h.read(w, r, &p)
	if err == nil {
		_, err = waitOf(r, 0) // what is refused creates nothing
	}
	if err != nil {
		writeError(w, err)
		return
	}
	a, err := h.ProposeAs(who, p)
	if err == nil {
		usual := time.Duration(0)
		if a.Status == AutoApproved && kindOf(a.Type) != byProposer {
			usual = maxWait
		}
		var later Action
		if later, err = h.waited(r, a.ID, usual); later.ID != "" {
			a = later
		}
	}
	answer(w, http.StatusCreated, a, err)
}

// mine hides from an agent what other agents proposed: it does not exist.
func (h *Hub) mine(who Principal, id string) error {
	if who.Kind != kindAgent {
		return nil
	}
	row, err := h.row(id)
	if err != nil {
		return err
	}
	if row.ProposerKind != kindAgent || row.Proposer != who.ID || who.Project != "" && row.Project != who.Project {
		return noSuchAction(id)
	}
	return nil
}

// usualPage is how many rows a list has where the request does not say.
const usualPage = 100

func (h *Hub) getActions(w http.ResponseWriter, r *http.Request, who Principal) {
	q := r.URL.Query()
	before, err := number(r, "before", 0, math.MaxInt64)
	limit, err2 := number(r, "limit", usualPage, maxList)
	if err == nil {
		err = err2
	}
	if decided := q.Get("decided"); err == nil && decided != "" && decided != store.DecidedByPerson && decided != store.DecidedByRules {
		err = failure.New(failure.BadRequest, "decided").Because("it is %q or %q", store.DecidedByPerson, store.DecidedByRules)
	}
	if err != nil {
		writeError(w, err)
		return
	}
	f := store.Filter{
		Status: q.Get("status"), Project: q.Get("project"), Type: q.Get("type"), Agent: q.Get("agent"), Decided: q.Get("decided"),
		Before: before, Limit: int(limit) + 1,
	}
	if who.Kind == kindAgent {
		f.Agent = who.ID
		if who.Project != "" {
			f.Project = who.Project
		}
	}
	actions, err := h.list(f)
	body := map[string]any{}
	if len(actions) > int(limit) {
		actions = actions[:limit]
		if limit > 0 {
			body["next"] = actions[limit-1].Cursor
		}
	}
	for i := range actions {
		actions[i] = actions[i].brief()
	}
	body["actions"] = actions
	answer(w, http.StatusOK, body, err)
}

// briefContent is how many bytes of parameters an action in a list may have.
const briefContent = 4 << 10

// brief is the action for a list: without the output, and without parameters that are large.
func (a Action) brief() Action {
	if a.Outcome != nil {
		o := *a.Outcome
		o.Output, o.TerminalResult = "", nil
		if len(o.Result) > briefContent {
			o.Result = nil
		}
		a.Outcome = &o
	}
	if len(a.Params) > briefContent {
		known := Proposal{Params: a.Params}.known()
		a.Params, _ = json.Marshal(map[string]any{"path": known.Path, "shortened": true}) // strings and a bool always marshal
	}
	return a
}

// getAction answers at once, or with ?wait=SECONDS once the action has an outcome or the time is over.
func (h *Hub) getAction(w http.ResponseWriter, r *http.Request, who Principal) {
	id := r.PathValue("id")
	if err := h.mine(who, id); err != nil {
		writeError(w, err)
		return
	}
	a, err := h.waited(r, id, 0)
	answer(w, http.StatusOK, a, err)
}

func (h *Hub) getOutput(w http.ResponseWriter, r *http.Request, who Principal) {
	id := r.PathValue("id")
	offset, err := number(r, "offset", 0, math.MaxInt64)
	if err == nil {
		err = h.mine(who, id)
	}
	if err != nil {
		writeError(w, err)
		return
	}
	o, err := h.OutputOf(id, offset)
	answer(w, http.StatusOK, o, err)
}

func (h *Hub) postOutcome(w http.ResponseWriter, r *http.Request, who Principal) {
	id := r.PathValue("id")
	var body struct {
		OK      bool             `json:"ok"`
		Result  json.RawMessage  `json:"result"`
		Failure *failure.Failure `json:"failure"`
	}
	err := h.mine(who, id)
	if err == nil {
		err = h.read(w, r, &body)
	}
	if err != nil {
		writeError(w, err)
		return
	}
	status := Failed
	if body.OK {
		status = Executed
	}
	a, err := h.ReportOutcome(who, id, status, &Outcome{Result: body.Result, Failure: body.Failure})
	answer(w, http.StatusOK, a, err)
}

// decided is the answer to an approval.
type decided struct {
	Outcome policy.Outcome `json:"desfecho"`
	Action  Action         `json:"action"`
}

func (h *Hub) postApprove(w http.ResponseWriter, r *http.Request, who Principal) {
	a, err := h.Approve(r.PathValue("id"), who.ID)
	answer(w, http.StatusOK, decided{policy.OutcomeApproved, a}, err)
}

func (h *Hub) postAlways(w http.ResponseWriter, r *http.Request, who Principal) {
	a, err := h.AlwaysAllow(r.PathValue("id"), who.ID)
	answer(w, http.StatusOK, a, err)
}

func (h *Hub) postDeny(w http.ResponseWriter, r *http.Request, who Principal) {
	var body struct {
		Reason string `json:"reason"`
	}
	if err := h.read(w, r, &body); err != nil {
		writeError(w, err)
		return
	}
	a, err := h.Deny(r.PathValue("id"), who.ID, body.Reason)
	answer(w, http.StatusOK, a, err)
}

func (h *Hub) postCancel(w http.ResponseWriter, r *http.Request, who Principal) {
	id := r.PathValue("id")
	_, _, err := h.decider(id, who.ID)
	if err == nil {
		err = h.CancelBy(who.actor(), id, "cancelled by "+who.ID)
	}
	if err != nil {
		writeError(w, err)
		return
	}
	a, err := h.Get(id)
	answer(w, http.StatusOK, a, err)
}
