package hub

import (
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// Autonomy is one row of a project's autonomy (policy.md section 7). Agent and ActionType may be "*".
type Autonomy struct {
	Agent      string         `json:"agent"`
	ActionType string         `json:"actionType"`
	Mode       policy.Verdict `json:"mode"`
}

func (a Autonomy) row() store.Autonomy {
	return store.Autonomy{Agent: a.Agent, Type: a.ActionType, Mode: string(a.Mode)}
}

// Autonomy lists the rows of a project. It fails with ProjectNotFound.
func (h *Hub) Autonomy(id string) ([]Autonomy, error) {
	if err := h.knows(id); err != nil {
		return nil, err
	}
	rows := []Autonomy{}
	err := h.store.View(func(tx store.Tx) error {
		stored, err := tx.Autonomy(id)
		for _, r := range stored {
			rows = append(rows, Autonomy{r.Agent, r.Type, policy.Verdict(r.Mode)})
		}
		return err
	})
	return rows, err
}

// SetAutonomy sets rows of a project; an empty mode removes one. It fails with ProjectNotFound or BadRequest.
func (h *Hub) SetAutonomy(by Actor, id string, rows []Autonomy) error {
	for _, r := range rows {
		known := r.ActionType == everyType || minimumRole(r.ActionType) != ""
		mode := r.Mode == "" || r.Mode == policy.AutoApprove || r.Mode == policy.RequireApproval || r.Mode == policy.Deny
		if !known || !mode || r.Agent != everyAgent && !agentName.MatchString(r.Agent) {
			return failure.New(failure.BadRequest, "autonomy").
				Because("a row has an agent or *, one of the 20 types or *, and the mode auto_approve, require_approval, deny or none")
		}
	}
	if err := h.knows(id); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	return h.commitDurablyLocked(func(tx store.Tx) error {
		for _, r := range rows {
			if err := tx.PutAutonomy(id, r.row()); err != nil {
				return err
			}
			if err := emit(tx, now, eventAutonomy, by, id, "", payload{"agentId": r.Agent, "actionType": r.ActionType, "mode": r.Mode}); err != nil {
				return err
			}
		}
		return nil
	})
}

// AcceptHandoff lets the infrastructure agent start containers (policy.md section 10).
func (h *Hub) AcceptHandoff(by Actor, id, agent string) error {
	return h.SetAutonomy(by, id, []Autonomy{{agent, typeContainerStart, policy.AutoApprove}})
}
