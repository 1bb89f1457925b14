//go:build unix

package settings

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

func replace(path string, data []byte) error {
	dir := filepath.Dir(path)
	err := renameio.WriteFile(path, data, fileMode, renameio.WithTempDir(dir), renameio.IgnoreUmask())
	if err != nil {
		return err
	}
	// The new name is on the disk only when the folder is.
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
