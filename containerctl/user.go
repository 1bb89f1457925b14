package containerctl

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// imageUser is the value of container.user that means the image's own user.
const imageUser = "image"

// userFor decides who commands are inside, "" for the image's user: what the server sent, else container.user, else
// the owner of the project folder. All capabilities are dropped, so that an image's root could not write into a
// folder of somebody else; on a rootless engine that root is the person, and in a virtual machine the file sharing
// maps owners by itself.
func (e *Engine) userFor(s Spec, opts StartOptions) (string, error) {
	if s.User != nil {
		return fmt.Sprintf("%d:%d", s.User.UID, s.User.GID), nil
	}
	switch setting := strings.TrimSpace(opts.User); {
	case setting == imageUser:
		return "", nil
	case setting != "":
		return checkUser(setting)
	case e.facts.Rootless || e.facts.VM:
		return "", nil
	}
	info, err := os.Stat(opts.Root)
	if err != nil {
		return "", failure.New(failure.ContainerRoot, opts.Root).Because("its owner can't be read").Wrap(err)
	}
	uid, gid, ok := owner(info)
	if !ok || uid == 0 {
		return "", nil
	}
	return fmt.Sprintf("%d:%d", uid, gid), nil
}

// checkUser accepts uid:gid with both in the range of protocol.md 4.4.
func checkUser(s string) (string, error) {
	uid, gid, ok := strings.Cut(s, ":")
	for _, id := range []string{uid, gid} {
		if n, err := strconv.ParseInt(id, 10, 64); err != nil || n < 1 || n > maxID {
			ok = false
		}
	}
	if !ok {
		return "", failure.New(failure.SettingInvalid, "container.user").
			Because("%q is neither uid:gid, 1 to %d each, nor %q", s, maxID, imageUser)
	}
	return s, nil
}
