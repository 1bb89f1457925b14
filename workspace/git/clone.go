package git

import (
	"context"
	"regexp"
	"strconv"
	"strings"
)

// Clone is a repository to be cloned.
type Clone struct {
	URL        string
	Credential Credential // for the URL's own host where it names none
	// Progress is told how far a stage is, as git says it; total may be 0. Nil: nobody is.
	Progress func(stage string, current, total int64)
}

// Init makes the folder at dir a repository.
//
// It fails with GitMissing, GitFailed, DiskFull, Cancelled or TimedOut.
func (g Git) Init(ctx context.Context, dir string) error {
	args := []string{"init", "--quiet"}
	out, err := g.run(ctx, call{dir: dir, args: args})
	if err == nil && out.Code != 0 {
		return out.failure(args, dir)
	}
	return err
}

// Clone clones into the empty folder at dir. Submodules are not cloned.
//
// It fails with CloneURLRefused, GitProtocolRefused, GitAuthFailed, RemoteNotFound, RemoteUnreachable, GitMissing,
// GitFailed, DiskFull, Cancelled or TimedOut. What is in the folder then is its caller's to remove.
func (g Git) Clone(ctx context.Context, dir string, c Clone) error {
	host, err := g.admit(c.URL)
	if err != nil {
		return err
	}
	if c.Credential.Host == "" {
		c.Credential.Host = host
	}
	args, env := g.with(c.Credential)
	args = append(args, "clone", "--progress", "--no-recurse-submodules", "--", c.URL, ".")
	run := call{dir: dir, args: args, env: env}
	if c.Progress != nil {
		run.lines = func(line string) {
			if stage, current, total, ok := progress(line); ok {
				c.Progress(stage, current, total)
			}
		}
	}
	out, err := g.run(ctx, run)
	if err == nil && out.Code != 0 {
		return out.without(c.Credential.Token).failure([]string{"clone"}, Shown(c.URL))
	}
	return err
}

// progressLine is one of `git clone --progress`: Receiving objects:  45% (450/1000), 1.2 MiB | 3.4 MiB/s
var progressLine = regexp.MustCompile(`^(?:remote: )?([A-Z][A-Za-z ]{2,40}):\s+\d{1,3}% \((\d{1,18})/(\d{1,18})\)`)

func progress(line string) (stage string, current, total int64, ok bool) {
	m := progressLine.FindStringSubmatch(line)
	if m == nil {
		return "", 0, 0, false
	}
	current, _ = strconv.ParseInt(m[2], 10, 64)
	total, _ = strconv.ParseInt(m[3], 10, 64)
	return strings.ToLower(m[1]), current, total, true
}
