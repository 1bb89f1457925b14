package policy

import "strings"

// lintedWords is how many words of an entry are held against the built-in denies, the longest of which has three.
const lintedWords = 32

// deniedAnyway reports whether the built-in denies hold everything that a pattern of those words matches: whether they
// hold the command that its words are. What stands behind the first star is open, so it is not counted on.
func deniedAnyway(words []PatternWord) bool {
	var command strings.Builder
	for i, w := range words {
		if w.Star || i == lintedWords {
			break
		}
		command.WriteString("'" + strings.ReplaceAll(w.Text, "'", `'\''`) + "' ")
	}
	if command.Len() == 0 {
		return false
	}
	_, denied := RecheckDeny(Action{Type: typeTerminal, Command: command.String()}, Permissions{}, Context{})
	return denied
}
