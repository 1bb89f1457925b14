package hub

import (
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"brabo.dev/runner/runner/hub/store"
)

// gitEnvironment is env with the workspace owner's credential for the remote of a git action, whoever decided about it
// (policy.md section 15). The daemon's helper gives it to that host alone.
func (h *Hub) gitEnvironment(p Project, proposed Proposal, env map[string]string) map[string]string {
	var credentials []store.GitCredential
	err := h.store.View(func(tx store.Tx) (err error) {
		credentials, err = tx.GitCredentials()
		return err
	})
	if err != nil {
		h.c.Log.Error("the git credentials can't be read", "error", err)
	}
	c := credentialFor(credentials, remoteHost(p.Root, proposed.known().Remote))
	if c == nil {
		return env
	}
	full := map[string]string{}
	maps.Copy(full, env)
	full["BRABO_GIT_HOST"], full["BRABO_GIT_USERNAME"], full["BRABO_GIT_TOKEN"] = c.Host, c.Username, c.Token
	return full
}

// credentialFor picks the host's, or the only one where the host is not known.
func credentialFor(all []store.GitCredential, host string) *store.GitCredential {
	for i := range all {
		if strings.EqualFold(all[i].Host, host) {
			return &all[i]
		}
	}
	if host == "" && len(all) == 1 {
		return &all[0]
	}
	return nil
}

var (
	remoteSection = regexp.MustCompile(`^\s*\[\s*remote\s+"([^"]*)"\s*\]`)
	anySection    = regexp.MustCompile(`^\s*\[`)
	urlLine       = regexp.MustCompile(`(?i)^\s*url\s*=\s*"?([^"\s]+)"?\s*$`)
)

// remoteHost is the host of a remote: of its address, or of the one that the repository in root gives it. It is a
// guess by which the credential is picked, not a check: the daemon's helper looks at the address that git really uses.
// Empty: not known.
func remoteHost(root, remote string) string {
	if remote == "" {
		remote = "origin"
	}
	if u, err := url.Parse(remote); err == nil && u.Host != "" {
		return u.Host
	}
	text, err := os.ReadFile(filepath.Join(root, ".git", "config"))
	if err != nil {
		return ""
	}
	ours := false
	for line := range strings.Lines(string(text)) {
		if m := remoteSection.FindStringSubmatch(line); m != nil {
			ours = m[1] == remote
		} else if anySection.MatchString(line) {
			ours = false
		}
		if m := urlLine.FindStringSubmatch(line); ours && m != nil {
			if u, err := url.Parse(m[1]); err == nil {
				return u.Host
			}
			return ""
		}
	}
	return ""
}
