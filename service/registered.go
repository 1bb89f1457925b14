package service

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// How Windows starts a service that failed.
const (
	recoveryDelay = 30 * time.Second
	recoveryReset = 24 * time.Hour // after so long without a failure, failures are counted anew
)

// registered says what is registered with Windows' service manager for d: there is no file to show.
func registered(d Definition, name string) string {
	var b strings.Builder
	line := func(key, format string, args ...any) { fmt.Fprintf(&b, "%-14s%s\n", key, fmt.Sprintf(format, args...)) }
	line("Name", "%s", name)
	line("Display name", "%s", display(d.ID))
	line("Description", "%s", describe(d.ID))
	words := []string{quoteWindows(d.Program)}
	for _, a := range d.Arguments {
		words = append(words, quoteWindows(a))
	}
	line("Command", "%s", strings.Join(words, " "))
	line("Account", "%s", account(d.User))
	line("Start", "automatic, delayed")
	line("On failure", "restart after %s; failures are forgotten after %s", recoveryDelay, recoveryReset)
	for _, variable := range slices.Sorted(maps.Keys(d.Environment)) {
		line("Environment", "%s=%s", variable, d.Environment[variable])
	}
	return b.String()
}

func display(id ID) string {
	switch id.Kind {
	case Hub:
		return "Runner hub"
	case Project:
		return "Runner for " + id.Project
	}
	return "Runner"
}

// account is user as the service manager names it: an account of this machine unless a domain is given.
func account(user string) string {
	if user == "" || strings.ContainsAny(user, `\@`) {
		return user
	}
	return `.\` + user
}

// quoteWindows writes s as one word of a command line, as programs on Windows take theirs apart: quotes where there is
// white space, backslashes doubled in front of a quote.
func quoteWindows(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n\v\"") {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for i := range len(s) {
		switch s[i] {
		case '\\':
			slashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes+1))
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteByte(s[i])
	}
	b.WriteString(strings.Repeat(`\`, slashes) + `"`)
	return b.String()
}
