package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// configMost bounds a repository's configuration, in bytes.
const configMost = 1 << 20

// entry is one value of a configuration. Section and name are in lower case.
type entry struct {
	section, sub, name string
	value              string
	bare               bool // no value at all, which means true
}

func (e entry) key() string {
	if e.sub == "" {
		return e.section + "." + e.name
	}
	return e.section + "." + e.sub + "." + e.name
}

// readConfig reads the repository's configuration as a text, following no include. A copy in scratch is what git sees,
// so that it can't change meanwhile.
func (g Git) readConfig(ctx context.Context, r repository, scratch string) ([]entry, error) {
	path := filepath.Join(r.common, "config")
	refused := func() *failure.Failure { return failure.New(failure.RepositoryConfigRefused, path) }
	data, err := readPlain(path, configMost)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, refused().Because("it can't be read: %v", err).Wrap(err)
	}
	seen := filepath.Join(scratch, "seen")
	if err := os.WriteFile(seen, data, 0o600); err != nil {
		return nil, refused().Because("it can't be copied: %v", err).Wrap(err)
	}
	out, err := g.run(ctx, call{
		dir: scratch, args: []string{"config", "--file", seen, "--no-includes", "--list", "-z"},
		env: []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(scratch)},
	})
	if err != nil {
		return nil, err
	}
	if out.Code != 0 {
		return nil, refused().Because("git can't read it: %s", out.words())
	}
	var all []entry
	for _, item := range bytes.Split(out.Stdout, []byte{0}) {
		if len(item) == 0 {
			continue
		}
		key, value, found := strings.Cut(string(item), "\n")
		section, rest, _ := strings.Cut(key, ".")
		e := entry{section: section, name: rest, value: value, bare: !found}
		if i := strings.LastIndexByte(rest, '.'); i >= 0 {
			e.sub, e.name = rest[:i], rest[i+1:]
		}
		all = append(all, e)
	}
	return all, nil
}

// refuse names the first key that can't be switched off and would make the action mean something else.
func refuse(r repository, all []entry) error {
	for _, e := range all {
		cause := ""
		switch {
		case e.section == "url" && (e.name == "insteadof" || e.name == "pushinsteadof"):
			cause = "rewrites addresses"
		case e.section == "include" && e.name == "path", e.section == "includeif" && e.name == "path":
			cause = "includes another file"
		default:
			continue
		}
		return failure.New(failure.RepositoryConfigRefused, filepath.Join(r.common, "config")).
			Because("the key %s %s, which can't be switched off", visible(e.key()), cause)
	}
	return nil
}

// Keys of the allow list (protocol.md 12, Git). The core ones say how the repository and its files are stored.
var (
	coreKeys = []string{"repositoryformatversion", "filemode", "ignorecase", "symlinks", "precomposeunicode", "logallrefupdates",
		"sharedrepository", "autocrlf", "eol", "trustctime", "checkstat"}
	extensionKeys = []string{"objectformat", "compatobjectformat", "noop", "noop-v1", "preciousobjects", "relativeworktrees"}
	remoteKeys    = []string{"url", "pushurl", "fetch"}
)

// counts reports whether e is of the allow list. The address for pushing counts as the address does; the credential
// helper looks at where it leads.
func (e entry) counts(hooks bool) bool {
	switch e.section {
	case "core":
		return e.sub == "" && (slices.Contains(coreKeys, e.name) || hooks && e.name == "hookspath")
	case "extensions":
		return e.sub == "" && (slices.Contains(extensionKeys, e.name) ||
			e.name == "refstorage" && (e.value == "files" || e.value == "reftable"))
	case "user":
		return e.sub == ""
	case "branch":
		return true
	case "remote":
		return e.sub != "" && slices.Contains(remoteKeys, e.name)
	}
	return false
}

// writeConfig writes what counts of all as a configuration.
func writeConfig(path string, all []entry, hooks bool) error {
	var b strings.Builder
	for _, e := range all {
		if !e.counts(hooks) {
			continue
		}
		b.WriteString("[" + e.section)
		if e.sub != "" {
			b.WriteString(` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(e.sub) + `"`)
		}
		b.WriteString("]\n\t" + e.name)
		if !e.bare {
			b.WriteString(` = "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(e.value) + `"`)
		}
		b.WriteByte('\n')
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}
