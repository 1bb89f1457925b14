package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// largestFile is more than any settings file needs, in bytes.
const largestFile = 1 << 20

// loadFile reads the settings file over what is in s.
func (s *Settings) loadFile(src Sources, table []row) error {
	path, named := src.configFile()
	data, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return failure.New(failure.SettingsInvalid, path).
			Because("the file can't be read: %v", err).
			Then("make it readable for this user, or name another by `--config`").Wrap(err)
	}
	return newSettingsFile(path, data, table).read(s)
}

func newSettingsFile(path string, data []byte, table []row) *settingsFile {
	f := &settingsFile{path: path, data: data, rows: map[string]row{}, groups: map[string]bool{}, seen: map[string]int{}}
	for _, r := range table {
		f.names = append(f.names, r.Name)
		f.rows[r.Name] = r
		if group, _, ok := strings.Cut(r.Name, "."); ok && !f.groups[group] {
			f.groups[group] = true
			f.names = append(f.names, group)
		}
	}
	return f
}

// readBounded reads a regular file of a sensible size.
func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, largestFile+1))
	if err == nil && len(data) > largestFile {
		err = fmt.Errorf("it is larger than %s", formatSize(largestFile))
	}
	return data, err
}

// settingsFile is a settings file while it is being read.
type settingsFile struct {
	path   string
	data   []byte
	dec    *json.Decoder
	names  []string // settings and groups
	rows   map[string]row
	groups map[string]bool
	seen   map[string]int // the line of each key that was read
}

func (f *settingsFile) read(s *Settings) error {
	f.data = bytes.TrimPrefix(f.data, []byte("\xef\xbb\xbf")) // editors on Windows put it there
	if !json.Valid(f.data) {
		return f.syntaxError()
	}
	f.dec = json.NewDecoder(bytes.NewReader(f.data))
	if open, err := f.dec.Token(); err != nil || open != json.Delim('{') {
		return f.fail("the file is not a JSON object")
	}
	return f.object(s, "")
}

// object reads the members of the object whose brace was read; prefix is "" or a group with its dot.
func (f *settingsFile) object(s *Settings, prefix string) error {
	for f.dec.More() {
		token, err := f.dec.Token()
		if err != nil {
			return f.fail("%v", err)
		}
		key, _ := token.(string) // the syntax is known to be right, so it is a text
		name := prefix + key
		if line, twice := f.seen[name]; twice {
			return f.fail("the key `%s` stands in line %d already", name, line)
		}
		f.seen[name] = f.line()
		if r, ok := f.rows[name]; ok && f.nested(name, prefix) {
			if err := f.value(s, r); err != nil {
				return err
			}
			continue
		}
		if prefix != "" || !f.groups[key] {
			return f.unknown(name)
		}
		open, err := f.dec.Token()
		if err != nil || open != json.Delim('{') {
			return f.fail("`%s` must be an object", name)
		}
		if err := f.object(s, name+"."); err != nil {
			return err
		}
	}
	_, err := f.dec.Token() // the closing brace
	if err != nil {
		return f.fail("%v", err)
	}
	return nil
}

// nested reports whether name was reached by objects, not by a key with a dot in it.
func (f *settingsFile) nested(name, prefix string) bool {
	return !strings.Contains(strings.TrimPrefix(name, prefix), ".")
}

func (f *settingsFile) value(s *Settings, r row) error {
	var raw json.RawMessage
	if err := f.dec.Decode(&raw); err != nil {
		return f.fail("%v", err)
	}
	at := f.place()
	if err := r.bound.json(s, raw, r.limits); err != nil {
		return failure.New(failure.SettingsInvalid, at).
			Because("%s is no value for `%s`: %v", r.safe(string(raw)), r.Name, err).
			Then("correct that line: it must be %s", r.wants()).Wrap(err)
	}
	s.origins[r.Name] = Origin{FromFile, at}
	return nil
}

func (f *settingsFile) unknown(name string) error {
	_, dotted := f.rows[name]
	near := nearest(name, f.names)
	if len(name) > longestName {
		name = name[:longestName] + "…"
	}
	fail := failure.New(failure.SettingsInvalid, f.place())
	switch group, key, _ := strings.Cut(name, "."); {
	case dotted:
		return fail.Because("`%s` is written with a dot", name).
			Then("write it as an object in the object: {%q: {%q: …}}", group, key)
	case near != "":
		return fail.Because("there is no setting `%s`; the nearest is `%s`", name, near).
			Then("correct that line, or remove it")
	}
	return fail.Because("there is no setting `%s`", name).Then("remove that line; `runner config show` lists the settings")
}

// syntaxError finds the line of the first thing that is not JSON.
func (f *settingsFile) syntaxError() error {
	var any json.RawMessage
	err := json.Unmarshal(f.data, &any)
	offset := int64(len(f.data))
	if se := (*json.SyntaxError)(nil); errors.As(err, &se) {
		offset = se.Offset
	}
	return failure.New(failure.SettingsInvalid, f.placeAt(offset)).Because("the file is not JSON: %v", err).Wrap(err)
}

func (f *settingsFile) fail(format string, args ...any) error {
	return failure.New(failure.SettingsInvalid, f.place()).Because(format, args...)
}

// place is the file with the line that was read last, as editors understand it.
func (f *settingsFile) place() string {
	if f.dec == nil {
		return f.placeAt(0)
	}
	return f.placeAt(f.dec.InputOffset())
}

func (f *settingsFile) line() int { return f.lineAt(f.dec.InputOffset()) }

func (f *settingsFile) lineAt(offset int64) int {
	return 1 + bytes.Count(f.data[:min(offset, int64(len(f.data)))], []byte("\n"))
}

func (f *settingsFile) placeAt(offset int64) string {
	return fmt.Sprintf("%s:%d", f.path, f.lineAt(offset))
}
