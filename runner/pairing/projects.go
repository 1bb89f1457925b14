package pairing

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/settings"
)

const (
	projectsName    = "projects.json"
	largestProjects = 4 << 20 // bytes; more than a thousand projects need
)

// LocalProject is what was said on this machine about a project of the hub.
type LocalProject struct {
	Root       string   `json:"root"`                 // absolute
	AlsoInside []string `json:"alsoInside,omitempty"` // absolute folders that count as the root does
}

// LocalProjects are the projects that were added on this machine, by id. A server's word alone gives a project no
// folder here (protocol.md 12, `root`).
type LocalProjects map[string]LocalProject

// ReadLocalProjects reads them from folder, our config folder; there may be none. It fails with ProjectsFileInvalid.
func ReadLocalProjects(folder string) (LocalProjects, error) {
	path := filepath.Join(folder, projectsName)
	invalid := failure.New(failure.ProjectsFileInvalid, path)
	data, err := readAtMost(path, largestProjects)
	if errors.Is(err, fs.ErrNotExist) {
		return LocalProjects{}, nil
	}
	if err != nil {
		return nil, invalid.Because("the file can't be read: %v", err).Wrap(err)
	}
	var in struct {
		Projects LocalProjects `json:"projects"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, invalid.Wrap(err)
	}
	for id, p := range in.Projects {
		for _, dir := range append(slices.Clone(p.AlsoInside), p.Root) {
			if !filepath.IsAbs(dir) {
				return nil, invalid.Because("project %q names %q, which is not an absolute folder", id, dir)
			}
		}
	}
	if in.Projects == nil {
		in.Projects = LocalProjects{}
	}
	return in.Projects, nil
}

// Write replaces what folder has.
func (p LocalProjects) Write(folder string) error {
	data, err := json.MarshalIndent(map[string]LocalProjects{"projects": p}, "", "  ")
	if err != nil {
		return err
	}
	return settings.WriteFile(filepath.Join(folder, projectsName), append(data, '\n'))
}

// IDs lists the projects in order.
func (p LocalProjects) IDs() []string { return slices.Sorted(maps.Keys(p)) }

// Confirm says whether this machine names the same folder for the project as the server does. It fails with
// RootNotConfirmedHere.
func (p LocalProjects) Confirm(id, root string) error {
	here, known := p[id]
	f := failure.New(failure.RootNotConfirmedHere, root+" (project "+id+")")
	switch {
	case !known:
		return f
	case filepath.Clean(here.Root) != filepath.Clean(root) || !filepath.IsAbs(root):
		return f.Because("the server names this folder, and the project was added here with %s", here.Root)
	}
	return nil
}
