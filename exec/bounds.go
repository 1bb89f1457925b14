package exec

import (
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
	Helper  []string // the words that start this program so that it calls Become with the rest of them
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

// Limits bound single processes, not on Windows. Zero is no limit, and core files are never written.
type Limits struct {
	CPU       time.Duration // of processor time, in whole seconds, rounded up; SIGXCPU beyond it, and a second later SIGKILL
	OpenFiles int64
	FileSize  int64 // bytes of one file; SIGXFSZ beyond it
}

func (b Bounds) empty() bool { return b.Confine == nil && b.Limits == Limits{} }

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

// prepare turns the bounds into an order and, for a confined command, makes the folder for temporary files.
func (b Bounds) prepare() (o order, scratch string, err error) {
	o.Limits = b.Limits
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
	if scratch, err = os.MkdirTemp("", "runner-command-"); err != nil {
		return o, "", failure.New(failure.CouldNotStart, os.TempDir()).Because("there can be no folder for temporary files").Wrap(err)
	}
	o.Write = append(o.Write, scratch)
	return o, scratch, nil
}

// removeScratch leaves what can't be removed to the system, which cleans up there.
func removeScratch(scratch string) {
	if scratch != "" {
		_ = os.RemoveAll(scratch)
	}
}

// reach is what may be read and written, with all links followed.
func (c *Confine) reach() (read, write []string, err error) {
	if write, err = c.real(outermost(c.Write, c.Write)); err != nil {
		return nil, nil, err
	}
	read, err = c.real(append(systemFolders(), outermost(c.Read, c.Write)...))
	return read, write, err
}

// outermost gives those of paths that don't lie in one of folders.
func outermost(paths, folders []string) []string {
	var all []string
	for _, path := range paths {
		inside := func(folder string) bool {
			return filepath.Clean(folder) != filepath.Clean(path) && inFolder(path, folder)
		}
		if !slices.ContainsFunc(folders, inside) {
			all = append(all, path)
		}
	}
	return all
}

// real follows the links of those that are there, and refuses what would open one of Out.
func (c *Confine) real(paths []string) ([]string, error) {
	var all []string
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || slices.Contains(all, real) {
			continue
		}
		for _, out := range c.Out {
			followed := out
			if f, err := filepath.EvalSymlinks(out); err == nil {
				followed = f
			}
			if inFolder(real, followed) || inFolder(followed, real) {
				return nil, failure.New(failure.ConfinementOpensRunner, path).
					Because("it is, holds or lies in %s, which no confined command may reach", out)
			}
		}
		all = append(all, real)
	}
	return all, nil
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
