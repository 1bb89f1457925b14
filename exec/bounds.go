package exec

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Bounds hold what a command or a terminal starts, and all that it starts in turn, inside. The zero value bounds nothing
// and costs nothing. A process can't be widened again, so bounds are put on by a small program between: this program
// itself, which restricts itself and then becomes the shell, see Become.
type Bounds struct {
	Confine *Confine // nil: not confined
	Limits  Limits
	Cgroup  *Cgroup  // where the kernel keeps the limits of commands as a whole; nil: Run counts
	Helper  []string // the words that start this program so that it calls Become with the rest of them

	by time.Time // when they have to be on, of a command that has a deadline
}

// Confine is what of the machine a command may use. On Linux alone, with Landlock (kernel 6.2 or later) and seccomp;
// elsewhere, and where the kernel can't, nothing runs: confinement_unavailable.
//
// Beside its folders a command may read the system's (/usr, /etc, /opt, /proc, /sys and their like) and use /dev/null,
// zero, full, random, urandom and tty. /tmp is out of reach: TMPDIR names a new folder, which is removed at the end. It
// can't signal or trace processes outside (signals: from kernel 6.12 on), gain privileges (sudo), mount, or make
// sockets of this machine (AF_UNIX), through which daemons would act for it; pairs of them it can. What Landlock does
// not govern stays possible: to see that a path exists, and to change mode, owner and times of the user's own files.
type Confine struct {
	// Read and Write are absolute folders or files, in which it may read and run, or also write. What is not there is left
	// out. What lies in a folder of Write is left out too: who writes there could make it lead elsewhere.
	Read, Write []string
	// Out are folders that it must never reach: where another one is, holds or lies in one, nothing runs.
	Out     []string
	Network bool // whether it may make sockets of the network, this machine's own included
}

func (b Bounds) empty() bool { return b.Confine == nil && b.Limits.ofProcess() == Limits{} }

// order is what the program between is told, as JSON in its arguments.
type order struct {
	Confined    bool     `json:"confined,omitempty"`
	Read, Write []string `json:",omitempty"`
	Network     bool     `json:",omitempty"`
	Limits      Limits
}

// systemFolders can be read, and run from, by every confined command; /proc shows of other processes only what everybody
// may see.
func systemFolders() []string {
	return []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/snap", "/proc", "/sys",
		"/run/current-system", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf",
	}
}

// scratchPrefix begins the names of folders for temporary files of commands with a mark.
func scratchPrefix(mark string) string {
	const prefix = "runner-command-"
	if mark == "" {
		return prefix
	}
	sum := sha256.Sum256([]byte(mark))
	return prefix + hex.EncodeToString(sum[:8]) + "-"
}

// prepare turns the bounds into an order and, for a confined command, makes the folder for temporary files.
func (b Bounds) prepare(mark string) (o order, scratch string, err error) {
	o.Limits = b.Limits.ofProcess()
	if b.Confine == nil {
		return o, "", nil
	}
	if _, err := Confinement(); err != nil {
		return o, "", err
	}
	o.Confined, o.Network = true, b.Confine.Network
	if o.Read, o.Write, err = b.Confine.reach(); err != nil {
		return o, "", err
	}
	if scratch, err = os.MkdirTemp("", scratchPrefix(mark)+"*"); err != nil {
		return o, "", failure.New(failure.CouldNotStart, os.TempDir()).Because("there can be no folder for temporary files").Wrap(err)
	}
	o.Write = append(o.Write, scratch)
	return o, scratch, nil
}

// removeScratch removes the folder for temporary files, also where its command took its own rights away in it.
func removeScratch(scratch string) {
	if scratch == "" || os.RemoveAll(scratch) == nil {
		return
	}
	root, err := os.OpenRoot(scratch)
	if err != nil {
		return
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = root.Chmod(path, 0o700) // what can't be removed is left to the system, which cleans up there
		}
		return nil
	})
	_ = os.RemoveAll(scratch)
}

// reach is what may be read and written, with all links followed. A path that leads through what a command may write is
// left out, by whatever spelling or link it gets there: the command could make it lead elsewhere. The first of Write is
// the project, by which the others are measured.
func (c *Confine) reach() (read, write []string, err error) {
	var writable []trail
	for _, t := range follow(c.Write) {
		if !t.leadsThrough(writable) {
			writable = append(writable, t)
		}
	}
	for _, t := range writable { // now against those behind it, too
		if !t.leadsThrough(writable) {
			write = append(write, t.real())
		}
	}
	for _, t := range follow(append(systemFolders(), c.Read...)) {
		if !t.leadsThrough(writable) && !slices.Contains(read, t.real()) {
			read = append(read, t.real())
		}
	}
	return read, write, c.keepOut(append(follow(c.Read), follow(c.Write)...))
}

// keepOut refuses what would open one of Out.
func (c *Confine) keepOut(trails []trail) error {
	for _, t := range trails {
		for _, out := range c.Out {
			followed := out
			if f, err := filepath.EvalSymlinks(out); err == nil {
				followed = f
			}
			if inFolder(t.real(), followed) || inFolder(followed, t.real()) {
				return failure.New(failure.ConfinementOpensRunner, t.listed).
					Because("it is, holds or lies in %s, which no confined command may reach", out)
			}
		}
	}
	return nil
}

// trail is the way from a listed path to what it means: every place that was passed, links included, none of them behind
// a link. The last one is what it means.
type trail struct {
	listed string
	passed []string
}

func (t trail) real() string { return t.passed[len(t.passed)-1] }

// leadsThrough reports whether the way passes what lies in one of folders. A folder itself can't be replaced by who
// writes into it.
func (t trail) leadsThrough(folders []trail) bool {
	return slices.ContainsFunc(folders, func(folder trail) bool {
		return slices.ContainsFunc(t.passed, func(place string) bool {
			return place != folder.real() && inFolder(place, folder.real())
		})
	})
}

// mostLinks is how many links a way may have, as in the kernel.
const mostLinks = 40

// follow gives the ways of those paths that lead to something, each of which is there.
func follow(paths []string) []trail {
	var all []trail
	for _, path := range paths {
		if passed, ok := way(path); ok {
			all = append(all, trail{path, passed})
		}
	}
	return all
}

// way follows an absolute path step by step.
func way(path string) (passed []string, ok bool) {
	const root = string(filepath.Separator)
	if !filepath.IsAbs(path) {
		return nil, false
	}
	rest, at, links := strings.Split(path, root), root, 0
	passed = []string{root}
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			passed = append(passed, at)
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		if err != nil {
			return nil, false
		}
		passed = append(passed, next)
		if info.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > mostLinks {
			return nil, false
		}
		if filepath.IsAbs(target) {
			at = root
		}
		rest = append(strings.Split(target, root), rest...)
	}
	return append(passed, at), true
}

// inFolder: path is folder or lies below it.
func inFolder(path, folder string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rest)
}

// withTemporary is env with the names of the folder for temporary files.
func withTemporary(env []string, scratch string) []string {
	if scratch == "" {
		return env
	}
	all := make([]string, 0, len(env)+1)
	for _, pair := range env {
		if !strings.HasPrefix(pair, "TMPDIR=") && !strings.HasPrefix(pair, "TMP=") && !strings.HasPrefix(pair, "TEMP=") {
			all = append(all, pair)
		}
	}
	return append(all, "TMPDIR="+scratch)
}
