package policy

import (
	"maps"
	"strings"
)

// maxLearned is how many variables are followed to which the text gives a value.
const maxLearned = 64

// learn adds to the variables those to which the text gives a value that is known. Of several values the one counts that
// leads to something protected; what was known before stays.
func (s *shield) learn(c *command) {
	given := s.Variables
	s.Variables = maps.Clone(given)
	if s.Variables == nil {
		s.Variables = map[string]string{}
	}
	set := func(name string, value word) bool {
		v := s.resolve(value)
		before, known := s.Variables[name]
		if _, fixed := given[name]; fixed || v.text == "" || !v.plain() || known && s.holds(before) {
			return false
		}
		s.Variables[name] = v.text
		return len(s.Variables) > len(given)+maxLearned
	}
	c.each(func(seg *segment, _, _ bool) bool {
		for i := range seg.assigns {
			if set(seg.assigns[i].name, seg.assigns[i].value) {
				return true
			}
		}
		if !seg.is("export", "declare", "typeset", "readonly", "local") {
			return false
		}
		for i := range seg.flat[1:] {
			w := &seg.flat[1+i]
			if name, _, isGiven := strings.Cut(w.front(), "="); isGiven && set(name, s.behind(w, len(name)+1)) {
				return true
			}
		}
		return false
	})
}
