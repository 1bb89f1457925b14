package machinepolicy

import (
	"path/filepath"
	"runtime"
)

// ManagedFile is the file of the whole machine; programData is the value of that variable, for Windows.
func ManagedFile(programData string) string {
	switch runtime.GOOS {
	case "windows":
		if programData == "" {
			return ""
		}
		return filepath.Join(programData, "runner", FileName)
	case "darwin":
		return "/Library/Application Support/runner/" + FileName
	}
	return "/etc/runner/" + FileName
}
