package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
)

// errHeld is what tryLock says of a lock that another process holds.
var errHeld = errors.New("held by another process")

// lockPatience is how long a lock that is held is tried again. A daemon that is killed while it starts a command leaves
// a child behind that shares the lock until it has become that command, which on a busy machine takes a moment.
const (
	lockPatience = 3 * time.Second
	lockPause    = 20 * time.Millisecond
)

// lockSoon locks f, or says errHeld when it stays held.
func lockSoon(f *os.File) error {
	for began := time.Now(); ; time.Sleep(lockPause) {
		if err := tryLock(f); !errors.Is(err, errHeld) || time.Since(began) > lockPatience {
			return err
		}
	}
}

// lockFolder takes the lock on folder for as long as the returned file is open. The system frees it when the process
// ends, however it ends, so that there is no stale lock; the file itself stays. Its content, the owner's process
// number, is for people only.
func lockFolder(folder string) (*os.File, error) {
	path := filepath.Join(folder, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, named(fmt.Errorf("opening the lock: %w", err), path)
	}
	if err := lockSoon(f); err != nil {
		owner, _ := io.ReadAll(io.LimitReader(f, 32))
		f.Close()
		if !errors.Is(err, errHeld) {
			return nil, failure.New(failure.JournalUnwritable, path).Because("it can't be locked: %v", err).Wrap(err)
		}
		fail := failure.New(failure.StateLocked, folder).Wrap(err)
		if pid := strings.TrimSpace(string(owner)); pid != "" {
			fail.Because("another runner uses this state folder: process %s", pid)
		}
		return nil, fail
	}
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt(fmt.Appendln(nil, os.Getpid()), 0) // a full disk is no reason not to hold the lock
	}
	return f, nil
}
