package machinepolicy

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/policy"
)

// Types of actions beside those of policy.md section 2.
const (
	TypeMirror          = "mirror_sync"
	TypeWorkspaceCreate = "workspace_create"
	TypeBrowse          = "browse"
)

// Policy is one policy.json. The zero value says nothing.
type Policy struct {
	base     rules
	projects map[string]rules
}

// rules are what one member of the file says; what it does not say is nil.
type rules struct {
	actions, roots, images []string
	deny                   []*policy.Rules
	network                string
	terminals              *bool
	ceilings               map[Ceiling]Response
	confine                *confine
}

// confine is Confine as it is written.
type confine struct {
	on          *bool
	read, write []string
	network     *bool
	at          int64 // where it stands in the text
}

// Parse reads the text of a policy.json; path only names it. The error is MachinePolicyInvalid with line and column.
func Parse(path string, data []byte) (Policy, error) {
	p, err := parse(data)
	if f, ok := err.(*fault); ok {
		line, column := place(data, f.at)
		return Policy{}, failure.New(failure.MachinePolicyInvalid, fmt.Sprintf("%s:%d:%d", path, line, column)).Because("%s", f.cause)
	}
	return p, err
}

func parse(data []byte) (p Policy, err error) {
	root, err := tree(data)
	if err != nil {
		return p, err
	}
	p.projects = map[string]rules{}
	err = root.object("the file", map[string]func(node) error{
		"default": func(n node) (err error) { p.base, err = readRules(n); return err },
		"projects": func(n node) error {
			if n.value != json.Delim('{') {
				return faultAt(n.at, "`projects` must be an object")
			}
			for _, m := range n.members {
				r, err := readRules(m.node)
				if err != nil {
					return err
				}
				p.projects[m.name] = r
			}
			return nil
		},
	})
	if err != nil {
		return p, err
	}
	return p, p.saysModes()
}

// saysModes refuses folders and a network for commands of which nothing says whether they are confined.
func (p Policy) saysModes() error {
	if c := p.base.confine; c != nil && c.on == nil {
		return faultAt(c.at, "`confine` must have a `mode`")
	}
	first := int64(-1)
	for _, r := range p.projects {
		if c := r.confine; c != nil && c.on == nil && p.base.confine == nil && (first < 0 || c.at < first) {
			first = c.at
		}
	}
	if first >= 0 {
		return faultAt(first, "`confine` must have a `mode`, here or in the default")
	}
	return nil
}

// object hands each member to its reader; another one is a fault, which names the nearest.
func (n node) object(what string, readers map[string]func(node) error) error {
	if n.value != json.Delim('{') {
		return faultAt(n.at, "%s must be an object", what)
	}
	for _, m := range n.members {
		read, known := readers[m.name]
		if !known {
			names := make([]string, 0, len(readers))
			for name := range readers {
				names = append(names, name)
			}
			slices.Sort(names)
			return faultAt(m.at, "%s has no member %q; it may have %s", what, m.name, strings.Join(names, ", "))
		}
		if err := read(m.node); err != nil {
			return err
		}
	}
	return nil
}

func readRules(n node) (r rules, err error) {
	err = n.object("a set of rules", map[string]func(node) error{
		"actions": func(n node) (err error) { r.actions, err = n.texts("actions", actionType); return err },
		"roots":   func(n node) (err error) { r.roots, err = n.texts("roots", folder); return err },
		"images":  func(n node) (err error) { r.images, err = n.texts("images", imagePattern); return err },
		"deny": func(n node) error {
			entries, err := n.texts("deny", denyPattern)
			r.deny = []*policy.Rules{policy.Compile(policy.Permissions{Deny: entries})}
			return err
		},
		"network":   func(n node) (err error) { r.network, err = n.oneOf("network", "none", "egress"); return err },
		"terminals": func(n node) (err error) { r.terminals, err = n.yesNo("terminals"); return err },
		"ceilings":  func(n node) (err error) { r.ceilings, err = readCeilings(n); return err },
		"confine":   func(n node) (err error) { r.confine, err = readConfine(n); return err },
	})
	return r, err
}

func readCeilings(n node) (map[Ceiling]Response, error) {
	all := map[Ceiling]Response{}
	readers := map[string]func(node) error{}
	for _, c := range []Ceiling{ExternalEffect, Privileged, PolicyFile, Unresolved} {
		readers[string(c)] = func(n node) error {
			text, err := n.oneOf(string(c), string(Trust), string(Confirm), string(Refuse))
			all[c] = Response(text)
			return err
		}
	}
	return all, n.object("`ceilings`", readers)
}

func readConfine(n node) (*confine, error) {
	c := &confine{at: n.at}
	err := n.object("`confine`", map[string]func(node) error{
		"mode": func(n node) error {
			mode, err := n.oneOf("mode", "off", "on")
			on := mode == "on"
			c.on = &on
			return err
		},
		"read":    func(n node) (err error) { c.read, err = n.texts("read", folder); return err },
		"write":   func(n node) (err error) { c.write, err = n.texts("write", folder); return err },
		"network": func(n node) (err error) { c.network, err = n.yesNo("network"); return err },
	})
	return c, err
}

// texts reads an array of texts that pass check, which gives what is wrong with one.
func (n node) texts(name string, check func(string) string) ([]string, error) {
	if n.value != json.Delim('[') {
		return nil, faultAt(n.at, "`%s` must be an array of texts", name)
	}
	all := []string{}
	for _, item := range n.items {
		text, ok := item.value.(string)
		if !ok {
			return nil, faultAt(item.at, "an entry of `%s` is not a text", name)
		}
		if why := check(text); why != "" {
			return nil, faultAt(item.at, "%q in `%s`: %s", text, name, why)
		}
		all = append(all, text)
	}
	return all, nil
}

func (n node) oneOf(name string, values ...string) (string, error) {
	text, _ := n.value.(string)
	if !slices.Contains(values, text) {
		return "", faultAt(n.at, "`%s` must be one of %s", name, strings.Join(values, ", "))
	}
	return text, nil
}

func (n node) yesNo(name string) (*bool, error) {
	yes, ok := n.value.(bool)
	if !ok {
		return nil, faultAt(n.at, "`%s` must be true or false", name)
	}
	return &yes, nil
}

func actionType(text string) string {
	if slices.Contains([]string{TypeMirror, TypeWorkspaceCreate, TypeBrowse}, text) ||
		slices.ContainsFunc(policy.Types(), func(t policy.ActionType) bool { return t.Type == text }) {
		return ""
	}
	return "there is no such type of action"
}

func folder(text string) string {
	if !filepath.IsAbs(text) || filepath.Clean(text) != strings.TrimRight(text, string(filepath.Separator)) && len(text) > 1 {
		return "it is not an absolute folder without `.` and `..`"
	}
	return ""
}

func imagePattern(text string) string {
	if n := strings.IndexByte(text, '*'); text == "" || n >= 0 && n != len(text)-1 {
		return "a star may stand at the end alone"
	}
	return ""
}

func denyPattern(text string) string {
	if why := policy.ParsePattern(text).Inert; why != "" {
		return "it matches nothing: " + why
	}
	return ""
}
