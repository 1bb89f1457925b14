package service

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// captured are the variables that a service keeps from the shell that installs it: where programs and our own folders
// are, the language, the way to the network and to the container engine. A service sees no others of a shell's.
var captured = []string{
	"PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
	"LANG", "LC_ALL", "LC_CTYPE", "TZ",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT",
}

// Capture is the environment that a service keeps from a shell.
type Capture struct {
	Values map[string]string
	// Left names the variables that were not taken although they were asked for or are usually taken, each with its
	// reason.
	Left []*failure.Failure
}

// secretName is how variables are called that hold secrets. The boundary keeps KEYBOARD and the like.
var secretName = regexp.MustCompile(`(?i)(^|_)(token|secret|passw(or)?d|passphrase|credentials?|(api|access|private|secret|auth)_?key)(_|$)|^BRABO_ACCOUNT_TOKEN$`)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// CaptureEnvironment takes the usual variables and those called chosen out of environ. What holds a secret, by its
// name or as a password in a URL, is left out and named: a unit is no place for it.
func CaptureEnvironment(environ []string, chosen []string) Capture {
	c := Capture{Values: map[string]string{}}
	present := map[string]string{}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			present[name] = value
		}
	}
	for _, name := range slices.Concat(captured, chosen) {
		value, there := present[name]
		asked := slices.Contains(chosen, name)
		refuse := failure.New(failure.ServiceVariable, name)
		switch {
		case !variableName.MatchString(name):
			refuse.Because("this is no name of a variable").Then("check `--env`")
		case !there && asked:
			refuse.Because("the variable is not set here").Then("set it, or leave `--env %s` out", name)
		case !there || value == "" && !asked:
			continue
		case secretName.MatchString(name):
			refuse.Because("by its name the variable holds a secret, and a unit is a file that others may read or copy")
		case hasPassword(value):
			refuse.Because("the value is an address with a password in it").
				Then("give the address to the service with the setting `proxy`, whose file is private")
		case strings.ContainsFunc(value, control):
			refuse.Because("the value holds a line break or another control character").Then("leave it out, or set it in the setting `commands.environment`")
		default:
			c.Values[name] = value
			continue
		}
		c.Left = append(c.Left, refuse)
	}
	return c
}

func hasPassword(value string) bool {
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return false
	}
	_, set := u.User.Password()
	return set
}

func control(r rune) bool { return r < ' ' || r == 0x7f }
