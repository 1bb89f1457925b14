package policy

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// megabyte repeats parts up to a length of 1 MB.
func megabyte(front, part, back string) string {
	return front + strings.Repeat(part, (1<<20)/len(part)) + back
}

// hugeInputs are the texts that a reader with a recursive or backtracking step would choke on.
func hugeInputs() map[string]string {
	n := 1 << 17
	return map[string]string{
		"slashes":             "cat " + strings.Repeat("/", 1<<20),
		"dots":                "cat " + strings.Repeat("../", 1<<18),
		"single quotes":       megabyte("echo ", "''", ""),
		"double quotes":       megabyte("echo ", `""`, ""),
		"one open quote":      "echo '" + strings.Repeat("a", 1<<20),
		"substitutions":       "echo " + strings.Repeat("$(", n) + strings.Repeat(")", n),
		"open substitutions":  megabyte("echo ", "$(", ""),
		"backticks":           megabyte("echo ", "`", ""),
		"lists":               megabyte("ls", " && ls", ""),
		"pipes":               megabyte("ls", "|ls", ""),
		"newlines":            megabyte("", "ls\n", ""),
		"groups":              strings.Repeat("{ ", n) + "ls" + strings.Repeat("; }", n),
		"open groups":         megabyte("", "{ ", ""),
		"subshells":           strings.Repeat("(", n) + "ls" + strings.Repeat(")", n),
		"braces":              "echo " + strings.Repeat("{a,", n) + strings.Repeat("}", n),
		"open braces":         megabyte("echo ", "{", ""),
		"commas":              megabyte("echo {", ",", "}"),
		"parameters":          "echo " + strings.Repeat("${x:-", n) + strings.Repeat("}", n),
		"arithmetic":          "echo $((" + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) + "))",
		"signs":               megabyte("echo $((", "- ", "1))"),
		"ternaries":           megabyte("echo $((", "1?1:", "1))"),
		"sum":                 megabyte("echo $((1", "+1", "))"),
		"negations":           megabyte("[[ ", "! ", "a ]]"),
		"conditions":          megabyte("[[ a", " && a", " ]]"),
		"functions":           megabyte("", "f()", "{ ls; }"),
		"times":               megabyte("", "time ", "ls"),
		"ifs":                 megabyte("", "if ", ""),
		"whiles":              megabyte("", "while ", ""),
		"cases":               megabyte("", "case a in a) ", ""),
		"coprocs":             megabyte("", "coproc ", "ls"),
		"bangs":               megabyte("", "! ", "ls"),
		"backslashes":         megabyte("echo ", `\`, ""),
		"joined lines":        megabyte("echo ", "\\\n", "a"),
		"here-documents":      megabyte("cat ", "<<a ", "\n"),
		"brackets":            megabyte("echo ", "[", ""),
		"open classes":        megabyte("echo ", "[[:", "]"),
		"stars":               megabyte("rm -rf ", "*", "/"),
		"wrappers":            megabyte("", "timeout 5 ", "ls"),
		"unread wrappers":     megabyte("watch ", "git -x ", ""),
		"shells in a wrapper": megabyte("watch ", "sh -c 'a b' ", ""),
		"nested in a runner":  megabyte("npx ", "bash -c 'x y' ", ""),
		"sudos":               megabyte("", "sudo ", "ls"),
		"sudo options":        megabyte("sudo ", "-x ", "ls"),
		"xargs in a wrapper":  megabyte("watch ", "xargs ", "ls"),
		"cds":                 megabyte("", "cd a;", ""),
		"loops":               megabyte("", "for a in b c; do ls $a; done;", ""),
		"one long loop":       megabyte("for a in ", "b ", "; do ls $a; done"),
		"comments":            megabyte("", "#", ""),
		"extended globs":      megabyte("ls ", "@(", ""),
		"flags":               megabyte("git ", "-a b ", "push"),
		"sed":                 megabyte("sed '", "s/a/b/;", "' x"),
		"sources":             megabyte("", "source ./a;", ""),
		"finds":               megabyte("find . ", "-exec ls ; ", ""),
		"evals":               megabyte("", "eval ", "ls"),
		"assignments":         megabyte("", "A=1 ", "ls"),
		"broken commands":     megabyte("! ;", "ls;", ""),
		"broken arithmetic":   megabyte("! ;", "((#'\n))", ""),
		"broken expansions":   megabyte("! ;", "$(($(", ""),
		"broken backticks":    megabyte("! ;", "`(`", ""),
		"broken escapes":      "! ;`" + strings.Repeat(`\`, 1<<20) + "`",
		"broken documents":    megabyte("! ;", "cat <<a\n$((\na\n", ""),
		"broken cases":        megabyte("! ;", "case a in a) ls;; ", ""),
		"broken quotes":       megabyte("! ;", `"$(`, ""),
		"broken arrays":       megabyte("! ;", "x=($(", ""),
		"different commands":  differentCommands(),
		"shells for a shell":  megabyte("bash <<E\n", "bash\n", "E"),
		"shells with unknown": megabyte("", "bash <<<\"$x\"\n", ""),
		"documents in one":    megabyte("bash <<E\n", "bash <<F\nsh\nF\n", "E"),
	}
}

// differentCommands is a text that does not parse, of commands none of which is twice there.
func differentCommands() string {
	var b strings.Builder
	b.WriteString("! ;")
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "a%d;", i)
	}
	return b.String()
}

