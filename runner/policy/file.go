package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"brabo.dev/runner/runner/failure"
)

// List names one of the three lists of a permissions.json.
type List string

// The three lists. A deny outranks an ask, and an ask an allow (section 7).
const (
	ListAllow List = "allow"
	ListDeny  List = "deny"
	ListAsk   List = "ask"
)

// MaxFileSize is how large a permissions.json may be, in bytes: some 50,000 entries, and still read in an instant.
const MaxFileSize = 4 << 20

// Position is a place in a file. Both count from 1; a column is a character, not a byte.
type Position struct{ Line, Column int }

// String is "line:column".
func (p Position) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// File is a permissions.json as it was read: the lists, each entry once, and all that it takes to write the file
// again without losing what is not ours.
type File struct {
	Permissions
	members []fileMember
}

// fileMember is a member of the file's object, known to us or not, in the order in which it stands there.
type fileMember struct {
	name    string
	at      Position
	value   []byte      // as written
	entries []fileEntry // of a list, repetitions included
}

type fileEntry struct {
	text string
	at   Position
}

// ParseFile reads the text of a permissions.json by the table of section 1; path only names it in failures. What is
// wrong with the file as a whole is failure.PermissionsFileInvalid, with line and column. Entries are not looked into:
// a bad one is inert, which Lint reports.
func ParseFile(path string, data []byte) (File, error) {
	f, p := parseFile(data)
	if p != nil {
		at := (&cursor{data: data}).to(p.offset)
		return File{}, failure.New(failure.PermissionsFileInvalid, path+":"+at.String()).Because("%s", p.cause).Then("%s", p.next)
	}
	return f, nil
}

func parseFile(data []byte) (File, *problem) {
	if p := checkJSON(data); p != nil {
		return File{}, p
	}
	members, p := readObject(data)
	if p != nil {
		return File{}, p
	}
	f := File{Permissions: Permissions{Allow: []string{}, Deny: []string{}, Ask: []string{}}}
	where := &cursor{data: data}
	for _, m := range members {
		fm := fileMember{name: m.name, at: where.to(m.nameAt), value: m.value}
		if list := f.list(List(m.name)); list != nil {
			texts, p := readTexts(data, m.valueAt, "the list "+m.name)
			if p != nil {
				return File{}, p
			}
			seen := map[string]bool{}
			for _, t := range texts {
				fm.entries = append(fm.entries, fileEntry{t.text, where.to(t.at)})
				if !seen[t.text] {
					seen[t.text] = true
					*list = append(*list, t.text)
				}
			}
		}
		f.members = append(f.members, fm)
	}
	return f, nil
}

// list is where the entries of the named list stand; nil for a name that is no list. Names are compared exactly:
// Deny is an unknown member.
func (f *File) list(name List) *[]string {
	switch name {
	case ListAllow:
		return &f.Allow
	case ListDeny:
		return &f.Deny
	case ListAsk:
		return &f.Ask
	}
	return nil
}

// Add puts into a list those of the entries whose exact text is not there yet, and returns them.
func (f *File) Add(name List, entries ...string) (added []string) {
	list := f.list(name)
	if list == nil {
		panic("policy: there is no list " + string(name))
	}
	i := slices.IndexFunc(f.members, func(m fileMember) bool { return m.name == string(name) })
	if i < 0 {
		i = len(f.members)
		f.members = append(f.members, fileMember{name: string(name), value: []byte("[]")})
	}
	f.members = slices.Clone(f.members) // a copy of the file made before keeps what it had
	*list = slices.Clip(*list)
	m := &f.members[i]
	m.entries = slices.Clip(m.entries)
	for _, e := range entries {
		if slices.Contains(*list, e) {
			continue
		}
		*list = append(*list, e)
		m.value = appendText(m.value, e)
		m.entries = append(m.entries, fileEntry{text: e})
		added = append(added, e)
	}
	return added
}

// appendText puts a string behind the others of an array.
func appendText(array []byte, text string) []byte {
	open := bytes.TrimRight(array[:len(array)-1], jsonBlanks)
	out := slices.Clone(open)
	if open[len(open)-1] != '[' {
		out = append(out, ',')
	}
	return append(append(out, plainJSON(text)...), ']')
}

// plainJSON writes a string as JSON and leaves < > & as a person would read them.
func plainJSON(text string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(err) // a string can always be written
	}
	return bytes.TrimSpace(b.Bytes())
}

// Text is the file as Save writes it: every member in its place, indented by two spaces.
func (f File) Text() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range f.members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  ")
		b.Write(plainJSON(m.name))
		b.WriteString(": ")
		b.Write(indented(m.value, MaxFileSize-b.Len()))
	}
	if len(f.members) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// indented lays out one member's value. A value whose layout could outgrow room, in bytes, because it nests without
// end, stays as it was written.
func indented(value []byte, room int) []byte {
	depth, deepest, parts := 0, 1, 0
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '"':
			i = skipValue(value, i) - 1
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
			parts++
		case ']', '}':
			depth--
			parts++
		case ',':
			parts++
		}
	}
	if len(value)+parts*(2*deepest+4) > room {
		return value
	}
	var b bytes.Buffer
	if err := json.Indent(&b, value, "  ", "  "); err != nil {
		return value
	}
	return b.Bytes()
}

// cursor finds lines and columns. It only moves forward, so that all the places of a text cost one pass over it.
type cursor struct {
	data   []byte
	offset int
	at     Position
}

func (c *cursor) to(offset int) Position {
	if c.at.Line == 0 {
		c.at = Position{1, 1}
	}
	for c.offset < min(offset, len(c.data)) {
		if c.data[c.offset] == '\n' {
			c.at = Position{c.at.Line + 1, 1}
			c.offset++
			continue
		}
		_, n := utf8.DecodeRune(c.data[c.offset:])
		c.at.Column++
		c.offset += n
	}
	return c.at
}
