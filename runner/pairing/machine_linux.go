package pairing

import (
	"os"
	"strings"
)

// systemID is the id that the installation made for itself (machine-id(5)).
func systemID() string {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		// Before the first boot is over the file says `uninitialized`.
		if data, err := os.ReadFile(path); err == nil && len(strings.TrimSpace(string(data))) == 32 {
			return strings.TrimSpace(string(data))
		}
	}
	return ""
}
