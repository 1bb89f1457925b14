package policy

import (
	"regexp"
	"strings"
)

// documentStart is the beginning of a here-document, as far as a plain delimiter goes.
var documentStart = regexp.MustCompile(`<<(-?)[ \t]*(["']?)([A-Za-z_][A-Za-z0-9_]*)["']?`)

// withoutDocuments leaves out the lines of here-documents, and gives them apart. Bash looks into them only when it runs
// the command, so a substitution in one that does not end keeps nothing in front of it from running; the grammar
// library gives up the whole text. It is a second try for texts that do not parse, and goes by lines.
func withoutDocuments(text string) (rest string, bodies []string) {
	var b strings.Builder
	type open struct {
		delimiter string
		tabs      bool
	}
	var waiting []open
	var body strings.Builder
	for line := range strings.Lines(text) {
		if len(waiting) == 0 {
			for _, m := range documentStart.FindAllStringSubmatch(line, -1) {
				waiting = append(waiting, open{m[3], m[1] != ""})
			}
			b.WriteString(line)
			continue
		}
		end := strings.TrimSuffix(line, "\n")
		if waiting[0].tabs {
			end = strings.TrimLeft(end, "\t")
		}
		if end != waiting[0].delimiter {
			body.WriteString(line)
			continue
		}
		bodies = append(bodies, body.String())
		body.Reset()
		waiting = waiting[1:]
		b.WriteString(line)
	}
	if body.Len() > 0 {
		bodies = append(bodies, body.String())
	}
	return b.String(), bodies
}
