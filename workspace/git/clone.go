package git

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"brabo.dev/runner/runner/failure"
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
		return out.without(c.Credential.Token).failure([]string{"clone"}, shownURL(c.URL))
	}
	return err
}

// scp is an address in ssh's short form, user@host:path.
var scp = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*@[A-Za-z0-9\[][A-Za-z0-9.:\[\]-]*:[^:]`)

// admit checks the address of a clone by its text, and gives its host.
func (g Git) admit(address string) (host string, err error) {
	refused := func(cause string) error {
		return failure.New(failure.CloneURLRefused, shownURL(address)).Because("%s", cause)
	}
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f }) || strings.HasPrefix(address, "-") {
		return "", refused("it holds a space or a control character, or begins with a dash")
	}
	if scp.MatchString(address) && !strings.Contains(address, "://") {
		if !slices.Contains(g.protocols(), "ssh") {
			return "", failure.New(failure.GitProtocolRefused, shownURL(address))
		}
		return "", nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return "", refused("it is no address of a repository")
	}
	if _, secret := u.User.Password(); secret {
		return "", refused("it holds a password, which would stay in the repository's configuration").(*failure.Failure).
			Then("send the credential beside the address")
	}
	if strings.Contains(u.Scheme, "::") || strings.Contains(address, "::") {
		return "", refused("it names a program to be run")
	}
	if !slices.Contains(g.protocols(), u.Scheme) {
		return "", failure.New(failure.GitProtocolRefused, shownURL(address))
	}
	if u.Scheme != "file" && (u.Host == "" || strings.HasPrefix(u.Host, "-")) {
		return "", refused("it names no host")
	}
	if u.Scheme == "https" {
		return u.Host, nil
	}
	return "", nil
}

// shownURL is an address as people may see it: without what stands before an @.
func shownURL(address string) string {
	if scheme, rest, found := strings.Cut(address, "://"); found {
		authority, path, _ := strings.Cut(rest, "/")
		if i := strings.LastIndexByte(authority, '@'); i >= 0 {
			address = scheme + "://…@" + authority[i+1:] + "/" + path
		}
	}
	if address == "" {
		return "an empty address"
	}
	return visible(address)
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
