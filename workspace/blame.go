package workspace

import (
	"errors"
	"fmt"
	"io/fs"
)

// causeOf puts into plain words why the system refused something at the existing folder at.
func causeOf(err error, at string) string {
	if text := systemCause(err, at); text != "" {
		return text
	}
	if errors.Is(err, fs.ErrPermission) {
		return ownership(at)
	}
	return fmt.Sprintf("the system says at %s: %v", at, err)
}

// remedy is the next step that fits err.
func remedy(err error, at string) string {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Sprintf("give this user the right to write in %s, or choose a folder of its own", at)
	}
	return "choose another folder, or correct what is in the way"
}
