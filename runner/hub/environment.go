package hub

import (
	"encoding/json"
	"fmt"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// environmentOf says where a command of a project runs now: InContainer while its container is registered as running,
// else empty.
func environmentOf(tx store.Tx, row store.Action) (string, error) {
	if row.Type != typeTerminal {
		return "", nil
	}
	c, err := containerOf(tx, row.Project)
	if err != nil || c.State != containerRunning {
		return "", err
	}
	return action.InContainer, nil
}

// bindEnvironment binds a command that a person approves to the container, if that is where it runs at this moment. One
// that was proposed, and so shown, for the inside stays bound to it even where the container is gone.
func bindEnvironment(tx store.Tx, row store.Action) (store.Action, error) {
	now, err := environmentOf(tx, row)
	if err != nil || now == "" {
		return row, err
	}
	var k kept
	if err := json.Unmarshal(row.Proposal, &k); err != nil {
		return row, fmt.Errorf("reading the proposal of action %s: %w", row.ID, err)
	}
	if k.Environment == now {
		return row, nil
	}
	k.Environment = now
	if row.Proposal, err = json.Marshal(k); err != nil {
		return row, fmt.Errorf("keeping the proposal: %w", err)
	}
	return row, tx.SetProposal(row.ID, row.Proposal)
}

// boundEnvironment is where alone an action may run that a person approved; empty: wherever its project's commands do.
func boundEnvironment(row store.Action) string {
	var k kept
	if row.DecidedBy == nil || json.Unmarshal(row.Proposal, &k) != nil {
		return ""
	}
	return k.Environment
}

// outside is why an action must not be sent: it was allowed for the inside of a container that is no longer registered as
// running. Its daemon looks again, since a container may go without the hub's knowledge; one that does not know who
// decided can't.
func (h *Hub) outside(row store.Action) (*failure.Failure, error) {
	floor := row.Type == typeTerminal && row.DecidedBy == nil && row.Rule == string(policy.ContainerFloor)
	if !floor && boundEnvironment(row) != action.InContainer {
		return nil, nil
	}
	var now string
	err := h.store.View(func(tx store.Tx) (err error) {
		now, err = environmentOf(tx, row)
		return err
	})
	if err != nil || now == action.InContainer {
		return nil, err
	}
	return failure.New(failure.ContainerGone, "project "+row.Project).
		Because("the command was allowed for the inside of the project's container, which does not run any more; nothing was run").
		Then("start the container again, or propose the command anew: it asks for the place where it then runs"), nil
}
