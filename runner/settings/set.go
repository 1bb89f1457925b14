package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// ConfigPath is the settings file that src reads, which need not exist.
func (s Sources) ConfigPath() string {
	path, _ := s.configFile()
	return path
}

// Set writes the value of the setting called name into the settings file, or, with a nil text, takes it out. The rest
// of the file stays as it is, but for its layout. Text is as a variable would have it; lists and objects are JSON.
// Nothing is written unless the whole file is understood before and after it. Failures: Usage for a name that is none,
// SettingInvalid for the value, SettingsInvalid for the file.
func Set(src Sources, name string, text *string) error {
	table := rows(src)
	at := slices.IndexFunc(table, func(r row) bool { return r.Name == name })
	if at < 0 {
		return unknownSetting(name, table)
	}
	path, _ := src.configFile()
	data, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = []byte("{}"), nil
	}
	if err != nil {
		return failure.New(failure.SettingsInvalid, path).Because("the file can't be read: %v", err).Wrap(err)
	}
	scratch := Settings{origins: map[string]Origin{}}
	if err := newSettingsFile(path, data, table).read(&scratch); err != nil {
		return err
	}
	changed, err := withSetting(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), table[at], text)
	if err != nil {
		return err
	}
	if err := newSettingsFile(path, changed, table).read(&scratch); err != nil {
		return err
	}
	if err := WriteFile(path, changed); err != nil {
		return failure.New(failure.SettingsInvalid, path).Because("the file can't be written: %v", err).
			Then("look at the owner of the folder and at the room on the disk").Wrap(err)
	}
	return nil
}

// Find gives the value in force of the setting called name. A name that is none is a Usage failure.
func (s Settings) Find(name string) (Value, error) {
	for _, v := range s.Values() {
		if v.Name == name {
			return v, nil
		}
	}
	return Value{}, unknownSetting(name, rows(Sources{}))
}

func unknownSetting(name string, table []row) error {
	var names []string
	for _, r := range table {
		names = append(names, r.Name)
	}
	fail := failure.New(failure.Usage, "setting "+name).Because("there is no setting of that name")
	if near := nearest(name, names); near != "" {
		return fail.Then("the nearest is `%s`; `runner config show` lists all", near)
	}
	return fail.Then("`runner config show` lists the settings")
}

// withSetting is the file's text, which is known to be good, with one value changed.
func withSetting(data []byte, r row, text *string) ([]byte, error) {
	file := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("reading the settings again: %w", err)
	}
	group, key, grouped := strings.Cut(r.Name, ".")
	place := file
	if grouped {
		place = map[string]json.RawMessage{}
		if raw, there := file[group]; there {
			if err := json.Unmarshal(raw, &place); err != nil {
				return nil, fmt.Errorf("reading the settings again: %w", err)
			}
		}
	} else {
		key = r.Name
	}
	delete(place, key)
	if text != nil {
		raw, err := r.asJSON(*text)
		if err != nil {
			return nil, err
		}
		place[key] = raw
	}
	if grouped {
		delete(file, group)
		if len(place) > 0 {
			raw, err := json.Marshal(place)
			if err != nil {
				return nil, fmt.Errorf("writing the settings: %w", err)
			}
			file[group] = raw
		}
	}
	raw, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the settings: %w", err)
	}
	return append(raw, '\n'), nil
}

// asJSON is text as the file has it: as JSON where it is some that this setting takes, else as a string.
func (r row) asJSON(text string) (json.RawMessage, error) {
	quoted, err := json.Marshal(text)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", r.Name, err)
	}
	var scratch Settings
	for _, raw := range []json.RawMessage{json.RawMessage(text), quoted} {
		if json.Valid(raw) && r.bound.json(&scratch, raw, r.limits) == nil {
			return raw, nil
		}
	}
	scratch.origins = map[string]Origin{}
	if err := r.setText(&scratch, text, Origin{FromFlag, "the value"}); err != nil {
		return nil, err
	}
	// It is a good value, in the way of a variable alone.
	return nil, failure.New(failure.SettingInvalid, r.Name).Because("the file does not take this form").Then("write it as JSON")
}
