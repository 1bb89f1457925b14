package git

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// The variables in which a credential travels (protocol.md 12, Git).
const (
	UsernameVariable = "BRABO_GIT_USERNAME"
	TokenVariable    = "BRABO_GIT_TOKEN"
	HostVariable     = "BRABO_GIT_HOST"
)

// Credential is for one host. Its token is a secret.
type Credential struct {
	Username, Token string
	Host            string // with its port, where that is not 443; empty: for none
}

// CredentialOf takes a credential from an action's env.
func CredentialOf(env map[string]string) Credential {
	return Credential{env[UsernameVariable], env[TokenVariable], env[HostVariable]}
}

// with gives the settings and variables by which git asks our helper, and no other, for a credential. Where there is
// none, the person's own helpers count.
func (g Git) with(c Credential) (args, env []string) {
	if c.Token == "" || len(g.Helper) == 0 {
		return nil, nil
	}
	words := make([]string, len(g.Helper))
	for i, word := range g.Helper { // git hands them to a shell
		words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return []string{"-c", "credential.helper=", "-c", "credential.helper=!" + strings.Join(words, " ")},
		[]string{UsernameVariable + "=" + c.Username, TokenVariable + "=" + c.Token, HostVariable + "=" + c.Host}
}

// questionMost bounds a question of git's, in bytes.
const questionMost = 64 << 10

// Answer is the whole of the credential helper: operation is what git adds to its words, in its question. To a `get`
// for https and the credential's own host it answers with the credential, which environ holds, and to everything else
// with nothing. What git asks with is the address that it is about to talk to, after all rewriting.
func Answer(operation string, in io.Reader, out io.Writer, environ []string) error {
	if operation != "get" {
		return nil
	}
	asked := map[string]string{}
	for s := bufio.NewScanner(io.LimitReader(in, questionMost)); s.Scan() && s.Text() != ""; {
		name, value, _ := strings.Cut(s.Text(), "=")
		asked[name] = value
	}
	env := map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	c := CredentialOf(env)
	if asked["protocol"] != "https" || c.Token == "" || c.Host == "" || bareHost(asked["host"]) != bareHost(c.Host) {
		return nil
	}
	if c.Username == "" {
		c.Username = asked["username"]
	}
	if c.Username == "" {
		c.Username = "x-access-token" // the token says who it is for
	}
	if strings.ContainsAny(c.Username+c.Token, "\n\r\x00") {
		return nil
	}
	_, err := fmt.Fprintf(out, "username=%s\npassword=%s\n", c.Username, c.Token)
	return err
}

// bareHost is a host as two of them are compared: https's own port goes without saying.
func bareHost(host string) string { return strings.TrimSuffix(strings.ToLower(host), ":443") }
