package exec

import (
	"slices"
	"strings"
)

// unattended keeps tools from asking somebody: there is no terminal and nobody in front of it.
func unattended() map[string]string {
	return map[string]string{
		"GIT_TERMINAL_PROMPT": "0",
		"GCM_INTERACTIVE":     "never", // Git Credential Manager's windows
		"SSH_ASKPASS_REQUIRE": "never",
		"DEBIAN_FRONTEND":     "noninteractive",
		"PIP_NO_INPUT":        "1",
	}
}

// ownNames are the daemon's own: credentials, and the service manager's channels to it.
var ownNames = []string{
	"BRABO_ACCOUNT_TOKEN", "BRABO_TOKEN", "RUNNER_ACCOUNT_TOKEN", "RUNNER_TOKEN", "RUNNER_HUB_TOKEN", "RUNNER_PROXY",
	"RUNNER_COMMAND_ID", // of a command that this daemon itself runs in
	"CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PID",
}

// codeNames load code into a shell or a program, or point git elsewhere. They are not inherited (protocol.md 12).
// SSH_ASKPASS is here since a desktop sets it so that git and ssh can open a window.
var (
	codeNames    = []string{"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "SSH_ASKPASS"}
	codePrefixes = []string{"BASH_FUNC_", "LD_", "DYLD_", "GIT_CONFIG_"}
)

// meaningNames decide what a verb means, or are computed by Bash; no action brings them (policy.md 17, `FOO=1 cmd`).
var (
	meaningNames = []string{
		"PATH", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "CDPATH", "PROMPT_COMMAND", "PS4", "GLOBIGNORE",
		"EXECIGNORE", "POSIXLY_CORRECT", "BASH_COMPAT",
		"RANDOM", "SRANDOM", "OPTIND", "HISTCMD", "SECONDS", "LINENO", "BASHPID", "EPOCHSECONDS", "EPOCHREALTIME",
	}
	meaningPrefixes = []string{"LD_", "DYLD_", "BASH_FUNC_", "GIT_"}
)

func inheritable(name string) bool {
	return !slices.Contains(ownNames, name) && !slices.Contains(codeNames, name) && !hasPrefix(name, codePrefixes)
}

// allowedFromAction is the rule of protocol.md 12, "Names in env". LANG and LC_* may name only character sets in which
// no byte swallows a backslash or a quote.
func allowedFromAction(name, value string) bool {
	switch {
	case name == "GIT_TERMINAL_PROMPT":
		return true
	case name == "LANG" || strings.HasPrefix(name, "LC_"):
		return value == "" || value == "C" || value == "POSIX" ||
			strings.HasSuffix(value, ".UTF-8") || strings.HasSuffix(value, ".utf8")
	}
	return !slices.Contains(meaningNames, name) && !hasPrefix(name, meaningPrefixes)
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}
