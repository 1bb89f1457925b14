package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// problem is what stands in the way of reading a JSON text: where, what, and how to put it right.
type problem struct {
	offset int // in bytes
	cause  string
	next   string
}

// jsonMember is one member of an object. Offsets are bytes into the text that was read.
type jsonMember struct {
	name    string
	nameAt  int
	value   []byte // as written
	valueAt int
}

// jsonText is one string of an array.
type jsonText struct {
	text string
	at   int
}

// checkJSON finds what keeps data from being one JSON text in UTF-8. The readers below take only text that passed it,
// which is why they check nothing themselves.
func checkJSON(data []byte) *problem {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return &problem{0, "it begins with a byte order mark", "save it as UTF-8 without a byte order mark"}
	}
	if at := invalidUTF8(data); at >= 0 {
		return &problem{at, "it is not UTF-8", "save it as UTF-8"}
	}
	var whole json.RawMessage
	err := json.Unmarshal(data, &whole)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case len(bytes.Trim(data, jsonBlanks)) == 0:
		return &problem{len(data), "it is empty", "write {} for no entries, or remove the file"}
	case errors.As(err, &syntax):
		return &problem{max(int(syntax.Offset)-1, 0), "it is not JSON: " + syntax.Error(), "correct it there"}
	}
	return &problem{0, "it is not JSON: " + err.Error(), "correct it"}
}

const jsonBlanks = " \t\r\n"

func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// readObject gives the members of the object that data is, in order. Names are compared as they read, escapes
// resolved, and never without regard to case, which is why encoding/json's structs are of no use here.
func readObject(data []byte) ([]jsonMember, *problem) {
	i := skipBlanks(data, 0)
	if data[i] != '{' {
		return nil, &problem{i, "it is " + kindOf(data[i]) + ", not an object", `write an object: {"allow": [], "deny": [], "ask": []}`}
	}
	var members []jsonMember
	seen := map[string]bool{}
	for i = skipBlanks(data, i+1); data[i] != '}'; i = skipBlanks(data, i) {
		if data[i] == ',' {
			i = skipBlanks(data, i+1)
		}
		m := jsonMember{nameAt: i}
		end := skipValue(data, i)
		name, p := readText(data, i, end)
		if p != nil {
			return nil, p
		}
		if seen[name] {
			return nil, &problem{i, "the member " + strconv.Quote(name) + " is given twice", "put both into one"}
		}
		seen[name] = true
		m.name = name
		i = skipBlanks(data, end) // the colon
		i = skipBlanks(data, i+1) // the value
		m.valueAt, end = i, skipValue(data, i)
		m.value = data[i:end]
		members = append(members, m)
		i = end
	}
	return members, nil
}

// readTexts gives the strings of the array that begins at offset at. what names it for the person.
func readTexts(data []byte, at int, what string) ([]jsonText, *problem) {
	if data[at] != '[' {
		return nil, &problem{at, what + " is " + kindOf(data[at]) + ", not an array", "write an array of strings, [] for none"}
	}
	var texts []jsonText
	for i := skipBlanks(data, at+1); data[i] != ']'; i = skipBlanks(data, i) {
		if data[i] == ',' {
			i = skipBlanks(data, i+1)
		}
		if data[i] != '"' {
			return nil, &problem{i, "an entry of " + what + " is " + kindOf(data[i]) + ", not a string", `write it as text in double quotes, like "Terminal(git status)"`}
		}
		end := skipValue(data, i)
		text, p := readText(data, i, end)
		if p != nil {
			return nil, p
		}
		texts = append(texts, jsonText{text, i})
		i = end
	}
	return texts, nil
}

// readText decodes the string in data[from:to]. Half of a surrogate pair is refused: encoding/json would put another
// character in its place, and an entry that is not what was written must not take part in a decision.
func readText(data []byte, from, to int) (string, *problem) {
	raw := data[from:to]
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] != 'u' {
			continue
		}
		switch unit := hex4(raw[i+1:]); {
		case unit>>11 != 0xd800>>11:
			i += 4
		case unit < 0xdc00 && i+10 < len(raw) && raw[i+5] == '\\' && raw[i+6] == 'u' && hex4(raw[i+7:])>>10 == 0xdc00>>10:
			i += 10
		default:
			return "", &problem{from + i - 1, "half of a surrogate pair stands in a text", "write the character itself, or both halves"}
		}
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", &problem{from, "it is no text: " + err.Error(), "correct it"}
	}
	return text, nil
}

func hex4(b []byte) (n int) {
	for _, c := range b[:4] {
		n = n<<4 | strings.IndexByte("0123456789abcdef", c|0x20)
	}
	return n
}

func skipBlanks(data []byte, i int) int {
	for i < len(data) && strings.IndexByte(jsonBlanks, data[i]) >= 0 {
		i++
	}
	return i
}

// skipValue gives the offset behind the value that begins at i. It counts brackets instead of following them, so that
// no depth of nesting is a depth of calls.
func skipValue(data []byte, i int) int {
	depth := 0
	for {
		switch data[i] {
		case '"':
			for i++; data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		default:
			if depth == 0 { // a number or a name
				for i < len(data) && strings.IndexByte(",]} \t\r\n", data[i]) < 0 {
					i++
				}
				return i
			}
		}
		i++
		if depth == 0 {
			return i
		}
	}
}

// kindOf names the JSON value that begins with c.
func kindOf(c byte) string {
	switch c {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
