package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/workspace"
	"brabo.dev/runner/workspace/git"
)

// TestContract plays every row of the contract against a daemon, through a scripted engine, and fails for a row that
// nothing shows.
func TestContract(t *testing.T) {
	rows := readContract(t)
	seen := map[string]bool{}
	passed := map[string][2]int{} // by section: passed, all
	var order []string
	for _, row := range rows {
		if seen[row.name] {
			t.Errorf("line %d: there is a row %s already", row.line, row.name)
		}
		seen[row.name] = true
		played := false
		ok := t.Run(row.name, func(t *testing.T) {
			if !row.shows() {
				t.Fatalf("line %d: nothing shows %q", row.line, row.rule)
			}
			newContractPlay(t).run(row)
			played = true
		}) && played
		n, there := passed[row.section]
		if !there {
			order = append(order, row.section)
		}
		if n[1]++; ok {
			n[0]++
		}
		passed[row.section] = n
	}
	for _, section := range order {
		t.Logf("%-6s %3d of %3d rows pass", section, passed[section][0], passed[section][1])
	}
}

// contractPlay is one row being played.
type contractPlay struct {
	t     *testing.T
	e     *engine
	d     *daemon
	home  string // holds the project and is the only root
	vars  *strings.Replacer
	more  *strings.Replacer // of a row with an engine
	a     *contractAPI      // of a row with an api
	setup []func(*Options)
	heard []channel.Message // what came and was not wanted yet
	said  []channel.Message // all that came
	marks int
}

func newContractPlay(t *testing.T) *contractPlay {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &contractPlay{t: t, e: newEngine(t), home: home}
	p.vars = strings.NewReplacer("$long", strings.Repeat("0", 300), "$root", home+"/project", "$home", home, "$outside", filepath.Dir(home))
	p.setup = append(p.setup, func(o *Options) {
		o.Git = testGit(t)
		o.Commands.Inherited = append(o.Commands.Inherited, "HOME="+home) // no configuration of the person's own
	})
	p.setup = append(p.setup, func(o *Options) { o.Browse = workspace.Browse{Home: home, MaxEntries: 100} })
	return p
}

func (p *contractPlay) run(row *contractRow) {
	for _, s := range row.steps {
		args := p.vars.Replace(s.args)
		if p.more != nil {
			args = p.more.Replace(args)
		}
		if err := p.step(s.verb, args); err != nil {
			p.t.Fatalf("testdata/contract.txt:%d: %s %s: %v", s.line, s.verb, s.args, err)
		}
	}
	p.silentWithoutAGrant()
}

