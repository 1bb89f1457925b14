package action

import (
	"encoding/base64"
	"encoding/json"
	"regexp"

	"brabo.dev/runner/runner/failure"
)

// WriteFile are the parameters of a write_file.
type WriteFile struct {
	Path    string // relative to the project root, not looked at yet
	Content []byte
	// Expect is what the file must hold now: nil for anything, else the SHA-256 in lower-case hex, or empty where there
	// must be no file.
	Expect *string
	Mode   uint32 // 0o644 or 0o755; zero: the file's own, new 0o644
}

// GitCommit are the parameters of a git_commit.
type GitCommit struct {
	Message                 string
	Paths                   []string // empty: everything that changed and is not ignored
	AuthorName, AuthorEmail string
	Cwd                     string // absolute; empty: the project root
}

// GitBranchCreate are the parameters of a git_branch_create.
type GitBranchCreate struct{ Name, From, Cwd string }

// GitPush are the parameters of a git_push.
type GitPush struct {
	Remote, Branch string
	SetUpstream    bool
	Cwd            string
}

// WriteFileResult answers a write_file.
type WriteFileResult struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Created bool   `json:"created"`
}

// GitCommitResult answers a git_commit.
type GitCommitResult struct {
	Commit string `json:"commit"`
	Branch string `json:"branch"`
	Files  int    `json:"files"`
}

// GitBranchCreateResult answers a git_branch_create.
type GitBranchCreateResult struct {
	Branch string `json:"branch"`
	Commit string `json:"commit"`
}

// GitPushResult answers a git_push.
type GitPushResult struct {
	Remote string `json:"remote"`
	Branch string `json:"branch"`
	Commit string `json:"commit"`
}

var hexSHA256 = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (f fields) writeFile(event string) (*WriteFile, *failure.Failure) {
	w := new(WriteFile)
	var fail *failure.Failure
	if w.Path, fail = f.text(event, "path"); fail != nil {
		return nil, fail
	}
	if w.Content, fail = f.content(event); fail != nil {
		return nil, fail
	}
	if raw, there := f["expectedSha256"]; there {
		w.Expect = new(string)
		if !isNull(raw) {
			if *w.Expect, fail = f.text(event, "expectedSha256"); fail != nil {
				return nil, fail
			}
			if !hexSHA256.MatchString(*w.Expect) {
				return nil, malformed(event, "`expectedSha256` is not a SHA-256 in lower-case hex")
			}
		}
	}
	mode, fail := f.optional(event, "mode")
	if fail != nil {
		return nil, fail
	}
	switch mode {
	case "":
	case "0644":
		w.Mode = 0o644
	case "0755":
		w.Mode = 0o755
	default:
		return nil, malformed(event, "`mode` is %q, not 0644 or 0755", mode)
	}
	return w, nil
}

// content reads the one of the two content fields that is there.
func (f fields) content(event string) ([]byte, *failure.Failure) {
	_, plain := f["content"]
	_, coded := f["contentBase64"]
	if plain == coded {
		return nil, malformed(event, "exactly one of `content` and `contentBase64` has to be there")
	}
	var content []byte
	if plain {
		text, fail := f.text(event, "content")
		if fail != nil {
			return nil, fail
		}
		content = []byte(text)
	} else {
		text, fail := f.text(event, "contentBase64")
		if fail != nil {
			return nil, fail
		}
		var err error
		if content, err = base64.StdEncoding.Strict().DecodeString(text); err != nil {
			return nil, malformed(event, "`contentBase64` is not base64").Wrap(err)
		}
	}
	if len(content) > MaxContent {
		return nil, malformed(event, "the content has %d bytes; at most %d are written", len(content), MaxContent)
	}
	return content, nil
}

func (f fields) commit(event string) (*GitCommit, *failure.Failure) {
	c := new(GitCommit)
	var fail *failure.Failure
	if c.Message, fail = f.text(event, "message"); fail != nil {
		return nil, fail
	}
	if raw, there := f["paths"]; there && !isNull(raw) {
		var paths []*string
		if json.Unmarshal(raw, &paths) != nil {
			return nil, malformed(event, "`paths` is not a list of strings")
		}
		for _, p := range paths {
			if p == nil || *p == "" {
				return nil, malformed(event, "`paths` holds something that is no path")
			}
			c.Paths = append(c.Paths, *p)
		}
	}
	return c, f.optionals(event, map[string]*string{"authorName": &c.AuthorName, "authorEmail": &c.AuthorEmail, "cwd": &c.Cwd})
}

func (f fields) branch(event string) (*GitBranchCreate, *failure.Failure) {
	b := new(GitBranchCreate)
	var fail *failure.Failure
	if b.Name, fail = f.text(event, "name"); fail != nil {
		return nil, fail
	}
	return b, f.optionals(event, map[string]*string{"from": &b.From, "cwd": &b.Cwd})
}

func (f fields) push(event string) (*GitPush, *failure.Failure) {
	p := new(GitPush)
	var fail *failure.Failure
	if p.Branch, fail = f.text(event, "branch"); fail != nil {
		return nil, fail
	}
	if raw, there := f["setUpstream"]; there && !isNull(raw) {
		if json.Unmarshal(raw, &p.SetUpstream) != nil {
			return nil, malformed(event, "`setUpstream` is neither true nor false")
		}
	}
	if fail = f.optionals(event, map[string]*string{"remote": &p.Remote, "cwd": &p.Cwd}); fail == nil && p.Remote == "" {
		p.Remote = "origin"
	}
	return p, fail
}

// optional reads a string member that may be missing or null, which is the empty string then.
func (f fields) optional(event, name string) (string, *failure.Failure) {
	if raw, there := f[name]; !there || isNull(raw) {
		return "", nil
	}
	return f.text(event, name)
}

// optionals reads several members as optional does.
func (f fields) optionals(event string, into map[string]*string) *failure.Failure {
	for name, at := range into {
		value, fail := f.optional(event, name)
		if fail != nil {
			return fail
		}
		*at = value
	}
	return nil
}
