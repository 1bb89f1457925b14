package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Report is one thing about a permissions.json that a person should look at. It changes no verdict (section 1).
type Report struct {
	Position
	Weight   Weight
	Kind     Kind
	List     List   // empty for an unknown member
	Entry    string // or the name of the unknown member
	Sentence string
}

// Weight says how much depends on a report.
type Weight string

// The weights.
const (
	Error   Weight = "error"   // a protection that is written there does not exist
	Warning Weight = "warning" // it probably does not mean what it says
	Note    Weight = "note"    // it does nothing, or could be shorter
)

// Kind names what a report is about.
type Kind string

// The kinds of reports.
const (
	UnknownMember  Kind = "unknown_member"
	Inert          Kind = "inert"              // the entry matches nothing
	ColonStar      Kind = "colon_star"         // the first word ends in :*
	InnerStar      Kind = "inner_star"         // a star that is not at the end of its word
	QuotedWhole    Kind = "quoted_whole"       // the content is a single word
	HasOperator    Kind = "operator"           // what stands behind it is not read
	CoveredBuiltin Kind = "covered_by_builtin" // a deny that is always in force
	Duplicate      Kind = "duplicate"
	Contradiction  Kind = "contradiction" // a stronger list holds all that the entry could match
)

// Lint reports on a file, in the order of its text.
func Lint(f File) []Report {
	var reports []Report
	for _, m := range f.members {
		if f.list(List(m.name)) == nil {
			reports = append(reports, unknownMember(m))
		}
	}
	entries := f.lintEntries()
	for _, e := range entries {
		reports = append(reports, e.mistakes()...)
	}
	reports = append(reports, duplicates(entries)...)
	reports = append(reports, contradictions(entries)...)
	slices.SortStableFunc(reports, func(a, b Report) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return reports
}

func unknownMember(m fileMember) Report {
	r := Report{Position: m.at, Weight: Note, Kind: UnknownMember, Entry: m.name, Sentence: "this member is not known and is ignored"}
	for _, list := range []List{ListDeny, ListAsk, ListAllow} {
		if !strings.EqualFold(strings.TrimSpace(m.name), string(list)) {
			continue
		}
		r.Weight = Warning
		r.Sentence = fmt.Sprintf("this member is not the list %s, whose name is compared exactly, and is ignored", list)
		if list == ListDeny {
			r.Weight = Error
			r.Sentence += ": NOTHING IN IT IS DENIED"
		}
	}
	return r
}

// lintEntry is an entry with what it was read as.
type lintEntry struct {
	fileEntry
	list    List
	pattern Pattern
}

func (f *File) lintEntries() []lintEntry {
	var all []lintEntry
	for _, m := range f.members {
		for _, e := range m.entries {
			all = append(all, lintEntry{e, List(m.name), ParsePattern(e.text)})
		}
	}
	return all
}

func (e lintEntry) report(weight Weight, kind Kind, format string, args ...any) Report {
	return Report{e.at, weight, kind, e.list, e.text, fmt.Sprintf(format, args...)}
}

// mistakes reports what can be seen in the entry alone.
func (e lintEntry) mistakes() (reports []Report) {
	if e.pattern.Inert != "" {
		if e.list == ListDeny {
			return []Report{e.report(Error, Inert, "THIS ENTRY DENIES NOTHING: %s", e.pattern.Inert)}
		}
		return []Report{e.report(Warning, Inert, "this entry matches nothing: %s", e.pattern.Inert)}
	}
	words := e.pattern.Words
	if len(words) == 0 {
		return nil // a typed label
	}
	if first, ok := strings.CutSuffix(words[0].Text, ":"); ok && words[0].Star {
		reports = append(reports, e.report(Warning, ColonStar, "it matches verbs that begin with %q, and not %q", words[0].Text, first))
	}
	for _, w := range words {
		inner := w.Text
		if !w.Star {
			inner = strings.TrimSuffix(inner, "*") // the last of /* stands for itself, but at the end
		}
		if strings.Contains(inner, "*") {
			reports = append(reports, e.report(Warning, InnerStar, "the star within %q is an ordinary character; only one at the end of a word stands for more", w))
			break
		}
	}
	if e.pattern.Quoted && strings.ContainsAny(words[0].Text, blanks) {
		reports = append(reports, e.report(Warning, QuotedWhole, "the content is quoted as a whole, so that it is the single word %q", words[0]))
	}
	if e.pattern.Operator != "" {
		reports = append(reports, e.report(Warning, HasOperator, "only what stands in front of %q counts: %s", e.pattern.Operator, spoken(words)))
	}
	switch {
	case !deniedAnyway(words):
	case e.list == ListDeny:
		reports = append(reports, e.report(Note, CoveredBuiltin, "what it denies is always denied"))
	default:
		reports = append(reports, e.report(Warning, Contradiction, "it has no effect: what it matches is always denied"))
	}
	return reports
}

// spoken writes words for a person.
func spoken(words []PatternWord) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.String()
	}
	return fmt.Sprintf("%q", strings.Join(texts, " "))
}
