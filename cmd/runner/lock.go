package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"brabo.dev/runner/runner/machinepolicy"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/policy"
	"brabo.dev/runner/runner/settings"
)

// machinePolicy are the files of the second lock.
func (h host) machinePolicy() *machinepolicy.Files {
	return &machinepolicy.Files{
		Own:     filepath.Join(h.sources.Folders().Config, machinepolicy.FileName),
		Managed: machinepolicy.ManagedFile(os.Getenv("ProgramData")),
	}
}

// steering are the commands of this program that decide about what runs, or let somebody decide: no action may call
// them, whoever approved it.
var steering = [...]string{
	"agent", "approve", "autonomy", "cancel", "config", "confirm", "credential", "deny", "device-key", "down", "git-credential", "hub", "login",
	"logout", "member", "policy", "project", "run", "service", "terminal", "up",
}

// protected is what belongs to this program: its commands, its folders, and the key files of the existing client
// (protocol.md 2.1).
func protected(src settings.Sources) policy.Protected {
	folders := src.Folders()
	brabo := filepath.Join(filepath.Dir(folders.Config), "brabo")
	p := policy.Protected{
		Programs: []string{"runner"}, Commands: steering[:],
		Folders: append(folders.Ours(), folders.Runtime, brabo),
		Files:   []string{pairing.DeviceKeyName, pairing.PartialDeviceKeyName, "brabo-runner-kit.json"},
		Variables: map[string]string{
			"HOME": folders.Home, "XDG_CONFIG_HOME": filepath.Dir(folders.Config), "XDG_STATE_HOME": filepath.Dir(folders.State),
			"XDG_DATA_HOME": filepath.Dir(folders.Data), "XDG_RUNTIME_DIR": filepath.Dir(folders.Runtime),
		},
	}
	if binary, err := os.Executable(); err == nil {
		if name := filepath.Base(binary); !slices.Contains(p.Programs, name) {
			p.Programs = append(p.Programs, name)
		}
	}
	if runtime.GOOS == "windows" { // where the shell writes them with slashes
		for i, f := range p.Folders {
			p.Folders[i] = strings.ReplaceAll(f, `\`, "/")
		}
	}
	// A folder that lies behind a link is named by both of its paths.
	for _, f := range slices.Clone(p.Folders) {
		if real, err := filepath.EvalSymlinks(f); err == nil && real != f {
			p.Folders = append(p.Folders, real)
		}
	}
	return p
}
