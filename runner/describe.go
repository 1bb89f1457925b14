package runner

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"brabo.dev/runner/runner/action"
)

// mostContent is how many bytes of a file's new content a person is shown who decides about it at this machine; how many
// there are, and their digest, is always said.
const mostContent = 2000

// describeCommand is what a person is shown of a command: all of it, and the names that its environment sets, on which
// its meaning may depend.
func describeCommand(e action.Exec) string {
	if len(e.Env) == 0 {
		return e.Command
	}
	return e.Command + "\n# with " + strings.Join(slices.Sorted(maps.Keys(e.Env)), ", ") + " set"
}

// describeTyped is what a person is shown of a typed action: what was understood of it, not what was sent.
func describeTyped(t action.Typed) string {
	var params any
	switch {
	case t.WriteFile != nil:
		w := t.WriteFile
		shown := w.Content[:min(len(w.Content), mostContent)]
		return fmt.Sprintf("%s %s: %d bytes, sha256 %x, mode %04o, of which the first %d are:\n%s",
			t.Type, w.Path, len(w.Content), sha256.Sum256(w.Content), w.Mode, len(shown), shown)
	case t.Commit != nil:
		params = t.Commit
	case t.Branch != nil:
		params = t.Branch
	case t.Push != nil:
		params = t.Push
	}
	text, _ := json.Marshal(params) // texts and lists of them always can be
	return t.Type + " " + string(text)
}
