package failure

// Names that concern the second lock: what this machine refuses, whatever a server says.
const (
	MachinePolicyInvalid   Name = "machine_policy_invalid"
	MachinePolicyRefused   Name = "machine_policy_refused"
	SteersTheJudge         Name = "steers_the_judge"
	ConfinementUnavailable Name = "confinement_unavailable"
	ConfinementOpensRunner Name = "confinement_opens_runner"
	LimitsNotEnforced      Name = "limits_not_enforced"
	LimitExceeded          Name = "limit_exceeded"
	LimitsCounted          Name = "limits_counted"
	HeldForConfirmation    Name = "held_for_confirmation"
	ConfirmationRefused    Name = "confirmation_refused"
	ConfirmationExpired    Name = "confirmation_expired"
	HeldActionNotFound     Name = "held_action_not_found"
)

var machineArea = map[Name]texts{
	MachinePolicyInvalid: {
		"`policy.json` can't be understood to the last member, and a lock is never half understood",
		`correct it there; nothing runs before`},
	MachinePolicyRefused: {
		"`policy.json` on this machine does not allow it, whoever decided",
		"ask the person at this machine; `policy.json` stands in the folder that `runner config path` names"},
	SteersTheJudge: {
		`it calls or names what decides about it: this runner's own commands, files or folders`,
		`leave them out; who is to change them does so in a shell of their own`},
	ConfinementUnavailable: {
		"`policy.json` demands that commands are confined, and this system or this version can't",
		"run the project in its container, or set `confine` to off"},
	ConfinementOpensRunner: {
		"a folder that confined commands may reach would give them this runner's own files",
		"name narrower folders in `confine` of `policy.json`"},
	LimitsCounted: {
		"the kernel can't keep a command's `memory` and `pids` where this daemon runs, so both are counted 20 times a second and a command can be over for a moment",
		"install the daemon as a service on a system with cgroups of version 2 alone, or run the project in its container"},
	LimitExceeded: {
		"the command, with all that it started, took more of this machine than `commands.limits` gives it",
		"have it do less at once, or ask the person at this machine to raise the limit: `runner config set commands.limits`"},
	LimitsNotEnforced: {
		"`commands.limits` asks for what this daemon can't hold commands to",
		"run the project in its container, whose limits hold, or leave them out"},
	HeldForConfirmation: {
		`a person has to decide about it, and none is known to have; it waits for the person at this machine`,
		"run `runner confirm` on that machine; once it is allowed, send the same action again"},
	ConfirmationRefused: {
		`the person at this machine refused it`,
		`ask them, or propose something else`},
	ConfirmationExpired: {
		"nobody at this machine confirmed it within `confirm.deadline`",
		"propose it again, and run `runner confirm` on that machine in time"},
	HeldActionNotFound: {
		`no daemon of this user holds an action with this id; it may have been decided, or its time is over`,
		"look at the list that `runner confirm` shows"},
}
