package exec

import (
	"runtime"
	"strings"
)

// TerminalEnvironment makes the whole environment of a terminal, with the rules of Environment but for one: a person sits
// in front of it, so that tools may ask. shell is the path of the login shell.
func TerminalEnvironment(inherited []string, configured map[string]string, shell string) ([]string, error) {
	var rest []string
	located := false
	for _, pair := range inherited {
		name, value, _ := cutPair(pair)
		switch name {
		case "LINES", "COLUMNS", "TERMCAP", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERMINFO": // of another terminal
			continue
		case "LANG", "LC_ALL", "LC_CTYPE":
			located = located || value != ""
		}
		rest = append(rest, pair)
	}
	ours := map[string]string{"TERM": "xterm-256color", "SHELL": shell}
	if !located {
		// A service inherits no locale, and without one programs take what is typed for bytes.
		ours["LC_CTYPE"] = utf8Locale()
	}
	for name := range configured {
		if strings.HasPrefix(name, "LC_") || name == "LANG" {
			delete(ours, "LC_CTYPE")
		}
	}
	return merge(rest, ours, configured)
}

func utf8Locale() string {
	if runtime.GOOS == "darwin" {
		return "UTF-8"
	}
	return "C.UTF-8"
}
