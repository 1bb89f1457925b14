package git

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// scp is an address in ssh's short form, user@host:path.
var scp = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*@[A-Za-z0-9\[][A-Za-z0-9.:\[\]-]*:[^:]`)

func isSCP(address string) bool { return scp.MatchString(address) && !strings.Contains(address, "://") }

// likeToken is the length in bytes from which a user name counts as a secret: some hosts take a token in its place.
const likeToken = 20

// admit checks the address of a clone by its text, and gives its host.
func (g Git) admit(address string) (host string, err error) {
	refused := func(cause string) *failure.Failure {
		return failure.New(failure.CloneURLRefused, Shown(address)).Because("%s", cause)
	}
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f }) || strings.HasPrefix(address, "-") {
		return "", refused("it holds a space or a control character, or begins with a dash")
	}
	if isSCP(address) {
		if !slices.Contains(g.protocols(), "ssh") {
			return "", failure.New(failure.GitProtocolRefused, Shown(address))
		}
		return "", nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return "", refused("it is no address of a repository")
	}
	if _, password := u.User.Password(); password || u.Scheme != "ssh" && len(u.User.Username()) >= likeToken {
		return "", refused("it holds a password or a token, which would stay in the repository's configuration").
			Then("send the credential beside the address")
	}
	if strings.Contains(u.Scheme, "::") || strings.Contains(address, "::") {
		return "", refused("it names a program to be run")
	}
	if !slices.Contains(g.protocols(), u.Scheme) {
		return "", failure.New(failure.GitProtocolRefused, Shown(address))
	}
	if u.Scheme != "file" && (u.Host == "" || strings.HasPrefix(u.Host, "-")) {
		return "", refused("it names no host")
	}
	if u.Scheme == "https" {
		return u.Host, nil
	}
	return "", nil
}

// Shown is an address as it may be kept and shown: without what stands before its host, where a password or a token may
// be. The user name of ssh's short form stays. Of what is no address all before the last @ goes.
func Shown(address string) string {
	if address == "" {
		return "an empty address"
	}
	if isSCP(address) || !strings.Contains(address, "@") {
		return visible(address)
	}
	before, rest, found := strings.Cut(address, "://")
	if !found {
		before, rest = "", address
	}
	authority := rest
	if u, err := url.Parse(address); err == nil && u.Opaque == "" && found {
		if end := strings.IndexAny(rest, "/?#"); end >= 0 {
			authority = rest[:end]
		}
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		rest = "…" + rest[i:]
	}
	if found {
		rest = before + "://" + rest
	}
	return visible(rest)
}
