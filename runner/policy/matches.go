package policy

// Matches says whether an entry matches at least one written segment of a command, by section 3 alone: textually,
// without expansions, last parts or wrappers.
func Matches(entry, command string) bool {
	p := ParsePattern(entry)
	if p.Inert != "" || p.Type != typeTerminal {
		return false
	}
	for _, u := range analyse(command).units() {
		if u.written && p.textual(u.stands) {
			return true
		}
	}
	return false
}

func (p *Pattern) textual(s *segment) bool {
	if len(p.Words) > len(s.words) {
		return false
	}
	for i, w := range p.Words {
		if !w.textual(&s.words[i]) {
			return false
		}
	}
	return true
}
