package failure

// Names that concern the doors for agents and people: API, MCP, command line.
const (
	HubNotRunning  Name = "hub_not_running"
	HubUnreachable Name = "hub_unreachable"
	ProjectUnclear Name = "project_unclear"
	WaitTimedOut   Name = "wait_timed_out"
)

var doorArea = map[Name]texts{
	HubNotRunning: {
		`there is no hub of this user on this machine`,
		"start it with `runner hub`, or install hub and daemon with `runner up`"},
	HubUnreachable: {
		`the hub does not answer`,
		"see whether `runner hub` runs, and on which address; an agent's own hub is named by RUNNER_HUB_URL"},
	ProjectUnclear: {
		`it is not clear which project is meant`,
		"name it by `--project`; `runner project list` shows them, `runner project add DIR` makes one"},
	WaitTimedOut: {
		`the action has no outcome yet`,
		"it stays as it is: decide with `runner approve` or `runner deny`; `runner pending --all` shows what became of it"},
}
