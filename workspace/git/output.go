package git

import (
	"fmt"
	"strings"
	"unicode"

	"brabo.dev/runner/runner/failure"
)

// text is stdout without the newline at its end.
func (o Output) text() string { return strings.TrimRight(string(o.Stdout), "\r\n") }

// wordsMost bounds what of git's own words stands in a failure, in bytes.
const wordsMost = 600

// words are git's own on stderr, as people may see them: the lines that say what went wrong where there are such, and
// no progress.
func (o Output) words() string {
	var all, errors []string
	for line := range strings.FieldsFuncSeq(string(o.Stderr), func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimSpace(visible(line))
		if line == "" || strings.HasPrefix(line, "hint:") {
			continue
		}
		all = append(all, line)
		if strings.HasPrefix(line, "fatal:") || strings.HasPrefix(line, "error:") || strings.HasPrefix(line, "remote:") {
			errors = append(errors, line)
		}
	}
	if len(errors) > 0 {
		all = errors
	}
	words := strings.Join(all, "; ")
	if words == "" {
		words = fmt.Sprintf("it ended with exit code %d and said nothing", o.Code)
	}
	if over := len(words) - wordsMost; over > 0 {
		words = "…" + strings.ToValidUTF8(words[over:], "")
	}
	return words
}

// visible makes control characters, and those that turn the direction of text, visible.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// signs are words of git's, or of what it talks to, by which a failure is known. The first that fits counts.
var signs = []struct {
	words string
	name  failure.Name
}{
	{"' not allowed", failure.GitProtocolRefused}, // transport 'file' not allowed
	{"Unable to find remote helper", failure.GitProtocolRefused},
	{"Authentication failed", failure.GitAuthFailed},
	{"could not read Username", failure.GitAuthFailed},
	{"could not read Password", failure.GitAuthFailed},
	{"returned error: 401", failure.GitAuthFailed},
	{"returned error: 403", failure.GitAuthFailed},
	{"Permission denied (", failure.GitAuthFailed}, // ssh
	{"Host key verification failed", failure.GitAuthFailed},
	{"' not found", failure.RemoteNotFound}, // repository 'https://…' not found
	{"Repository not found", failure.RemoteNotFound},
	{"does not appear to be a git repository", failure.RemoteNotFound},
	{"Could not resolve host", failure.RemoteUnreachable},
	{"unable to access", failure.RemoteUnreachable},
	{"Could not read from remote repository", failure.RemoteUnreachable},
	{"early EOF", failure.RemoteUnreachable},
	{"unexpected disconnect", failure.RemoteUnreachable},
	{"the remote end hung up", failure.RemoteUnreachable},
	{"Please tell me who you are", failure.GitIdentityMissing},
	{"empty ident name", failure.GitIdentityMissing},
	{"no email was given", failure.GitIdentityMissing},
	{"No space left on device", failure.DiskFull},
	{"Disk quota exceeded", failure.DiskFull},
}

// failure names what git refused, about subject.
func (o Output) failure(args []string, subject string) *failure.Failure {
	name := failure.GitFailed
	for _, s := range signs {
		if strings.Contains(string(o.Stderr), s.words) {
			name = s.name
			break
		}
	}
	return failure.New(name, subject).Because("%s says: %s", about(args), o.words()).
		Wrap(fmt.Errorf("%s: exit code %d", about(args), o.Code))
}

// without gives o with a secret made unreadable in its words, in case what git talks to says it back.
func (o Output) without(secret string) Output {
	if secret != "" {
		o.Stderr = []byte(strings.ReplaceAll(string(o.Stderr), secret, "[secret]"))
		o.Stdout = []byte(strings.ReplaceAll(string(o.Stdout), secret, "[secret]"))
	}
	return o
}
