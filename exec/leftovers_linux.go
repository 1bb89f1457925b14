package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// leftoverGrace is between TERM and KILL: nobody waits for what these processes would still say.
const leftoverGrace = 500 * time.Millisecond

// leftover names a command of a daemon that died: the boot, the shell and when it started, and the mark in the
// environment of all that it started.
type leftover struct {
	boot  string
	shell int
	start uint64
	mark  string
}

// identity is what Command.Started is told, for EndLeftovers of a later daemon.
func (f *family) identity() string {
	id := Identity(f.proc.Pid)
	if id == "" {
		return ""
	}
	return id + ":" + f.mark
}

// EndLeftovers ends what a command of an earlier daemon left running when that daemon was killed, and returns when it
// is gone or ctx ends. pid and identity are what Command.Started was told. Nothing is ended by its number alone: of
// another boot nothing is, and of this one only what lies in the command's session or carries its mark. It returns how
// many processes were ended; those of another user are none of them. The command's folder for temporary files goes, too.
// Where the system can't tell whose a process is, which is everywhere but on Linux, it ends nothing and says so.
func EndLeftovers(ctx context.Context, pid int, identity string) (ended int, err error) {
	l, err := parseLeftover(pid, identity)
	if err != nil {
		return 0, err
	}
	if l.boot != bootID() {
		l.tidy()
		return 0, nil
	}
	return l.end(ctx)
}

// EndMarked is EndLeftovers for a command of which no more is known than its mark, see Command.Mark. Processes that
// took the mark out of their environment are not found.
func EndMarked(ctx context.Context, mark string) (ended int, err error) {
	if mark == "" {
		return 0, errors.New("an empty mark is nobody's")
	}
	return leftover{mark: mark}.end(ctx)
}

// tidy removes the folder for temporary files of a command that was confined, where TMPDIR is as it was. In a folder that
// everybody may write in, only what is this user's own is removed.
func (l leftover) tidy() {
	entries, _ := os.ReadDir(os.TempDir())
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.IsDir() || !strings.HasPrefix(entry.Name(), scratchPrefix(l.mark)) {
			continue
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) == os.Geteuid() {
			removeScratch(filepath.Join(os.TempDir(), entry.Name()))
		}
	}
}

// end ends what is left, and removes its folder for temporary files.
func (l leftover) end(ctx context.Context) (ended int, err error) {
	defer l.tidy()
	seen := map[int]bool{}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for signal, begun := unix.SIGTERM, time.Now(); ; {
		left, blank := l.processes()
		// One that is just becoming another program shows no environment for a moment, and may be the command's.
		if len(left) == 0 && (!blank || time.Since(begun) > execTime) {
			return len(seen), nil
		}
		for _, p := range left {
			seen[p.pid] = true
			// An error means that it is gone, or another user's; both show at the next look.
			_ = unix.Kill(p.pid, signal)
			_ = unix.Kill(p.pid, unix.SIGCONT)
		}
		if time.Since(begun) > leftoverGrace {
			signal = unix.SIGKILL
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return len(seen), fmt.Errorf("ending %d processes of an earlier command: %w", len(left), ctx.Err())
		}
	}
}

func parseLeftover(pid int, identity string) (leftover, error) {
	parts := strings.Split(identity, ":")
	if len(parts) != 3 || pid <= 1 || parts[2] == "" {
		return leftover{}, fmt.Errorf("%q does not tell whose process %d is", identity, pid)
	}
	start, err := strconv.ParseUint(parts[1], 10, 64)
	if err != nil {
		return leftover{}, fmt.Errorf("reading the start time in %q: %w", identity, err)
	}
	return leftover{parts[0], pid, start, parts[2]}, nil
}

func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// processes lists what of the command still runs, and tells whether there is a process of which it can't be said yet.
func (l leftover) processes() (found []process, blank bool) {
	shell, alive := readProcess(l.shell)
	reused := alive && shell.start != l.start
	entries, _ := os.ReadDir("/proc") // without /proc nothing can be told, and nothing is ended
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		p, ok := readProcess(pid)
		if !ok || p.zombie || p.start < l.start {
			continue
		}
		environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		switch {
		case l.shell != 0 && p.session == l.shell && !reused || err == nil && l.marks(environ):
			found = append(found, p)
		case err == nil && len(environ) == 0:
			blank = true
		}
	}
	return found, blank
}

// marks reports whether an environment carries the command's mark.
func (l leftover) marks(environ []byte) bool {
	return bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+markName+"="+l.mark+"\x00"))
}
