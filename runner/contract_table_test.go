package runner

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"brabo.dev/runner/runner/action"
)

// contractSections are those of protocol.md that bind a runner: 4.8 says what there is not, 10 what is open, 11 what was read.
var contractSections = strings.Fields(`1.1 1.2 1.3 1.4 2.1 2.2 2.3 3.1 3.2 3.3 3.4 3.5 3.6 3.7 3.8
	4.1 4.2 4.3 4.4 4.5 4.6 4.7 5 6.1 6.2 6.3 7.1 7.2 7.3 7.4 7.5 8 9 12`)

// contractRow is one row of testdata/contract.txt: a rule of protocol.md and the steps that show it.
type contractRow struct {
	section, name, rule string
	line                int
	steps               []contractStep
}

type contractStep struct {
	line int
	verb string
	args string
}

// readContract reads the file; its head says how it is written.
func readContract(t *testing.T) []*contractRow {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "contract.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []*contractRow
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "  "):
			verb, args, _ := strings.Cut(strings.TrimSpace(line), " ")
			if len(rows) == 0 {
				t.Fatalf("line %d: a step without a row", i+1)
			}
			row := rows[len(rows)-1]
			row.steps = append(row.steps, contractStep{i + 1, verb, strings.TrimSpace(args)})
		default:
			parts := strings.SplitN(line, "|", 3)
			if len(parts) != 3 {
				t.Fatalf("line %d: a row is SECTION | NAME | RULE", i+1)
			}
			rows = append(rows, &contractRow{strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1]), strings.TrimSpace(parts[2]), i + 1, nil})
		}
	}
	return rows
}

// shows reports whether a row has a step that can fail.
func (r *contractRow) shows() bool {
	for _, s := range r.steps {
		if strings.HasPrefix(s.verb, "want") || slices.Contains([]string{"then", "silence", "refused", "file", "nofile", "asked", "standing", "shown"}, s.verb) {
			return true
		}
	}
	return false
}

// shown is `shown PACKAGE.TEST`, or `shown ROW`: another test or row shows the rule, and exists.
func (p *contractPlay) shown(where string) error {
	room, name, other := strings.Cut(where, ".")
	if !other {
		for _, row := range readContract(p.t) {
			if row.name == where {
				return nil
			}
		}
		return fmt.Errorf("there is no such row")
	}
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(room), "*_test.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if regexp.MustCompile(`(?m)^func ` + name + `\(t \*testing\.T\) \{`).Match(text) {
			return nil
		}
	}
	return fmt.Errorf("there is no such test")
}

// TestContractTableIsWhole holds the table against the contract's sections, and against all that package action reads
// and writes: every event, every field and every extension, granted and not.
func TestContractTableIsWhole(t *testing.T) {
	rows := readContract(t)
	var steps strings.Builder
	for _, row := range rows {
		for _, s := range row.steps {
			fmt.Fprintf(&steps, "%s %s\n", s.verb, s.args)
		}
	}
	for _, section := range contractSections {
		if !slices.ContainsFunc(rows, func(r *contractRow) bool { return r.section == section }) {
			t.Errorf("no row is of section %s", section)
		}
	}
	events, fields := wireNames(t)
	for _, event := range events {
		if !regexp.MustCompile(`(?m)^(send|want|then) ` + event + ` `).MatchString(steps.String()) {
			t.Errorf("no row sends or wants %s", event)
		}
	}
	for _, field := range fields {
		if !strings.Contains(steps.String(), strconv.Quote(field)+":") {
			t.Errorf("no row has the field %s", field)
		}
	}
	for _, x := range action.Known() {
		granted, not := false, false
		for _, row := range rows {
			grants := row.grants(x)
			granted = granted || grants
			not = not || !grants && row.name == strings.ReplaceAll(string(x), "_", "-")+"-not-granted"
		}
		if !granted || !not {
			t.Errorf("extension %s: a row grants it is %v, a row %s-not-granted is there is %v", x, granted, x, not)
		}
	}
}

func (r *contractRow) grants(x action.Extension) bool {
	return slices.ContainsFunc(r.steps, func(s contractStep) bool {
		return s.verb == "grants" && slices.Contains(strings.Fields(s.args), string(x))
	})
}

// wireNames reads the events and the JSON fields out of package action.
func wireNames(t *testing.T) (events, fields []string) {
	t.Helper()
	files, err := filepath.Glob("action/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if strings.HasPrefix(name.Name, "Event") && i < len(n.Values) {
						events = append(events, unquote(n.Values[i].(*ast.BasicLit).Value))
					}
				}
			case *ast.Field:
				if n.Tag != nil {
					name, _, _ := strings.Cut(reflect.StructTag(unquote(n.Tag.Value)).Get("json"), ",")
					fields = append(fields, name)
				}
			}
			return true
		})
	}
	slices.Sort(fields)
	fields = slices.DeleteFunc(slices.Compact(fields), func(name string) bool { return name == "" || name == "-" })
	if len(events) < 20 || len(fields) < 40 {
		t.Fatalf("%d events and %d fields were found", len(events), len(fields))
	}
	return events, fields
}

func unquote(literal string) string {
	text, err := strconv.Unquote(literal)
	if err != nil {
		panic(err) // the parser took it
	}
	return text
}

// contractPushes are the events that a Brabo server takes from a runner: any other ends its channel (protocol.md 3.7 and 4).
var contractPushes = strings.Fields(`exec_result workspace_confirm workspace_create_result container_start_result
	container_stop_result container_remove_result pty_opened pty_error pty_data pty_resize fs_list_dir_reply
	fs_home_dir_reply mirror_sync_result`)

// extensionPushes are those that need a grant.
var extensionPushes = map[string]action.Extension{
	action.EventExecOutput: action.ExtOutput, action.EventActionProgress: action.ExtProgress,
	action.EventPtyClosed: action.ExtPtyClosed, action.EventActionResult: action.ExtAction,
}

// silentWithoutAGrant looks at all that came in a row: no event that this server would not know is among it.
func (p *contractPlay) silentWithoutAGrant() {
	for more := true; more; {
		select {
		case m := <-p.e.heard:
			p.said = append(p.said, m)
		default:
			more = false
		}
	}
	for _, m := range p.said {
		x, ours := extensionPushes[m.Event]
		if m.Event != "join" && !slices.Contains(contractPushes, m.Event) && (!ours || !slices.Contains(p.e.grants, x)) {
			p.t.Errorf("%s was pushed to a server that does not know it", m.Event)
		}
	}
}
