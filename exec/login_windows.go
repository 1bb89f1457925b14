package exec

import (
	"os"
	"path/filepath"

	"brabo.dev/runner/runner/failure"
)

// LoginShell gives the path of the shell that a person expects in a terminal: PowerShell, else the command processor.
func LoginShell([]string) (string, error) {
	system := filepath.Join(os.Getenv("SystemRoot"), "System32")
	paths := []string{filepath.Join(system, "WindowsPowerShell", "v1.0", "powershell.exe"), filepath.Join(system, "cmd.exe")}
	if path, ok := firstProgram(paths); ok {
		return path, nil
	}
	return "", failure.New(failure.ShellMissing, "powershell.exe, cmd.exe")
}
