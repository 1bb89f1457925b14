package runner

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"brabo.dev/runner/runner/failure"
)

const spoolSuffix = ".out"

// spoolName names the file for an action's full output: refs are the server's own words and no file names.
func spoolName(project, ref string) string {
	sum := sha256.Sum256([]byte(project + "\x00" + ref))
	return hex.EncodeToString(sum[:16]) + spoolSuffix
}

// spool gives the name of the file for a command's full output, which stays until done is called: a file that was removed
// while it grows would take its room all the same.
func (m *Machine) spool(project, ref string) (name string, done func()) {
	name = spoolName(project, ref)
	return name, m.spooling.begin(name)
}

// growing are the names of full outputs whose commands run. The zero value has none.
type growing struct {
	mu    sync.Mutex // guards names
	names map[string]bool
}

// begin adds a name until done is called.
func (g *growing) begin(name string) (done func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.names == nil {
		g.names = map[string]bool{}
	}
	g.names[name] = true
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.names, name)
	}
}

// unless calls remove, during which name can't begin; false where it did before.
func (g *growing) unless(name string, remove func() error) (called bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.names[name] {
		return false, nil
	}
	return true, remove()
}

// trimSpool removes the oldest full outputs until the rest keeps to output.spool_total. What can't be removed stays until
// the next time, as does the file of a command that still runs.
func (m *Machine) trimSpool() {
	c := m.o.Commands
	if c.SpoolDir == "" || c.SpoolLimit <= 0 {
		return
	}
	m.trimming.Lock()
	defer m.trimming.Unlock()
	removed, err := trimSpool(c.SpoolDir, c.SpoolTotal, &m.spooling)
	if err != nil {
		m.o.Log.Warn("old full outputs could not be removed", "failure", failure.New(failure.SpoolFailed, c.SpoolDir).Wrap(err))
	}
	if removed > 0 {
		m.o.Log.Info("old full outputs were removed", "files", removed)
	}
}

// spooled is one full output.
type spooled struct {
	name string
	size int64
	last time.Time // it was written
}

// trimSpool removes full outputs below dir, oldest first, until at most total bytes are left; none of those in use.
func trimSpool(dir string, total int64, inUse *growing) (removed int, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("opening the folder of full outputs: %w", err)
	}
	defer root.Close()
	outputs, sum, err := listSpool(root)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, o := range outputs {
		if sum <= total {
			break
		}
		idle, err := inUse.unless(o.name, func() error { return root.Remove(o.name) })
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, err)
		case idle:
			sum -= o.size
			removed++
		}
	}
	return removed, errors.Join(errs...)
}

// listSpool lists the full outputs, oldest first, and gives the sum of their sizes. Other files are not ours to count.
func listSpool(root *os.Root) (outputs []spooled, sum int64, err error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, 0, fmt.Errorf("listing full outputs: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(e.Name(), spoolSuffix) {
			continue // it has gone, or is none
		}
		outputs = append(outputs, spooled{e.Name(), info.Size(), info.ModTime()})
		sum += info.Size()
	}
	slices.SortFunc(outputs, func(a, b spooled) int {
		return cmp.Or(a.last.Compare(b.last), strings.Compare(a.name, b.name))
	})
	return outputs, sum, nil
}
