package policy

import "strings"

// How a name gets a value: by for, or by anything else. A loop is unrolled only if one for and nothing else gives it.
const (
	byFor = iota
	byOther
)

// harmlessNames run nothing, whatever known value they get (section 17, FOO=1 cmd).
func harmlessName(name string) bool {
	switch name {
	case "CI", "NODE_ENV", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "RUST_BACKTRACE", "RUST_LOG",
		"LOG_LEVEL", "TZ", "LANG", "LC_ALL", "LC_CTYPE", "PORT", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE",
		"COLUMNS", "LINES":
		return true
	}
	return false
}

// harmlessExactly are harmless with these values alone.
func harmlessExactly(name, value string) bool {
	switch name {
	case "GIT_PAGER", "PAGER", "MANPAGER":
		return value == "cat" || value == ""
	case "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "EDITOR", "VISUAL":
		return value == "true" || value == ":"
	case "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS":
		return value == "0"
	}
	return false
}

// harmless says that NAME=value, given plainly, does not stop an allow. value is nil where it is not known.
func harmless(name string, value *word) bool {
	if value == nil || !value.plain() {
		return false
	}
	v := value.text
	if harmlessExactly(name, v) {
		return true
	}
	if !harmlessName(name) {
		return false
	}
	for i := range len(v) {
		if !isNameByte(v[i]) && strings.IndexByte(".,:=@%+-", v[i]) < 0 {
			return false
		}
	}
	switch name {
	case "LANG", "LC_ALL", "LC_CTYPE":
		return usualLocale(v)
	}
	return true
}

func usualLocale(v string) bool {
	return v == "" || v == "C" || v == "POSIX" || strings.HasSuffix(v, ".UTF-8") || strings.HasSuffix(v, ".utf8")
}

func (a *assign) harmless() bool { return a.plain && harmless(a.name, &a.value) }

// steers: the name decides what a verb means, or Bash computes what it is given. LANG and LC_ names do so by value.
func steers(name string) bool {
	switch name {
	case "PATH", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "CDPATH", "PROMPT_COMMAND", "PS4", "GLOBIGNORE",
		"EXECIGNORE", "POSIXLY_CORRECT", "BASH_COMPAT", "LANG",
		"RANDOM", "SRANDOM", "OPTIND", "HISTCMD", "SECONDS", "LINENO", "BASHPID", "EPOCHSECONDS", "EPOCHREALTIME":
		return true
	}
	for _, p := range []string{"LD_", "DYLD_", "BASH_FUNC_", "GIT_", "LC_"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// steersWith is steers for an assignment of a value (nil: not known), given plainly.
func steersWith(name string, value *word) bool {
	if !steers(name) {
		return false
	}
	if value == nil || !value.plain() {
		return true
	}
	if harmlessExactly(name, value.text) {
		return false
	}
	if name == "LANG" || strings.HasPrefix(name, "LC_") {
		return !usualLocale(value.text)
	}
	return true
}

// scratch: no program and no Bash takes orders from the name (section 17, scratch names).
func scratch(name string) bool {
	if name == "" {
		return false
	}
	switch name {
	case "COUNT", "TOTAL", "NUM", "PID", "NAME", "FILE", "FILES", "DIR", "DIRS", "ROOT", "BASE", "SRC", "DEST", "DST",
		"OUT", "OUTPUT", "RESULT", "RESULTS", "RESP", "RESPONSE", "BODY", "STATUS", "CODE", "RET", "VERSION", "TAG",
		"BRANCH", "SHA", "COMMIT", "HASH", "MSG", "MESSAGE", "LINE", "DATE", "TIMESTAMP", "START", "END", "NOW",
		"URL", "KEY", "ID":
		return true
	case "histchars", "auto_resume":
		return false
	}
	c := name[0]
	if 'A' <= c && c <= 'Z' {
		return len(name) == 1
	}
	if c < 'a' || c > 'z' || strings.HasSuffix(name, "_proxy") {
		return false
	}
	for _, p := range []string{"npm_", "pnpm_", "yarn_"} {
		if strings.HasPrefix(name, p) {
			return false
		}
	}
	return true
}