func TestHugeInputsAskAndNeverPanic(t *testing.T) {
	p := Permissions{
		Allow: []string{"Terminal(ls)", "Terminal(cat)", "Terminal(echo)"},
		Deny:  []string{"Terminal(git commit)", "Terminal(curl)"},
		Ask:   []string{"Terminal(docker rm)"},
	}
	c := Context{ScopeRoot: "/srv/ws/p"}
	for name, command := range hugeInputs() {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := Decide(Action{Type: "terminal", Command: command}, Owner, Autonomy{Mode: AutoApprove, Origin: "wildcard"}, p, c)
			if err != nil {
				t.Fatal(err)
			}
			if got.Policy == AutoApprove {
				t.Errorf("approved by %s", got.Rule)
			}
			if len(got.Reason) > 2000 {
				t.Errorf("a reason of %d bytes", len(got.Reason))
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 4<<30 {
				t.Errorf("allocated %d MB", used>>20)
			}
			Explain(Action{Type: "terminal", Command: command[:1<<14]}, Owner, Autonomy{}, p, c)
		})
	}
}

func TestADenyIsFoundInLongTexts(t *testing.T) {
	for name, command := range map[string]string{
		"in front":              "rm -rf /; " + strings.Repeat("ls; ", 1<<15),
		"at the end":            strings.Repeat("ls; ", 1<<15) + "rm -rf /",
		"in front of nesting":   "rm -rf /\n" + strings.Repeat("(", 1<<15),
		"behind many operators": strings.Repeat("ls && ", 1<<15) + "rm -rf /",
		"in a long pipeline":    strings.Repeat("ls | ", 1<<15) + "rm -rf /",
	} {
		d, denied := RecheckDeny(Action{Type: "terminal", Command: command}, Permissions{}, Context{})
		if !denied || d.Rule != BuiltinDeny {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// parsingAlone is the least time that the shell library takes to read a text, with a new parser each time.
func parsingAlone(command string) time.Duration {
	least := time.Hour
	for range max(3, min(1000, (1<<20)/len(command))) {
		began := time.Now()
		for range newParser().StmtsSeq(strings.NewReader(command)) { // what does not parse counts up to there
		}
		least = min(least, time.Since(began))
	}
	return least
}

// BenchmarkDecide tells the time of a decision, and for ordinary texts what it is of the shell library's reading alone.
func BenchmarkDecide(b *testing.B) {
	source, ours := Seeded()
	r := Compile(Permissions{Allow: append(source, ours...)})
	c := Context{ScopeRoot: "/srv/ws/p"}
	run := func(b *testing.B, command string) time.Duration {
		a := Action{Type: "terminal", Command: command, Cwd: "/srv/ws/p"}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Decide(a, Owner, Autonomy{}, c); err != nil {
				b.Fatal(err)
			}
		}
		return b.Elapsed() / time.Duration(b.N)
	}
	beside := func(b *testing.B, command string) {
		b.ReportMetric(float64(run(b, command))/float64(parsingAlone(command)), "x-parse")
	}
	b.Run("simple", func(b *testing.B) { beside(b, "pnpm test --watch") })
	b.Run("segments20", func(b *testing.B) {
		parts := make([]string, 20)
		for i := range parts {
			parts[i] = fmt.Sprintf("ls -la src/dir%d", i)
		}
		beside(b, strings.Join(parts, " && "))
	})
	for name, command := range hugeInputs() { // the library alone would run out of stack over some of them
		b.Run("1MB/"+strings.ReplaceAll(name, " ", "-"), func(b *testing.B) { run(b, command) })
	}
}
