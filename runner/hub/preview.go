package hub

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/policy"
)

// Preview is what a person looks at before deciding.
type Preview struct {
	Segments []SegmentPreview `json:"segments"`
	Always   AlwaysPreview    `json:"always"`
	Diff     string           `json:"diff,omitempty"` // unified
}

// SegmentPreview is one part of a command, with what the rules say about it alone.
type SegmentPreview struct {
	Text    string `json:"text"`
	Verdict string `json:"verdict"` // deny, ask, allow, or none
	Rule    string `json:"rule"`    // the entry that matched, or how it is allowed
	Reason  string `json:"reason"`
}

// AlwaysPreview is what "always allow" would write now.
type AlwaysPreview struct {
	Patterns   []string  `json:"patterns,omitempty"`
	Autonomy   *Autonomy `json:"autonomy,omitempty"`
	Refused    bool      `json:"refused,omitempty"`
	AskEntries []string  `json:"askEntries,omitempty"`
}

// PreviewOf shows an action by the rules as they are now. It fails with ActionNotFound, ProjectNotFound,
// PermissionsFileInvalid or the failure of a root that is none.
func (h *Hub) PreviewOf(id string) (Preview, error) {
	row, err := h.row(id)
	if err != nil {
		return Preview{}, err
	}
	proposed, err := proposalOf(row)
	if err != nil {
		return Preview{}, err
	}
	_, known, err := h.projectNow(row.Project)
	if err != nil {
		return Preview{}, err
	}
	memory, err := h.remembers(known, row)
	if err != nil {
		return Preview{}, err
	}
	shown := Preview{Segments: []SegmentPreview{}, Always: AlwaysPreview{memory.Patterns, memory.autonomy, memory.Refused, memory.AskEntries}}
	if row.Type == typeTerminal {
		// The role of an owner: what is asked is what the rules say, not who may.
		q, err := h.ask(known, Principal{Kind: kindPerson, Role: policy.Owner}, proposed)
		if err != nil {
			return Preview{}, err
		}
		why, err := policy.Explain(q.action, q.role, q.autonomy, q.permissions, q.context)
		if err != nil {
			return Preview{}, err
		}
		for _, s := range why.Segments {
			shown.Segments = append(shown.Segments, segmentPreview(s))
		}
	}
	place, err := h.place(known)
	if err != nil {
		return Preview{}, err
	}
	shown.Diff = diffOf(place.Root, proposed)
	return shown, nil
}

func segmentPreview(s policy.SegmentExplanation) SegmentPreview {
	shown := SegmentPreview{Text: strings.Join(s.Words, " "), Verdict: s.Opinion, Rule: s.Entry}
	switch s.Opinion {
	case "deny", "ask", "allow":
		shown.Reason = "the entry " + s.Entry + " matches it"
	case "scope":
		shown.Verdict, shown.Rule, shown.Reason = "allow", "scope", "it changes into a folder of the project"
	case "structure":
		shown.Verdict, shown.Rule, shown.Reason = "allow", "structure", "it only carries what follows"
	default:
		shown.Reason = "no entry speaks about it"
	}
	if len(s.Effects) > 0 {
		shown.Reason += "; an entry has to name " + strings.Join(s.Effects, ", ")
	}
	if len(s.Issues) > 0 {
		shown.Reason += "; " + strings.Join(s.Issues, "; ")
	}
	return shown
}

// maxDiff is how large a file may be, in bytes, of which a difference is shown.
const maxDiff = 512 << 10

// diffOf is the difference that a file's writing or an instruction patch would make; empty where there is none to show.
func diffOf(root string, p Proposal) string {
	if p.Type != action.TypeWriteFile && p.Type != "instruction_patch" {
		return ""
	}
	var c struct {
		Path          string  `json:"path"`
		Content       *string `json:"content"`
		ContentBase64 *string `json:"contentBase64"`
		Diff          string  `json:"diff"`
		Patch         string  `json:"patch"`
	}
	if json.Unmarshal(p.Params, &c) != nil {
		return ""
	}
	if c.Diff+c.Patch != "" {
		return c.Diff + c.Patch
	}
	var after []byte
	switch {
	case c.Content != nil:
		after = []byte(*c.Content)
	case c.ContentBase64 != nil:
		after, _ = base64.StdEncoding.DecodeString(*c.ContentBase64) // checked has refused what is no base64
	default:
		return ""
	}
	before, err := readInside(root, c.Path)
	if err != nil {
		return fmt.Sprintf("(what %s holds now can't be shown: %v)\n", c.Path, err)
	}
	if len(before) > maxDiff || len(after) > maxDiff || !utf8.Valid(before) || !utf8.Valid(after) {
		return fmt.Sprintf("(%d bytes become %d; too large, or no text)\n", len(before), len(after))
	}
	return string(diff.Diff("a/"+c.Path, before, "b/"+c.Path, after))
}

// readInside reads a file below root, through no link that leads out; a missing one is empty.
func readInside(root, path string) ([]byte, error) {
	folder, err := os.OpenRoot(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	name := filepath.FromSlash(path)
	info, err := folder.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	}
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxDiff+1))
}

func (h *Hub) getPreview(w http.ResponseWriter, r *http.Request, _ Principal) {
	p, err := h.PreviewOf(r.PathValue("id"))
	answer(w, http.StatusOK, p, err)
}