// step carries out one step. The daemon starts with the first that needs it.
func (p *contractPlay) step(verb, args string) error {
	event, rest, _ := strings.Cut(args, " ")
	if known, err := p.serverStep(verb, args); known {
		return err
	}
	switch verb {
	case "shown":
		return p.shown(args)
	case "grants":
		for name := range strings.FieldsSeq(args) {
			p.e.grants = append(p.e.grants, action.Extension(name))
		}
		return nil
	case "mirror":
		p.e.mirror = args
		return nil
	case "refuse":
		reason := args
		p.e.refuse = func(join int) string {
			if join == 1 {
				return reason
			}
			return ""
		}
		return nil
	case "option":
		return p.option(args)
	case "sh":
		cmd := exec.Command("bash", "-c", "cd "+p.home+" && "+args)
		cmd.Env = append(os.Environ(), "HOME="+p.home, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	case "engine":
		p.engine()
		return nil
	case "githost":
		p.gitHost()
		return nil
	case "refused":
		p.e.refuse = func(int) string { return rest }
		p.d = startDaemonIn(p.t, p.e, p.home, p.setup...)
		return p.logged(event)
	}
	p.start()
	switch verb {
	case "join":
	case "log":
		return p.logged(args)
	case "crash":
		p.e.end(errors.New("crashed"))
		p.e.joined(p.t)
	case "close":
		p.e.end(nil)
		p.e.joined(p.t)
	case "send":
		if !json.Valid([]byte(rest)) {
			return fmt.Errorf("%s is no JSON", rest)
		}
		p.e.send(p.t, event, rest)
	case "drop":
		p.e.drop()
		p.e.joined(p.t)
	case "want", "then":
		return p.want(verb, event, rest)
	case "want-joins":
		return p.wantJoins(args)
	case "silence":
		return p.silence(event)
	case "file":
		return p.file(event, rest)
	case "nofile":
		if _, err := os.Lstat(filepath.Join(p.home, args)); err == nil {
			return fmt.Errorf("it is there")
		}
	default:
		return fmt.Errorf("there is no such step")
	}
	return nil
}

// engine needs the first of the engines in RUNNER_TEST_ENGINES. The daemon finds it, and $spec and $dir are of a container
// of the row's own.
func (p *contractPlay) engine() {
	addresses := os.Getenv("RUNNER_TEST_ENGINES")
	if addresses == "" {
		if os.Getenv("RUNNER_TEST_REQUIRE") == "1" && os.Geteuid() != 0 {
			p.t.Fatal("needs engines in RUNNER_TEST_ENGINES")
		}
		p.t.Skip("needs engines in RUNNER_TEST_ENGINES")
	}
	address, _, _ := strings.Cut(addresses, ",")
	dir := uniqueDir()
	p.e.project = dir
	p.more = strings.NewReplacer("$spec", spec(dir, importImage(p.t, address)), "$dir", dir)
	p.t.Cleanup(func() { removeContainer(p.t, address, dir) })
	p.setup = append(p.setup, onEngine(address))
}

// option changes what the daemon is started with.
func (p *contractPlay) option(name string) error {
	switch name {
	case "short-deadline":
		p.setup = append(p.setup, func(o *Options) { o.Commands.Deadline = 2 * time.Second })
	case "terminals":
		p.setup = append(p.setup, withTerminals(p.t, 2))
	case "base":
		p.setup = append(p.setup, func(o *Options) { o.Workspaces = Workspaces{Base: p.home + "/code", Root: p.home + "/project"} })
	case "base-in-project":
		p.setup = append(p.setup, func(o *Options) { o.Workspaces = Workspaces{Base: p.home + "/project/code", Root: p.home + "/project"} })
	case "no-git":
		p.setup = append(p.setup, func(o *Options) { o.Git = &git.Git{Program: "git-that-is-not-there"} })
	default:
		return fmt.Errorf("there is no such option")
	}
	return nil
}

// start starts the daemon and waits for its join, once.
func (p *contractPlay) start() {
	if p.d != nil {
		return
	}
	p.d = startDaemonIn(p.t, p.e, p.home, p.setup...)
	p.e.joined(p.t)
}

// next gives the next message of the event, and keeps others for later steps.
func (p *contractPlay) next(event string) (channel.Message, error) {
	for i, m := range p.heard {
		if m.Event == event {
			p.heard = append(p.heard[:i:i], p.heard[i+1:]...)
			return m, nil
		}
	}
	timeout := time.After(60 * time.Second)
	for {
		select {
		case m := <-p.e.heard:
			p.said = append(p.said, m)
			if m.Event == event {
				return m, nil
			}
			p.heard = append(p.heard, m)
		case <-timeout:
			return channel.Message{}, fmt.Errorf("no %s came; there were %v", event, names(p.heard))
		}
	}
}

func names(messages []channel.Message) (all []string) {
	for _, m := range messages {
		all = append(all, m.Event)
	}
	return all
}

// want waits for a message, for the very next one with `then`, and compares it with a pattern.
func (p *contractPlay) want(verb, event, pattern string) error {
	var wanted, got any
	if err := decode(pattern, &wanted); err != nil {
		return err
	}
	kept := len(p.heard)
	m, err := p.next(event)
	if err == nil && verb == "then" && len(p.heard) != kept {
		err = fmt.Errorf("before it came %v", names(p.heard[kept:]))
	}
	if err != nil {
		return err
	}
	if err := decode(string(m.Payload), &got); err != nil {
		return err
	}
	if err := match(wanted, got); err != nil {
		return fmt.Errorf("%w in %s", err, m.Payload)
	}
	return nil
}

func decode(text string, into *any) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return dec.Decode(into)
}

// match compares: of an object the members that are named; "re:…" is a regular expression for a string or number,
// "<any>" anything, "<absent>" nothing.
func match(wanted, got any) error {
	switch w := wanted.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("no object")
		}
		for name, each := range w {
			value, there := g[name]
			if each == "<absent>" {
				if there {
					return fmt.Errorf("%s is there", name)
				}
				continue
			}
			if !there {
				return fmt.Errorf("no %s", name)
			}
			if err := match(each, value); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	case string:
		if w == "<any>" {
			return nil
		}
		if expression, ok := strings.CutPrefix(w, "re:"); ok {
			if !regexp.MustCompile(expression).MatchString(fmt.Sprint(got)) {
				return fmt.Errorf("%v does not match %s", got, expression)
			}
			return nil
		}
	}
	if !reflect.DeepEqual(wanted, got) {
		return fmt.Errorf("%v instead of %v", got, wanted)
	}
	return nil
}

// silence shows that no message of the event comes: a command behind it is answered, and nothing came before.
func (p *contractPlay) silence(event string) error {
	p.marks++
	ref := fmt.Sprintf("mark-%d", p.marks)
	p.e.send(p.t, action.EventExec, fmt.Sprintf(`{"ref":%q,"command":"true"}`, ref))
	for {
		m, err := p.next(action.EventExecResult)
		if err != nil {
			return err
		}
		if bytes.Contains(m.Payload, []byte(ref)) {
			break
		}
		if event == action.EventExecResult {
			return fmt.Errorf("%s came", m.Payload)
		}
	}
	for _, m := range p.heard {
		if m.Event == event {
			return fmt.Errorf("%s came", m.Payload)
		}
	}
	return nil
}

// file compares a file's content.
func (p *contractPlay) file(path, content string) error {
	var want string
	if err := json.Unmarshal([]byte(content), &want); err != nil {
		return err
	}
	got, err := os.ReadFile(filepath.Join(p.home, path))
	if err == nil && string(got) != want {
		err = fmt.Errorf("it holds %q", got)
	}
	return err
}

// logged waits until the daemon has logged the text.
func (p *contractPlay) logged(text string) error { return p.d.log.await(text) }

// wantJoins waits until there were so many joins.
func (p *contractPlay) wantJoins(text string) error {
	for {
		p.e.mu.Lock()
		n := fmt.Sprint(p.e.joins)
		p.e.mu.Unlock()
		if n == text {
			return nil
		}
		p.e.joined(p.t)
	}
}
