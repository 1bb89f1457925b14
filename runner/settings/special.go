package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/shlex"
)

// masked stands where a secret would.
const masked = "(hidden)"

// absolute demands an absolute path without tricks.
func absolute(p string) error {
	switch {
	case !filepath.IsAbs(p):
		return errors.New("it is not an absolute path")
	case strings.ContainsRune(p, 0):
		return errors.New("it holds a NUL character")
	case slices.Contains(strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == filepath.Separator }), ".."):
		return errors.New("it has a `..` component")
	}
	return nil
}

// apiURL demands the base URL of a server.
func apiURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return errors.New("it is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("it does not begin with http:// or https://")
	case u.Hostname() == "":
		return errors.New("it names no host")
	case u.User != nil:
		return errors.New("it carries a name or a password")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("it has more than a host and a path")
	}
	return nil
}

// serverURLs are base URLs without the slash at their end, which would double in front of every path.
func serverURLs() kind[string] {
	k := texts("an http or https URL", apiURL)
	k.text = func(s string) (string, error) { return strings.TrimRight(s, "/"), nil }
	return k
}

func proxies() kind[string] {
	k := texts("a URL with http, https or socks5", func(s string) error {
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
			return errors.New("it is no URL of a proxy")
		}
		return nil
	})
	k.show = func(s string) string {
		u, err := url.Parse(s)
		if err != nil || u.User == nil {
			return s
		}
		u.User = url.User(masked)
		return u.String()
	}
	return k
}

func sockets() kind[string] {
	return texts("a URL such as unix:///var/run/docker.sock", func(s string) error {
		u, err := url.Parse(s)
		if err != nil || !slices.Contains([]string{"unix", "npipe", "tcp", "http", "https"}, u.Scheme) || u.Host+u.Path == "" {
			return errors.New("it is no URL of a socket")
		}
		return nil
	})
}

// shellWords are split as a shell does. The form in which they are shown, a JSON list, is taken as well.
func shellWords() kind[[]string] {
	return kind[[]string]{what: "a command line",
		text: func(s string) ([]string, error) {
			s = strings.TrimSpace(s)
			var words []string
			var err error
			if strings.HasPrefix(s, "[") && json.Valid([]byte(s)) {
				err = json.Unmarshal([]byte(s), &words)
			} else {
				words, err = shlex.Split(s)
			}
			if err != nil || len(words) == 0 || words[0] == "" {
				return nil, errors.New("it can't be split into words")
			}
			return words, nil
		},
		show: showJSON[[]string],
	}
}

// plainWords are names between spaces.
func plainWords() kind[[]string] {
	name := regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)
	return kind[[]string]{what: "names with spaces between them",
		text: func(s string) ([]string, error) { return strings.Fields(s), nil },
		check: func(words []string) error {
			for _, w := range words {
				if !name.MatchString(w) {
					return fmt.Errorf("%q is no name of a protocol", w)
				}
			}
			if len(words) == 0 {
				return errors.New("it names nothing")
			}
			return nil
		},
		show: func(words []string) string { return strings.Join(words, " ") },
	}
}

func umasks() kind[*uint32] {
	return kind[*uint32]{what: "an octal number from 000 to 777, in the file as a text",
		text: func(s string) (*uint32, error) {
			n, err := strconv.ParseUint(s, 8, 32)
			if err != nil || n > 0o777 {
				return nil, errors.New("it is no umask")
			}
			mask := uint32(n)
			return &mask, nil
		},
		show: func(m *uint32) string {
			if m == nil {
				return ""
			}
			return fmt.Sprintf("%03o", *m)
		},
	}
}

func variables() kind[map[string]string] {
	return kind[map[string]string]{what: "a JSON object of texts",
		raw: func(raw json.RawMessage) (map[string]string, error) {
			var m map[string]string
			if err := json.Unmarshal(raw, &m); err != nil {
				return nil, errors.New("it is not a JSON object of texts")
			}
			return m, nil
		},
		check: func(m map[string]string) error {
			for name, value := range m {
				if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
					return fmt.Errorf("%q can't be a variable", name)
				}
			}
			return nil
		},
		show: func(m map[string]string) string {
			shown := maps.Clone(m)
			for name := range shown {
				shown[name] = masked
			}
			return showJSON(shown)
		},
	}
}

// limits are the members of commands.limits.
func limits() kind[Limits] {
	return kind[Limits]{what: "an object with `cpu`, `memory`, `pids`, `open_files`, `file_size`",
		raw: func(raw json.RawMessage) (Limits, error) {
			var in struct {
				CPU       float64         `json:"cpu"`
				Memory    json.RawMessage `json:"memory"`
				PIDs      int64           `json:"pids"`
				OpenFiles int64           `json:"open_files"`
				FileSize  json.RawMessage `json:"file_size"`
			}
			dec := json.NewDecoder(bytes.NewReader(raw))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&in); err != nil {
				return Limits{}, errors.New("it is not such an object")
			}
			l := Limits{CPU: in.CPU, PIDs: in.PIDs, OpenFiles: in.OpenFiles}
			for name, f := range map[string]struct {
				raw json.RawMessage
				to  *int64
			}{"memory": {in.Memory, &l.Memory}, "file_size": {in.FileSize, &l.FileSize}} {
				if f.raw == nil {
					continue
				}
				size, err := sizes().parseJSON(f.raw)
				if err != nil {
					return Limits{}, fmt.Errorf("`%s`: %w", name, err)
				}
				*f.to = size
			}
			if l.CPU < 0 || l.PIDs < 0 || l.OpenFiles < 0 {
				return Limits{}, errors.New("a limit is negative")
			}
			return l, nil
		},
		show: func(l Limits) string {
			return showJSON(map[string]any{"cpu": l.CPU, "memory": formatSize(l.Memory), "pids": l.PIDs,
				"open_files": l.OpenFiles, "file_size": formatSize(l.FileSize)})
		},
	}
}

// containerUser demands `uid:gid` or `image`.
func containerUser(s string) error {
	if s != "image" && !regexp.MustCompile(`^[0-9]{1,10}:[0-9]{1,10}$`).MatchString(s) {
		return errors.New("it is neither `uid:gid` nor `image`")
	}
	return nil
}

func listenAddress(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return errors.New("it is no address with a port")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return errors.New("its port is no number up to 65535")
	}
	return nil
}

func hostName(s string) error {
	if s == "" || strings.ContainsAny(s, " \t\r\n/@\x00") {
		return errors.New("it is no host name")
	}
	return nil
}
