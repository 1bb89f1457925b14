package machinepolicy

import (
	"slices"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/policy"
)

func TestWhatIsNotUnderstoodIsNamedWithItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "1:1",
		"{":                                     "1:2",
		"[]":                                    "1:1",
		"null":                                  "1:1",
		"{} {}":                                 "1:4",
		"{\n  \"defualt\": {}}":                 "2:3",
		`{"Default":{}}`:                        "1:2",
		`{"default":{},"default":{}}`:           "1:15",
		`{"default":[]}`:                        "1:12",
		`{"default":null}`:                      "1:12",
		`{"projects":[]}`:                       "1:13",
		`{"projects":{"p":7}}`:                  "1:18",
		`{"default":{"actions":"terminal"}}`:    "1:23",
		`{"default":{"actions":["terminals"]}}`: "1:24",
		`{"default":{"actions":[7]}}`:           "1:24",
		`{"default":{"actions":null}}`:          "1:23",
		`{"default":{"roots":["x"]}}`:           "1:22",
		`{"default":{"roots":["/a/../b"]}}`:     "1:22",
		`{"default":{"deny":["Terminal()"]}}`:   "1:21",
		"{\"default\":{\"deny\":[\n\"Terminal(curl)\",\n \"Terminall(curl)\"]}}": "3:2",
		`{"default":{"deny":["Terminal(\ud800)"]}}`:                              "1:21",
		`{"default":{"images":["a*b"]}}`:                                         "1:23",
		`{"default":{"images":[""]}}`:                                            "1:23",
		`{"default":{"network":"host"}}`:                                         "1:23",
		`{"default":{"terminals":"no"}}`:                                         "1:25",
		`{"default":{"terminals":1}}`:                                            "1:25",
		`{"default":{"ceilings":{"everything":"refuse"}}}`:                       "1:25",
		`{"default":{"ceilings":{"privileged":"allow"}}}`:                        "1:38",
		`{"default":{"confine":{"mode":"maybe"}}}`:                               "1:31",
		`{"default":{"confine":{"mode":"on","write":["~"]}}}`:                    "1:45",
		`{"default":{"confine":{"mode":"on","net":true}}}`:                       "1:36",
		`{"default":{"confine":{"network":false}}}`:                              "1:23",
		`{"default":{},"projects":{"p":{"confine":{"write":["/x"]}}}}`:           "1:42",
		"{\"default\":{\"deny\":[\"\xff\"]}}":                                    "1:1",
		strings.Repeat("[", 100000):                                              "1:17",
	} {
		_, err := Parse("policy.json", []byte(text))
		f := failuretest.Produced(t, err, failure.MachinePolicyInvalid)
		if f.Subject != "policy.json:"+want {
			t.Errorf("%.60s: %s, want %s: %s", text, f.Subject, want, f.Cause)
		}
	}
}

