package service

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/shlex"
	"howett.net/plist"
)

// largestUnit is more than any unit needs, in bytes.
const largestUnit = 1 << 20

// errNoRecord is said of a unit that this package has not written.
var errNoRecord = errors.New("it was not written by this program")

// Existing is an installed unit of the client that this daemon replaces.
type Existing struct {
	Path    string
	Project string // "" serves all projects of its key
	APIURL  string // "" where the unit does not say
}

// String is the unit as a failure names it.
func (e Existing) String() string {
	if e.Project == "" {
		return e.Path + " (all projects of its key)"
	}
	return fmt.Sprintf("%s (project %s)", e.Path, e.Project)
}

// Meets reports whether the existing unit would be a second runner beside one for project, "" for all, at the server
// apiURL. What the unit does not say counts as a yes.
func (e Existing) Meets(project, apiURL string) bool {
	server := func(u string) string { return strings.TrimRight(u, "/") }
	if e.APIURL != "" && apiURL != "" && server(e.APIURL) != server(apiURL) {
		return false
	}
	return e.Project == "" || project == "" || e.Project == project
}

// Existing finds the installed units of the existing client. It installs for the user alone, on Linux and macOS.
func (h Host) Existing() []Existing {
	var found []Existing
	folder := h.folder(false)
	for _, name := range names(folder) {
		var words []string
		var project string
		switch {
		case h.System == "darwin" && strings.HasPrefix(name, "dev.brabo.runner") && strings.HasSuffix(name, ".plist"):
			project = strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(name, "dev.brabo.runner"), ".plist"), ".")
			words = plistWords(read(filepath.Join(folder, name)))
		case h.System == "linux" && strings.HasPrefix(name, "brabo-runner") && strings.HasSuffix(name, ".service"):
			project = strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(name, "brabo-runner"), ".service"), "-")
			words = unitWords(read(filepath.Join(folder, name)))
		default:
			continue
		}
		found = append(found, Existing{filepath.Join(folder, name), project, after(words, "--api-url")})
	}
	return found
}

// after gives the word behind flag, "" for none.
func after(words []string, flag string) string {
	for i, w := range words {
		if value, joined := strings.CutPrefix(w, flag+"="); joined {
			return value
		}
		if w == flag && i+1 < len(words) {
			return words[i+1]
		}
	}
	return ""
}

// unitWords are the words of a unit's ExecStart; none where they can't be told.
func unitWords(text []byte) []string {
	for line := range strings.Lines(string(text)) {
		if exec, found := strings.CutPrefix(strings.TrimSpace(line), "ExecStart="); found {
			words, err := shlex.Split(exec)
			if err != nil {
				return nil
			}
			return words
		}
	}
	return nil
}

// plistWords are the words of a job of launchd; none where they can't be told.
func plistWords(text []byte) []string {
	var job struct{ ProgramArguments []string }
	if _, err := plist.Unmarshal(text, &job); err != nil {
		return nil
	}
	return job.ProgramArguments
}

// Installed gives the definitions of our services on the given level; a file of our name that holds none is left out.
func (h Host) Installed(system bool) []Definition {
	if h.System == "windows" {
		return records()
	}
	var all []Definition
	folder := h.folder(system)
	for _, name := range names(folder) {
		ours := strings.HasPrefix(name, "runner") && strings.HasSuffix(name, ".service")
		if h.System == "darwin" {
			ours = strings.HasPrefix(name, "dev.brabo.local-runner") && strings.HasSuffix(name, ".plist")
		}
		if !ours {
			continue
		}
		if d, err := h.readUnit(read(filepath.Join(folder, name))); err == nil && filepath.Base(h.Path(d.ID)) == name {
			all = append(all, d)
		}
	}
	return all
}

func (h Host) readUnit(text []byte) (Definition, error) {
	if h.System == "darwin" {
		return readLaunchd(text)
	}
	return readSystemd(text)
}

// names lists a folder in order; one that can't be read is empty.
func names(folder string) []string {
	if folder == "" {
		return nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	slices.Sort(all)
	return all
}

// read gives the beginning of a file, as much as a unit may have; nothing where it can't be read.
func read(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, largestUnit))
	if err != nil {
		return nil
	}
	return text
}
