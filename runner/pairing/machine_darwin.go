package pairing

import "golang.org/x/sys/unix"

// systemID is the UUID of the hardware.
func systemID() string {
	id, err := unix.Sysctl("kern.uuid")
	if err != nil {
		return ""
	}
	return id
}
