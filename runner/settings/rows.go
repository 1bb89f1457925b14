package settings

import (
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// rows is the table. Its order, names, defaults and ranges are those of settings.md; src decides the few defaults and
// ranges that depend on the user and on what started the daemon.
func rows(src Sources) []row {
	home := src.Folders().Home
	drain := "0-60s"
	if src.Systemd || src.env().get("NOTIFY_SOCKET") != "" { // under systemd the stop timeout can be extended
		drain = "0-1h"
	}
	return []row{
		setting("api_url", "none", "http(s) URL", serverURLs(), func(s *Settings) *string { return &s.APIURL },
			"the server that tickets come from").withStart(""),
		setting("base", "none", "absolute folder", texts("an absolute folder", absolute), func(s *Settings) *string { return &s.Base },
			"the folder in which project folders are made").withStart(""),
		setting("roots", "home folder", "list of absolute folders", lists("a JSON list of absolute folders", absolute),
			func(s *Settings) *[]string { return &s.Roots },
			"project folders and mirrors must lie below one of these").withStart(showJSON([]string{home})),
		setting("allow_home_root", "false", "", truths(), func(s *Settings) *bool { return &s.AllowHomeRoot },
			"accepts the home folder itself as a project folder"),
		setting("pairing.keychain", "false", "", truths(), func(s *Settings) *bool { return &s.Pairing.Keychain },
			"keeps the key in the system's keychain"),
		setting("proxy", "environment", "", proxies(), func(s *Settings) *string { return &s.Proxy },
			"the proxy for HTTP and WebSocket alike").withStart(""),
		setting("ca_file", "system", "", texts("the absolute path of a PEM file", absolute), func(s *Settings) *string { return &s.CAFile },
			"certificates to trust besides the system's").withStart(""),

		setting("connect.backoff_max", "60s", "5s-10m", durations(), func(s *Settings) *time.Duration { return &s.Connect.BackoffMax },
			"the longest wait between two attempts to connect"),
		setting("connect.stable_after", "60s", "5s-10m", durations(), func(s *Settings) *time.Duration { return &s.Connect.StableAfter },
			"a connection that lived this long makes the waits short again"),
		setting("connect.heartbeat", "30s", "5s-50s", durations(), func(s *Settings) *time.Duration { return &s.Connect.Heartbeat },
			"the time between two heartbeats"),
		setting("connect.attempts", "120 a minute", "1-300", counts(), func(s *Settings) *int { return &s.Connect.Attempts },
			"attempts to connect in a minute, all projects of one daemon together").withStart("120"),
		setting("connect.read_limit", "8MiB", "64KiB-64MiB", sizes(), func(s *Settings) *int64 { return &s.Connect.ReadLimit },
			"the largest message taken from a server"),

		setting("commands.shell", "bash from a fixed list of system paths", "words, split as a shell does", shellWords(),
			func(s *Settings) *[]string { return &s.Commands.Shell }, "the shell for approved text").withStart(""),
		setting("commands.deadline", "14s", "1s-24h", durations(), func(s *Settings) *time.Duration { return &s.Commands.Deadline },
			"how long a command may take where the server does not say"),
		setting("commands.git_deadline", "55s", "1s-24h", durations(), func(s *Settings) *time.Duration { return &s.Commands.GitDeadline },
			"the same for git"),
		setting("commands.grace", "2s", "100ms-60s", durations(), func(s *Settings) *time.Duration { return &s.Commands.Grace },
			"the time between TERM and KILL, at most a quarter of the deadline"),
		setting("commands.parallel", "2 × CPUs, at least 8", "1-256", counts(), func(s *Settings) *int { return &s.Commands.Parallel },
			"commands that run at once; the rest wait in order").withStart(strconv.Itoa(min(max(8, 2*runtime.NumCPU()), 256))),
		setting("commands.queue", "1,000", "1-100,000", counts(), func(s *Settings) *int { return &s.Commands.Queue },
			"actions that may wait in one project"),
		setting("commands.umask", "the user's", "octal; not on Windows", umasks(), func(s *Settings) **uint32 { return &s.Commands.Umask },
			"the umask of commands").withStart(""),
		setting("commands.environment", "none", "object", variables(), func(s *Settings) *map[string]string { return &s.Commands.Environment },
			"variables added to every command").withStart(""),
		setting("commands.bare_repositories", "false", "", truths(), func(s *Settings) *bool { return &s.Commands.BareRepositories },
			"lets git in a command use a folder that merely looks like a bare repository"),
		setting("commands.limits", "none", "{cpu, memory, pids, open_files, file_size}", limits(), func(s *Settings) *Limits { return &s.Commands.Limits },
			"what one command may take of the machine; `pids` are processes, and their threads too where the kernel counts").withStart(""),

		setting("output.result", "32768 bytes", "1KiB-1MiB", sizes(), func(s *Settings) *int64 { return &s.Output.Result },
			"output in a result, the mark of truncation included").withStart("32768"),
		setting("output.spool", "16MiB", "0-1GiB", sizes(), func(s *Settings) *int64 { return &s.Output.Spool },
			"output of one action that is kept on this machine"),
		setting("output.spool_total", "1GiB", "0-1TiB", sizes(), func(s *Settings) *int64 { return &s.Output.SpoolTotal },
			"output of all actions that is kept; the oldest goes first"),

		setting("container.engine", "found", "URL of a socket", sockets(), func(s *Settings) *string { return &s.Container.Engine },
			"the container engine").withStart(""),
		setting("container.user", "owner of the project folder; the image's where that is root, the engine is rootless or runs in a VM",
			"uid:gid or image", texts("`uid:gid` or `image`", containerUser), func(s *Settings) *string { return &s.Container.User },
			"who commands run as in a container when the server does not say").withStart(""),
		setting("container.drift", "report", "report, refuse", choices("report, refuse"), func(s *Settings) *string { return &s.Container.Drift },
			"what happens when a running container differs from what was asked for"),
		setting("container.pull", "deadline less 5 s; without one the whole start answers within 55 s", "", durations(),
			func(s *Settings) *time.Duration { return &s.Container.Pull },
			"how long a start waits for an image; the pull itself goes on").withStart("").withLimits("1s-24h"),

		setting("terminals.enabled", "true", "", truths(), func(s *Settings) *bool { return &s.Terminals.Enabled },
			"whether terminals may be opened here"),
		setting("terminals.max", "16", "1-256", counts(), func(s *Settings) *int { return &s.Terminals.Max },
			"open terminals in one project"),
		setting("browse.max_entries", "5,000", "100-100,000", counts(), func(s *Settings) *int { return &s.Browse.MaxEntries },
			"entries in one listing of a folder"),
		setting("workspace.clone_deadline", "55s", "10s-24h", durations(), func(s *Settings) *time.Duration { return &s.Workspace.CloneDeadline },
			"how long a clone may take"),
		setting("drain.grace", "10s", "0-1h under systemd (the stop timeout is extended), else 0-60s", durations(),
			func(s *Settings) *time.Duration { return &s.Drain.Grace },
			"how long running actions may finish when the daemon stops").withLimits(drain),

		setting("journal.keep", "30d", "1h-3650d", durations(), func(s *Settings) *time.Duration { return &s.Journal.Keep },
			"how long an action is remembered"),
		setting("journal.size", "200MiB", "1MiB-100GiB", sizes(), func(s *Settings) *int64 { return &s.Journal.Size },
			"how large the journal may grow"),
		setting("journal.reserve", "8MiB", "0-1GiB", sizes(), func(s *Settings) *int64 { return &s.Journal.Reserve },
			"space kept free for last words on a full disk"),
		setting("log.level", "info", "debug info warn error", choices("debug info warn error"), func(s *Settings) *string { return &s.Log.Level },
			"what is logged"),
		setting("log.total", "100MiB", "1MiB-100GiB", sizes(), func(s *Settings) *int64 { return &s.Log.Total },
			"space for all log files"),
		setting("confirm.deadline", "5m", "10s-24h", durations(), func(s *Settings) *time.Duration { return &s.Confirm.Deadline },
			"how long a held action waits for the person at this machine"),

		setting("git.hooks", "skip", "skip, run", choices("skip, run"), func(s *Settings) *string { return &s.Git.Hooks },
			"whether typed git actions run the repository's hooks"),
		setting("git.protocols", "https ssh", "git's names", plainWords(), func(s *Settings) *[]string { return &s.Git.Protocols },
			"protocols of typed git actions and clones"),

		setting("hub.listen", "127.0.0.1:4680", "address", texts("an address with a port", listenAddress), func(s *Settings) *string { return &s.Hub.Listen },
			"where the hub listens; other than loopback needs hub.tls_cert and hub.tls_key"),
		setting("hub.tls_cert", "none", "absolute file", texts("the absolute path of a PEM file", absolute), func(s *Settings) *string { return &s.Hub.TLSCert },
			"the hub's certificate").withStart(""),
		setting("hub.tls_key", "none", "absolute file", texts("the absolute path of a PEM file", absolute), func(s *Settings) *string { return &s.Hub.TLSKey },
			"the key of the hub's certificate").withStart(""),
		setting("hub.hosts", "what it listens on, localhost", "list", lists("a JSON list of host names", hostName), func(s *Settings) *[]string { return &s.Hub.Hosts },
			"names that the hub answers to").withStart(""),
		setting("hub.rate", "50 a second, bursts of 200", "", counts(), func(s *Settings) *int { return &s.Hub.Rate },
			"proposals of one agent in a second; bursts of four times as many").withStart("50").withLimits("1-100,000"),
		setting("hub.body", "8MiB", "64KiB-64MiB", sizes(), func(s *Settings) *int64 { return &s.Hub.Body },
			"the largest request to the hub"),
		setting("hub.workspaces_root", "runner-workspaces in the home folder", "folder", texts("an absolute folder", absolute),
			func(s *Settings) *string { return &s.Hub.WorkspacesRoot }, "where the hub's own project folders lie").
			withStart(filepath.Join(home, "runner-workspaces")),
		setting("hub.projects_base", "home folder", "folder", texts("an absolute folder", absolute), func(s *Settings) *string { return &s.Hub.ProjectsBase },
			"what a mounted project folder must lie below").withStart(home),
		setting("hub.action_deadline", "10m", "1s-24h", durations(), func(s *Settings) *time.Duration { return &s.Hub.ActionDeadline },
			"the deadline that the hub sends with an action"),
		setting("hub.outcome_deadline", "1h", "1m-30d", durations(), func(s *Settings) *time.Duration { return &s.Hub.OutcomeDeadline },
			"how long the hub waits for an outcome that the proposer reports"),
		setting("hub.events_keep", "forever", "duration", keepFor(), func(s *Settings) *time.Duration { return &s.Hub.EventsKeep },
			"how long the hub keeps events"),
	}
}
