package exec

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// managerPatience bounds the wait for the service manager's word.
const managerPatience = 5 * time.Second

// marked tells whether systemd has put its mark of delegation on a cgroup. A manager of a user's of version 252 puts none
// on its units.
func marked(folder, name string) bool {
	value := make([]byte, 8)
	n, err := unix.Getxattr(folder, name, value)
	return err == nil && string(value[:n]) == "1"
}

// promised asks the manager whose unit a cgroup without a mark is; nil: it has delegated it.
func promised(folder string) error {
	unit := filepath.Base(folder)
	if suffix := filepath.Ext(unit); suffix != ".service" && suffix != ".scope" {
		return fmt.Errorf("this process's cgroup is not delegated to it: `%s` is no unit of systemd's", unit)
	}
	ctx, cancel := context.WithTimeout(context.Background(), managerPatience)
	defer cancel()
	answer, err := exec.CommandContext(ctx, "systemctl", ofManager(folder), "show", "--property=Delegate", "--", unit).Output()
	if err != nil {
		return fmt.Errorf("asking systemd whether `%s` is delegated: %w", unit, err)
	}
	if strings.TrimSpace(string(answer)) != "Delegate=yes" {
		return fmt.Errorf("this process's cgroup is not delegated to it: `%s` does not say Delegate=", unit)
	}
	return nil
}

// ofManager is systemctl's word for the manager in whose part of the hierarchy a cgroup is.
func ofManager(folder string) string {
	if strings.Contains(folder, "/user@") {
		return "--user"
	}
	return "--system"
}
