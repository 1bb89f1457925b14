package policy

import (
	"strings"
	"testing"
)

// scopeOf says in, out or unknown by what the scope does: it loosens a cd that stays inside, and tightens an allow.
func scopeOf(t *testing.T, root string, also []string, cwd, command string) string {
	t.Helper()
	a := Action{Type: "terminal", Command: "cd . && " + command, Cwd: cwd}
	p := Permissions{Allow: []string{"Terminal(cat)", "Terminal(ls)", "Terminal(cd)"}}
	switch d := verdictOf(t, a, Owner, Autonomy{}, p, Context{ScopeRoot: root, AlsoInside: also}); d.Rule {
	case "ceiling_path_scope":
		if root != "" && root != "/" && strings.Contains(d.Reason, root) {
			t.Errorf("the reason tells the root: %s", d.Reason)
		}
		return "out"
	case "compound_all_allowed":
		p.Allow = p.Allow[:2] // without an entry for cd
		if d = verdictOf(t, a, Owner, Autonomy{}, p, Context{ScopeRoot: root, AlsoInside: also}); d.Rule == "compound_all_allowed" {
			return "in"
		}
		return "unknown"
	default:
		return string(d.Rule)
	}
}

func TestARootThatIsNoneIsOutForEveryCommand(t *testing.T) {
	for _, root := range []string{"/", "//", "relative", "./x", "/home/../x", "/home/./x", "/home/x/.."} {
		if got := scopeOf(t, root, nil, "", "ls"); got != "out" {
			t.Errorf("root %q: %s", root, got)
		}
	}
	for _, root := range []string{"/home/x/p", "/srv/p", "/home/x/p/", "/home/x//p"} {
		if got := scopeOf(t, root, nil, "", "ls"); got != "in" {
			t.Errorf("root %q: %s", root, got)
		}
	}
	if got := scopeOf(t, "", nil, "", "ls"); got != "unknown" {
		t.Errorf("no root: %s", got)
	}
}

func TestAFolderThatIsNoProjectIsNotInsideToo(t *testing.T) {
	const root = "/home/x/p"
	folders := []string{"/", "relative", "/opt/../opt/a", "/opt/./a", "/home/x/p", "/home/x", "/home"}
	for _, dir := range strings.Fields("/bin /boot /data /dev /etc /lib /lib64 /proc /root /run /sbin /sys /usr /var") {
		folders = append(folders, dir, dir+"/", dir+"/a")
	}
	for _, dir := range folders {
		outside := strings.TrimSuffix(dir, "/") + "/x"
		if dir == root {
			continue
		}
		if got := scopeOf(t, root, []string{dir}, "", "cat "+outside); got != "out" && !strings.HasPrefix(outside, "relative") {
			t.Errorf("%s with %q: %s", outside, dir, got)
		}
	}
	for _, dir := range []string{"/opt/a", "/opt/a/", "/binary", "/etcetera", "/home/x/p2", "/home/x/p/sub"} {
		if got := scopeOf(t, root, []string{dir}, "", "cat "+strings.TrimSuffix(dir, "/")+"/x"); got != "in" {
			t.Errorf("with %q: %s", dir, got)
		}
	}
}

