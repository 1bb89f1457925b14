package doctor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/journal"
	"brabo.dev/runner/runner/settings"
)

// State is what the daemon keeps and where it is installed.
type State struct {
	Folder  string // the state folder, which need not be there
	Reserve int64  // bytes that the journal wants to set aside
	// Journal looks into the journal that this process has open; nil: the file is read.
	Journal func() error
	Binary  string // our own executable
	Path    string // PATH, for others of our name
	// Units are installed services of the existing client, which would fight with ours.
	Units    []string
	Misspelt []settings.Misspelt
}

// diskRoom is how much room there should be beside the reserve.
const diskRoom = 64 << 20

// Checks are the disk, the journal, other installs and the variables.
func (s State) Checks() []Check {
	return []Check{{"disk", s.disk}, {"journal", s.journal}, {"installs", s.installs}, {"variables", s.variables}}
}

func (s State) disk(context.Context) (string, error) {
	at := nearestExisting(s.Folder)
	free, err := freeBytes(at)
	if err != nil {
		return "", Warning(failure.New(failure.DiskFull, at).Because("how much room there is can't be told: %v", err).Wrap(err))
	}
	text := fmt.Sprintf("%d MiB are free at %s", free>>20, at)
	switch {
	case free < uint64(s.Reserve):
		return "", failure.New(failure.DiskFull, at).Because("only %d MiB are free; without room for the journal no new work is taken", free>>20)
	case free < uint64(s.Reserve)+diskRoom:
		return "", Warning(failure.New(failure.DiskFull, at).Because("only %d MiB are free", free>>20))
	}
	return text, nil
}

// nearestExisting is the folder itself or what stands above it.
func nearestExisting(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func (s State) journal(context.Context) (string, error) {
	if s.Journal != nil {
		return "open in the daemon and in order", s.Journal()
	}
	if err := journal.Check(s.Folder); errors.Is(err, fs.ErrNotExist) {
		return "there is none yet", nil
	} else if err != nil {
		return "", err
	}
	return "in order", nil
}

// installs warns of other binaries of our name and of units of the existing client.
func (s State) installs(context.Context) (string, error) {
	if len(s.Units) > 0 {
		return "", failure.New(failure.DuplicateInstall, strings.Join(s.Units, ", ")).
			Because("a service of the existing client is installed; a server lets only one runner into a project").
			Then("remove it, or keep it off the projects that this daemon serves")
	}
	own, err := digest(s.Binary)
	if err != nil {
		return "", Warning(failure.New(failure.DuplicateInstall, s.Binary).Because("it can't be read: %v", err).Wrap(err))
	}
	for _, dir := range filepath.SplitList(s.Path) {
		other := filepath.Join(dir, filepath.Base(s.Binary))
		if sum, err := digest(other); err == nil && !bytes.Equal(sum, own) {
			return "", Warning(failure.New(failure.DuplicateInstall, other).Because("it is another version than %s, and which of them runs depends on PATH", s.Binary))
		}
	}
	return s.Binary, nil
}

// digest tells one binary from another.
func digest(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return nil, err
	}
	return sum.Sum(nil), nil
}

func (s State) variables(context.Context) (string, error) {
	if len(s.Misspelt) == 0 {
		return "none of ours is misspelt", nil
	}
	m := s.Misspelt[0]
	return "", Warning(failure.New(failure.SettingInvalid, m.Variable).
		Because("it means nothing here, and is a letter away from %s", m.Meant).Then("rename it, or take it away"))
}
