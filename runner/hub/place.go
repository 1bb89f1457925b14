package hub

import (
	"path/filepath"
	"strings"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
	"brabo.dev/runner/workspace"
)

// Mode is a project's execution mode (policy.md section 1).
type Mode string

// The execution modes.
const (
	ModeMounted   Mode = "mounted"
	ModeRunner    Mode = "runner"
	ModeContainer Mode = "container"
)

func (m Mode) known() bool { return m == ModeMounted || m == ModeRunner || m == ModeContainer }

// Project is a project that the hub knows.
type Project struct {
	ID   string
	Name string
	Mode Mode
	Root string // absolute folder; empty in mode container, whose folder is the hub's own
	// DirName names the managed folder, and the container; frozen at creation.
	DirName    string
	AlsoInside []string // absolute folders that count as inside
}

func projectOf(row store.Project) Project {
	return Project{ID: row.ID, Name: row.Name, Mode: Mode(row.Mode), Root: row.Root, DirName: row.DirName, AlsoInside: row.AlsoInside}
}

// Place is where a project's rules lie and what they are compared with.
type Place struct {
	File string // the permissions.json
	Root string // the scope root
	// Relative is the mode and the root's name for the log, which every member reads.
	Relative string
}

// place derives both in one, so that policy is never read in one place and applied to another (policy.md sections 1
// and 9). A root that fails the rules for local roots is RootNotConfirmable or RootHoldsOurs.
func (h *Hub) place(p Project) (Place, error) {
	managed := ""
	if h.c.WorkspacesRoot != "" {
		managed = filepath.Join(h.c.WorkspacesRoot, p.DirName)
	}
	if p.Mode == ModeContainer {
		if managed == "" {
			return Place{}, failure.New(failure.SettingInvalid, "hub.workspaces_root").Because("a project of mode container needs a managed folder")
		}
		return Place{filepath.Join(managed, policy.FileName), managed, "container:" + p.DirName}, nil
	}
	if err := h.rootAllowed(p.Root); err != nil {
		return Place{}, err
	}
	at := Place{filepath.Join(p.Root, policy.FileName), p.Root, string(p.Mode) + ":" + h.relative(p.Root)}
	if p.Mode == ModeRunner {
		at.Relative = string(p.Mode) + ":" + p.DirName
		if managed != "" {
			at.File = filepath.Join(managed, policy.FileName)
		}
	}
	return at, nil
}

// relative names a mounted root by the part below the base, so that the log tells nobody about a home folder.
func (h *Hub) relative(root string) string {
	if rel, err := filepath.Rel(h.c.ProjectsBase, root); h.c.ProjectsBase != "" && err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.Base(root)
}

// rootAllowed is the predicate for local roots (policy.md section 9), by the text alone.
func (h *Hub) rootAllowed(root string) error {
	if filepath.Separator == '/' {
		if err := workspace.Confirmable(root); err != nil {
			return err
		}
	}
	if !filepath.IsAbs(root) || filepath.Clean(root) != strings.TrimRight(root, string(filepath.Separator)) {
		return failure.New(failure.RootNotConfirmable, root).Because("it is no absolute path without `.` and `..`")
	}
	for _, ours := range h.c.Ours {
		if within(root, ours) || within(ours, root) {
			return failure.New(failure.RootHoldsOurs, root).Because("it is, holds or lies in %s", ours)
		}
	}
	return nil
}

// within reports whether path is folder or lies below it, by the text.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