func TestScopeGoesByDirectoryAndPathTokens(t *testing.T) {
	const root = "/home/x/p"
	for _, tc := range []struct {
		cwd, command, want string
		also               []string
	}{
		{"", "cat a", "in", nil},
		{"", "cat a/../b", "in", nil},
		{"", "cat ..", "out", nil},
		{"", "cat a/../../b", "out", nil},
		{root, "cat /home/x/p", "in", nil},
		{root, "cat /home/x/p/a", "in", nil},
		{root, "cat /home/x/p-1/a", "out", nil},
		{root, "cat /home/x//p/./a", "in", nil},
		{root + "/sub", "cat ../a", "in", nil},
		{root + "/sub", "cat ../../a", "out", nil},
		{"/home/x", "ls", "out", nil},
		{"sub", "ls", "out", nil}, // a relative working directory
		{"", "cat $X", "out", nil},
		{"", "cat $(ls)", "out", nil},
		{"", "cat ~", "out", nil},
		{"", "cat ~/a", "out", nil},
		{"", "cat '~'", "in", nil},
		{"", "/bin/ls", "compound_unmatched", nil},
		{"", "ls > /tmp/x", "out", nil},
		{"", "ls > x 2>/dev/null </dev/stdin >/dev/stdout 2>/dev/stderr", "in", nil},
		{"", "ls > /dev/tty", "out", nil},
		{"", "ls > ../x", "out", nil},
		{"", "cat <<< /etc/passwd", "in", nil},
		{"", "cat <<X\n/etc/passwd\nX", "in", nil},
		{"", "for f in /etc/a; do ls; done", "out", nil},
		{"", "[[ -e /etc/a ]] && ls", "compound_unmatched", nil},
		{"", "cat *.ex .x?", "in", nil},
		{"", "cat .?", "out", nil},   // can match ..
		{"", "cat .*/a", "out", nil}, // can match ..
		{"", "cat /tmp/x", "out", nil},
		{"", "cat /tmp/x", "in", []string{"/tmp"}},
		{"/tmp/y", "cat x > /tmp/z", "in", []string{"/tmp"}},
		{"", "cat /usr/share/x", "out", []string{"/usr/share"}}, // no project's folder either
		{"", "cat /home/x/q", "out", []string{"/home/x"}},       // holds the root
		{"", "cat /home/q", "out", []string{"/home/../home"}},
	} {
		if got := scopeOf(t, root, tc.also, tc.cwd, tc.command); got != tc.want {
			t.Errorf("in %q, %s: %s, want %s", tc.cwd, tc.command, got, tc.want)
		}
	}
}

func TestSlashesCostNothing(t *testing.T) {
	slashes := strings.Repeat("/", 50_000)
	for _, root := range []string{"/home/x/p" + slashes, "/home" + slashes + "x/p"} {
		if got := scopeOf(t, root, nil, "", "cat a"+slashes[:20_000]); got != "in" {
			t.Errorf("root with slashes: %s", got)
		}
	}
}

func TestTextWordsAreNoPaths(t *testing.T) {
	p := Permissions{Allow: []string{"Terminal(*)", "Terminal([)"}}
	for command, want := range map[string]Rule{
		"echo /etc/x $X $(ls)":         "compound_all_allowed",
		"echo /etc/x $X":               "file_allow",
		"echo /etc/*":                  "ceiling_path_scope",
		"printf /etc/x":                "file_allow",
		": /etc/x":                     "file_allow",
		"true /etc/x":                  "file_allow",
		"false /etc/x":                 "file_allow",
		`test -f "$X"`:                 "file_allow",
		"test -f /etc/x":               "ceiling_path_scope",
		`[ -f "$X" ]`:                  "file_allow",
		`git commit -m "$X"`:           "file_allow",
		`git commit -am /etc`:          "file_allow",
		`git commit --message="$X"`:    "file_allow",
		`git tag -m "$X" v1`:           "file_allow",
		`git stash push -m /etc`:       "file_allow",
		`git commit -F /etc/x`:         "ceiling_path_scope",
		`grep /etc x`:                  "file_allow",
		`grep -e /etc x`:               "file_allow",
		`grep x /etc/x`:                "ceiling_path_scope",
		`grep -f /etc/x y`:             "ceiling_path_scope",
		`egrep -rn /etc x`:             "file_allow",
		`fgrep -i /etc x`:              "file_allow",
		`rg -g '*.go' /etc x`:          "file_allow",
		`git grep /etc x`:              "file_allow",
		`sed -n /etc/p x`:              "file_allow",
		`sed --expression=/a/p /etc/x`: "ceiling_path_scope",
		`jq /a x`:                      "file_allow",
		`awk '/etc/{print}' x`:         "file_allow",
		`awk '/etc/{print}' /etc/x`:    "ceiling_path_scope",
		`nawk '/etc/' x`:               "file_allow",
		`cat <(ls)`:                    "compound_all_allowed",
		`cat a<(ls)`:                   "ceiling_path_scope",
		`grep --include="*.go" /etc x`: "file_allow",
		`grep -A 3 /etc x`:             "file_allow",
		`grep --unknown-option /etc x`: "ceiling_path_scope",
	} {
		if got := verdictOf(t, Action{Type: "terminal", Command: command}, Owner, Autonomy{}, p, Context{ScopeRoot: "/home/x/p"}); got.Rule != want {
			t.Errorf("%s: %s, want %s", command, got.Rule, want)
		}
	}
}
