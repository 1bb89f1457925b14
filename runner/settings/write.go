package settings

import (
	"fmt"
	"os"
	"path/filepath"
)

// Modes of what we write: nobody but the user may look.
const (
	fileMode   = 0o600
	folderMode = 0o700
)

// WriteFile replaces the file at path with data, whole or not at all, and makes the folders above it where they are
// missing. The file is readable by this user alone; a link of that name is replaced, not followed. When WriteFile
// returns, the file survives a loss of power.
func WriteFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return fmt.Errorf("making the folder of %s: %w", path, err)
	}
	if err := replace(path, data); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
