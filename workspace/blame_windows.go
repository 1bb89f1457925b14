package workspace

import (
	"errors"
	"fmt"
	"os/user"

	"golang.org/x/sys/windows"
)

// syncUnsupported are the answers of file systems that can't flush.
var syncUnsupported = []error{windows.ERROR_NOT_SUPPORTED, windows.ERROR_INVALID_FUNCTION}

// outOfSpace reports whether err means that nothing more fits.
func outOfSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// systemCause explains the errors that are not about rights.
func systemCause(err error, at string) string {
	switch {
	case outOfSpace(err):
		return "there is no space left on the disk that holds " + at
	case errors.Is(err, windows.ERROR_WRITE_PROTECT):
		return "the disk that holds " + at + " is write-protected"
	case errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE), errors.Is(err, windows.ERROR_INVALID_NAME):
		return "a part of the path is longer than the file system takes, or has characters that it does not take"
	}
	return ""
}

// ownership compares the owner of the folder at with who we are.
func ownership(at string) string {
	who := "this user"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	sd, err := windows.GetNamedSecurityInfo(at, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Sprintf("the access list of %s gives %s no right to write", at, who)
	}
	owner := "another user"
	if sid, _, err := sd.Owner(); err == nil {
		if name, domain, _, err := sid.LookupAccount(""); err == nil {
			owner = domain + `\` + name
		}
	}
	return fmt.Sprintf("%s belongs to %s, and its access list gives %s no right to write", at, owner, who)
}