func parsed(t *testing.T, text string) Policy {
	t.Helper()
	p, err := Parse("policy.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const everything = `{
	"default": {"actions": ["terminal", "git_commit", "browse"], "roots": ["/home/ana"], "deny": ["Terminal(curl)"], "images": ["debian:12", "local/*"],
		"network": "none", "terminals": false, "ceilings": {"external_effect": "trust", "privileged": "refuse"},
		"confine": {"mode": "on", "read": ["/opt"], "write": ["/home/ana/.cache"], "network": false}},
	"projects": {"p": {"actions": ["terminal"], "deny": ["GitCommit()"], "terminals": true, "ceilings": {"external_effect": "confirm"}},
		"r": {"confine": {"write": ["/srv/cache"]}}, "s": {"confine": {"mode": "off"}}}}`

func TestRulesOfAProjectStandOverTheDefault(t *testing.T) {
	p := parsed(t, everything)
	for _, c := range []struct {
		project string
		check   func(Lock) bool
	}{
		{"q", func(l Lock) bool { return l.Allows("terminal") && l.Allows("git_commit") && !l.Allows("git_push") }},
		{"p", func(l Lock) bool { return l.Allows("terminal") && !l.Allows("git_commit") }},
		{"p", func(l Lock) bool { return len(l.Denies()) == 2 }},
		{"q", func(l Lock) bool { return len(l.Denies()) == 1 && !l.Terminals() }},
		{"p", Lock.Terminals},
		{"q", func(l Lock) bool {
			return l.At(ExternalEffect) == Trust && l.At(Privileged) == Refuse && l.At(Unresolved) == Usual
		}},
		{"p", func(l Lock) bool { return l.At(ExternalEffect) == Confirm && l.At(Privileged) == Refuse }},
		{"p", func(l Lock) bool {
			return !l.AllowsEgress() && l.AllowsImage("debian:12") && l.AllowsImage("local/x:1") && !l.AllowsImage("debian:13")
		}},
		{"p", func(l Lock) bool {
			return l.AllowsFolder("/home/ana/x", "/home/ana/x") && !l.AllowsFolder("/home/ana/x", "/srv/x") && !l.AllowsFolder("/home/anamaria", "/home/anamaria")
		}},
		{"p", func(l Lock) bool { c := l.Confine(); return c.On && c.Read[0] == "/opt" && !c.Network }},
		{"r", func(l Lock) bool {
			c := l.Confine()
			return c.On && slices.Equal(c.Read, []string{"/opt"}) && slices.Equal(c.Write, []string{"/srv/cache"}) && !c.Network
		}},
		{"s", func(l Lock) bool { return !l.Confine().On && l.Confine().Network }},
	} {
		if !c.check(p.For(c.project)) {
			t.Errorf("%s: %+v", c.project, p.For(c.project))
		}
	}
	var none Lock
	if !none.Allows("git_push") || !none.AllowsFolder("/x", "/x") || !none.AllowsImage("x") || !none.AllowsEgress() || !none.Terminals() || none.Confine().On || !none.Confine().Network || none.At(Privileged) != Usual {
		t.Errorf("%+v", none)
	}
}

// TestManagedPolicyOnlyNarrows holds every way in which a managed policy could widen the person's own.
func TestManagedPolicyOnlyNarrows(t *testing.T) {
	own := parsed(t, everything)
	wide := parsed(t, `{"default":{"actions":["terminal","git_push"],"roots":["/home/ana","/srv"],"images":["debian:12","evil:1"],"network":"egress","terminals":true,
		"ceilings":{"privileged":"trust","unresolved":"trust","external_effect":"refuse"},
		"confine":{"mode":"on","read":["/opt/sub","/etc"],"write":["/"],"network":true}}}`)
	l := Together(own, wide, "q")
	for what, right := range map[string]bool{
		"an action of one alone":   !l.Allows("git_push") && !l.Allows("git_commit") && l.Allows("terminal"),
		"a folder of one alone":    !l.AllowsFolder("/srv/x", "/srv/x"),
		"an image of one alone":    !l.AllowsImage("evil:1") && !l.AllowsImage("local/x") && l.AllowsImage("debian:12"),
		"the network":              !l.AllowsEgress(),
		"terminals":                !l.Terminals(),
		"a ceiling that refuses":   l.At(Privileged) == Refuse,
		"a ceiling left alone":     l.At(Unresolved) == Usual,
		"a ceiling made stricter":  l.At(ExternalEffect) == Refuse,
		"the network of a command": !l.Confine().Network,
		"its folders":              len(l.Confine().Read) == 1 && l.Confine().Read[0] == "/opt/sub" && len(l.Confine().Write) == 1 && l.Confine().Write[0] == "/home/ana/.cache",
		"a deny":                   len(l.Denies()) == 1,
	} {
		if !right {
			t.Errorf("%s: %+v", what, l)
		}
	}
	off := Together(own, parsed(t, `{"default":{"confine":{"mode":"off"}}}`), "q")
	if !off.Confine().On {
		t.Error("a managed policy switched confinement off")
	}
	if !Together(parsed(t, `{}`), parsed(t, `{"default":{"confine":{"mode":"on"}}}`), "q").Confine().On {
		t.Error("a managed policy could not switch confinement on")
	}
}

// TestManagedPolicyNarrowsByEachMember has a machine's policy say one thing where the person's own says nothing, for all
// projects or for one.
func TestManagedPolicyNarrowsByEachMember(t *testing.T) {
	for rules, narrow := range map[string]func(Lock) bool{
		`"actions":["git_commit"]`:                func(l Lock) bool { return !l.Allows("terminal") && l.Allows("git_commit") },
		`"actions":[]`:                            func(l Lock) bool { return !l.Allows("terminal") },
		`"roots":["/srv"]`:                        func(l Lock) bool { return !l.AllowsFolder("/home/x", "/home/x") && l.AllowsFolder("/srv/x", "/srv/x") },
		`"deny":["Terminal(curl)"]`:               func(l Lock) bool { return denies(l, "curl x") && !denies(l, "ls") },
		`"images":["local/*"]`:                    func(l Lock) bool { return !l.AllowsImage("evil:1") && l.AllowsImage("local/x:1") },
		`"network":"none"`:                        func(l Lock) bool { return !l.AllowsEgress() },
		`"terminals":false`:                       func(l Lock) bool { return !l.Terminals() },
		`"ceilings":{"external_effect":"refuse"}`: func(l Lock) bool { return l.At(ExternalEffect) == Refuse && l.At(Privileged) == Usual },
		`"ceilings":{"privileged":"confirm"}`:     func(l Lock) bool { return l.At(Privileged) == Confirm },
		`"ceilings":{"policy_file":"confirm"}`:    func(l Lock) bool { return l.At(PolicyFile) == Confirm },
		`"ceilings":{"unresolved":"refuse"}`:      func(l Lock) bool { return l.At(Unresolved) == Refuse },
		`"confine":{"mode":"on","network":false}`: func(l Lock) bool { return l.Confine().On && !l.Confine().Network },
	} {
		for where, text := range map[string]string{
			"for all": `{"default":{` + rules + `}}`, "for one": `{"projects":{"q":{` + rules + `}}}`,
		} {
			managed := parsed(t, text)
			if !narrow(Together(Policy{}, managed, "q")) {
				t.Errorf("%s does not narrow %s", rules, where)
			}
			if where == "for one" && narrow(Together(Policy{}, managed, "other")) {
				t.Errorf("%s narrows another project", rules)
			}
		}
	}
}

// denies tells whether a command meets a deny of the lock.
func denies(l Lock, command string) bool {
	a := policy.Action{Type: "terminal", Command: command}
	_, denied := policy.NewRecheck(a, policy.Permissions{}, policy.Context{}).Denied(l.Denies()...)
	return denied
}

func TestRulesOfTheCeilings(t *testing.T) {
	for rule, want := range map[policy.Rule]Ceiling{
		policy.CeilingExternalEffect: ExternalEffect, policy.CeilingTypedGit: ExternalEffect, policy.CeilingPrivileged: Privileged,
		policy.CeilingPolicyFile: PolicyFile, policy.CeilingUnresolved: Unresolved, policy.CeilingContainerRemove: "", policy.Default: "",
		policy.CeilingProtectedMerge: ExternalEffect, policy.CeilingInstructionPatch: PolicyFile,
	} {
		if got := CeilingOf(rule); got != want {
			t.Errorf("%s: %q", rule, got)
		}
	}
}

// FuzzParse must never accept what it did not understand: what it takes, it takes again with a blank around it.
func FuzzParse(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte(`{"default":{"deny":["Terminal(x)"],"confine":{"mode":"off"}},"projects":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := Parse("policy.json", data)
		if err != nil {
			failuretest.Produced(t, err, failure.MachinePolicyInvalid)
		}
		_, again := Parse("policy.json", append(append([]byte(" \n"), data...), " \n"...))
		if (err == nil) != (again == nil) {
			t.Errorf("%v, then %v", err, again)
		}
	})
}
