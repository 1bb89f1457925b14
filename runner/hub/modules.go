package hub

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"brabo.dev/runner/runner/failure"
)

// ModulesFile lies beside the project's permissions.json and says what each module needs.
const ModulesFile = "modules.json"

// maxModules bounds the file in bytes; a module map has a few lines.
const maxModules = 1 << 20

// Resources are what a project's container may use.
type Resources struct {
	CPUs      float64 `json:"cpus"`
	MemoryMiB float64 `json:"memoriaMb"`
	Pids      int64   `json:"pidsLimit"`
}

// defaultResources are what a project gets while a module says nothing about itself.
func defaultResources() Resources { return Resources{CPUs: 1, MemoryMiB: 1024, Pids: 256} }

// Module is one row of the module map. Nil: the module declares nothing.
type Module struct {
	Name      string   `json:"name"`
	CPUs      *float64 `json:"cpus"`
	MemoryMiB *float64 `json:"memoriaMb"`
	Pids      *int64   `json:"pidsLimit"`
}

// LoadModules reads the module map in root. A missing file is an empty map. It fails with ModulesFileInvalid.
func LoadModules(root string) ([]Module, error) {
	path := filepath.Join(root, ModulesFile)
	invalid := func(format string, args ...any) error {
		return failure.New(failure.ModulesFileInvalid, path).Because(format, args...)
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, invalid("it can't be read: %v", err)
	case !info.Mode().IsRegular():
		return nil, invalid("it is no regular file")
	case info.Size() > maxModules:
		return nil, invalid("it has %d bytes, more than %d", info.Size(), maxModules)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, invalid("it can't be read: %v", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	var modules []Module
	if err := dec.Decode(&modules); err != nil {
		return nil, invalid("it is no list of modules: %v", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, invalid("something follows the list")
	}
	for i, m := range modules {
		if m.Name == "" || m.CPUs != nil && !(*m.CPUs > 0) || m.MemoryMiB != nil && !(*m.MemoryMiB > 0) || m.Pids != nil && *m.Pids <= 0 {
			return nil, invalid("module %d lacks a name, or has a number that is not above 0", i+1)
		}
	}
	return modules, nil
}

// Minimum is what the modules need together: the sum of what they declare, and no less than the default as long as one
// of them declares nothing.
func Minimum(modules []Module) Resources {
	var sum Resources
	silent := struct{ cpus, memory, pids bool }{len(modules) == 0, len(modules) == 0, len(modules) == 0}
	for _, m := range modules {
		sum.CPUs += value(m.CPUs, &silent.cpus)
		sum.MemoryMiB += value(m.MemoryMiB, &silent.memory)
		sum.Pids += value(m.Pids, &silent.pids)
	}
	floor := defaultResources()
	if silent.cpus {
		sum.CPUs = max(sum.CPUs, floor.CPUs)
	}
	if silent.memory {
		sum.MemoryMiB = max(sum.MemoryMiB, floor.MemoryMiB)
	}
	if silent.pids {
		sum.Pids = max(sum.Pids, floor.Pids)
	}
	return sum
}

func value[T int64 | float64](declared *T, silent *bool) T {
	if declared == nil {
		*silent = true
		return 0
	}
	return *declared
}

// ContainerSpec is what a proposal says about a container (protocol.md 4.4). Nil resources become the minimum of the
// module map.
type ContainerSpec struct {
	Image        string          `json:"imagem"`
	ImageVersion json.RawMessage `json:"imagemVersao,omitempty"`
	Network      string          `json:"rede,omitempty"` // none is the default
	CPUs         *float64        `json:"cpus,omitempty"`
	MemoryMiB    *float64        `json:"memoriaMb,omitempty"`
	Pids         *int64          `json:"pidsLimit,omitempty"`
	User         json.RawMessage `json:"usuario,omitempty"`
}

// specMessage is the spec as it is sent.
type specMessage struct {
	WorkspaceDirName string          `json:"workspaceDirName"`
	ProjectID        string          `json:"projectId"`
	ProjectSlug      string          `json:"projectSlug"`
	WorkspaceID      string          `json:"workspaceId"`
	Image            string          `json:"imagem"`
	ImageVersion     json.RawMessage `json:"imagemVersao"`
	Network          string          `json:"rede"`
	User             json.RawMessage `json:"usuario,omitempty"`
	Resources
}

// specFor completes a proposal's spec for project, whose module map lies in root. A value below the minimum is
// ResourcesBelowMinimum; what is above a ceiling is the daemon's to refuse.
func specFor(p Project, root string, c ContainerSpec) (specMessage, error) {
	modules, err := LoadModules(root)
	if err != nil {
		return specMessage{}, err
	}
	m := specMessage{
		WorkspaceDirName: p.DirName, ProjectID: p.ID, ProjectSlug: slug(p.Name, p.ID), WorkspaceID: workspaceID,
		Image: c.Image, ImageVersion: c.ImageVersion, Network: c.Network, User: c.User, Resources: Minimum(modules),
	}
	if len(m.ImageVersion) == 0 {
		m.ImageVersion = json.RawMessage(`"1"`)
	}
	if m.Network == "" {
		m.Network = "none"
	}
	if err := raise(&m.CPUs, c.CPUs, "cpus"); err != nil {
		return specMessage{}, err
	}
	if err := raise(&m.MemoryMiB, c.MemoryMiB, "memoriaMb"); err != nil {
		return specMessage{}, err
	}
	return m, raise(&m.Pids, c.Pids, "pidsLimit")
}

// raise takes what was asked for in place of the minimum.
func raise[T int64 | float64](minimum *T, asked *T, field string) error {
	if asked == nil {
		return nil
	}
	if !(*asked >= *minimum) {
		return failure.New(failure.ResourcesBelowMinimum, "spec."+field).
			Because("%v is less than %v, which the modules of the project need together", *asked, *minimum)
	}
	*minimum = *asked
	return nil
}
