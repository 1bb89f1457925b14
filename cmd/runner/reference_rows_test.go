package main

// The rows of the README's reference that no table of the code holds. Tests hold them against the code.

// variables are those that we read beside the settings' own.
var variables = []row{
	{"RUNNER_…", "a setting: its name in upper case, with underscores for dots"},
	{"RUNNER_HUB_URL", "the hub that `propose`, `pending`, `mcp` and their like ask"},
	{"RUNNER_AGENT_TOKEN", "the token that they ask with"},
	{"RUNNER_COMMAND_ID", "set for each command and terminal: by it the daemon knows what belongs to which"},
	{"BRABO_API_URL", "the server's API, as the existing client has it"},
	{"BRABO_ACCOUNT_TOKEN", "a project token; it reaches no command"},
	{"BRABO_GIT_USERNAME", "with an action: the name for a git host"},
	{"BRABO_GIT_TOKEN", "with an action: the token for it, answered to git for that host alone"},
	{"BRABO_GIT_HOST", "with an action of the hub: the host that they are for"},
}

// files are ours, by where they lie on Linux.
var files = []row{
	{"~/.config/runner/config.json", "settings"},
	{"~/.config/runner/policy.json", "what this machine refuses, whatever a server says"},
	{"/etc/runner/policy.json", "the same for all of this machine's users; it can only narrow theirs"},
	{"~/.config/runner/pairing.json", "who this machine is to its hub: the key, unless the system's keychain has it"},
	{"~/.config/runner/pairing.last-good.json", "the same, as it was read back last"},
	{"~/.config/runner/projects.json", "the folders that this machine has confirmed for the hub's projects"},
	{"~/.local/state/runner/journal.db", "what was received, started, finished, delivered"},
	{"~/.local/state/runner/journal.lock", "held by the daemon that owns the journal"},
	{"~/.local/state/runner/log/runner.log", "the log, as JSON lines; rotated ones lie beside it"},
	{"~/.local/state/runner/journal.reserve", "space that is given up for the last words on a full disk"},
	{"~/.local/state/runner/hub/log/runner.log", "the hub's log"},
	{"~/.local/state/runner/output/", "full outputs of commands that did not fit into a result"},
	{"~/.local/state/runner/projects/", "the same again for each daemon that serves one project alone"},
	{"~/.local/share/runner/hub/hub.db", "what the hub knows: people, agents, projects, actions, events"},
	{"~/.local/share/runner/hub/address", "where the hub on this machine listens"},
	{"~/.local/share/runner/hub/owner-token", "the token of this machine's owner"},
	{"PROJECT/permissions.json", "the project's rules"},
	{"PROJECT/modules.json", "what a project's container needs at least"},
}

// signals are what a daemon and a hub take.
var signals = []row{
	{"SIGTERM, SIGINT", "stop: no new actions, running ones get `drain.grace`, results are delivered, exit 0"},
	{"the second one", "end at once"},
	{"SIGHUP", "the terminal was closed: the same as the first one, however often it comes; where it was ignored at the start, as by `nohup`, it stays so"},
}

// exitCodes are those of every command, but for `service`, whose table stands with it.
var exitCodes = []row{
	{"0", "it worked; of a daemon: an orderly end"},
	{"1", "a failure, or a refusal that needs a person"},
	{"2", "wrong use of the command line, or a configuration that is not understood"},
	{"3", "`status`: no daemon runs; `whoami`: the server can't be asked; `service status`: installed and stopped"},
	{"4", "`whoami`: not paired, or the key was revoked, has expired or is unknown; `service status`: not installed"},
	{"5", "`status`, `doctor`: something is not well; `whoami`: this machine's clock is wrong; `service`: the manager did not answer, or the unit was not activated"},
	{"6", "`propose`: the action was denied"},
	{"7", "another daemon serves the same here, and has its journal"},
	{"124", "`propose --wait`: the patience was over first"},
}

// extensions are what we add to the contract, each used only with a server that grants it.
var extensions = []row{
	{"ack", "the server answers each result once it has stored it, and after a join sends again what it has no result for"},
	{"deadline", "an action brings its own deadline, 1 s to 24 h from its receipt"},
	{"decision", "an action says whether a person or a rule approved it, who or which, when, and whether for the inside of a container alone"},
	{"cancel", "an action that was approved can be ended"},
	{"output", "a command's output is shown while it runs; the result stays the authority"},
	{"progress", "pulls, clones and mirrors say how far they are"},
	{"pty_closed", "a shell that ended by itself is announced, with its exit code"},
	{"action", "typed actions without a shell: `write_file`, `git_commit`, `git_branch_create`, `git_push`"},
}
