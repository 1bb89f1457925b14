package exec

import (
	"os"
	"os/exec"
	"path/filepath"

	"brabo.dev/runner/runner/failure"
)

// systemShell is Git's bash. The bash.exe in System32 is not looked at: it belongs to the Linux subsystem, where the
// project's paths mean nothing.
func systemShell() (Shell, error) {
	paths := gitBashPaths()
	if path, ok := firstProgram(paths); ok {
		return bashShell(path), nil
	}
	return Shell{}, failure.New(failure.ShellMissing, "bash.exe of Git for Windows").
		Because("Git for Windows is in none of the usual folders, and Windows has no other shell that reads the approved text").
		Then("install Git for Windows, or set commands.shell, for instance to \"C:/Program Files/Git/bin/bash.exe\"")
}

func gitBashPaths() []string {
	var paths []string
	for _, root := range []string{"ProgramW6432", "ProgramFiles", "ProgramFiles(x86)"} {
		paths = append(paths, filepath.Join(os.Getenv(root), "Git", "bin", "bash.exe"))
	}
	paths = append(paths, filepath.Join(os.Getenv("LocalAppData"), "Programs", "Git", "bin", "bash.exe"))
	if git, err := exec.LookPath("git.exe"); err == nil { // <Git>\cmd\git.exe
		paths = append(paths, filepath.Join(filepath.Dir(filepath.Dir(git)), "bin", "bash.exe"))
	}
	return paths
}
