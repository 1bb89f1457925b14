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

func isSCP(address string) bool {
	return scp.MatchString(address) && !strings.Contains(address, "://") && strings.Count(address, "@") == 1
}

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
	if strings.ContainsAny(address, "?#") {
		return "", refused("it has a query or a fragment, where tokens stand, and it would stay in the repository's configuration").
			Then("send the credential beside the address")
	}
	if i := strings.LastIndexByte(address, '@'); i >= 0 && strings.Contains(address[strings.Index(address, "://")+3:i], "/") {
		return "", refused("it has an @ behind its host: what stands before it may be the rest of a password with a slash in it").
			Then("send the credential beside the address; an @ of the path is written %%40")
	}
	if strings.Count(address, "@") > 1 {
		return "", refused("it has more than one @, and programs differ in where its host begins").
			Then("write the @ of a user name as %%40")
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

// plainScheme is the protocol of an address, which holds no secret.
var plainScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]{0,15}$`)

// Shown is an address as it may be kept and shown: without what a password or a token may be in, which is all before the
// last @, the query and the fragment, and, of what is no address, everything. The user name of ssh's short form stays.
func Shown(address string) string {
	if address == "" {
		return "an empty address"
	}
	if isSCP(address) {
		return visible(address)
	}
	u, err := url.Parse(address)
	before, rest, found := strings.Cut(address, "://")
	if found = found && plainScheme.MatchString(before); found {
		before += "://"
	} else {
		before, rest = "", address
	}
	at, tail := strings.LastIndexByte(rest, '@'), strings.IndexAny(rest, "?#")
	switch {
	case tail >= 0 && tail < at, // which of the two it is nobody can say
		at < 0 && (err != nil || u.Opaque != ""):
		return visible(before + "…")
	case at >= 0:
		if tail >= 0 {
			rest = rest[:tail] + "…"
		}
		rest = "…" + rest[at:]
	case tail >= 0:
		rest = rest[:tail] + "…"
	}
	return visible(before + rest)
}
