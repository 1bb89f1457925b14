package policy

import (
	"strings"
	"testing"
)

// wrapperRows is the table of wrappers of section 17: what they carry is `rm x`, in front of which only the wrapper
// and its options stand.
var wrapperRows = map[string][]string{
	"env":     {"env rm x", "env -i rm x", "env -0v rm x", "env -u N rm x", "env -uN rm x", "env --unset=N rm x", "env --ignore-environment rm x", "env --null rm x", "env --debug rm x", "env - rm x", "env A=b rm x", "env -- rm x"},
	"nohup":   {"nohup rm x", "nohup -- rm x"},
	"setsid":  {"setsid rm x", "setsid -cwf rm x"},
	"nice":    {"nice rm x", "nice -n 5 rm x", "nice -n5 rm x", "nice --adjustment=5 rm x", "nice --adjustment 5 rm x"},
	"stdbuf":  {"stdbuf -oL rm x", "stdbuf -i 0 -o L -e 0 rm x"},
	"timeout": {"timeout 5 rm x", "timeout -s KILL 5 rm x", "timeout -k 5 -v 9 rm x", "timeout --signal=KILL --kill-after=5 --foreground --preserve-status --verbose 9 rm x"},
	"time":    {"time rm x", "time -p rm x", "time -- rm x", "time A=b rm x", "time { rm x; }", "command time rm x"},
	"command": {"command rm x", "command -p rm x", "command -- rm x"},
	"builtin": {"builtin rm x"},
	"exec":    {"exec rm x", "exec -cl rm x"},
	"xargs":   {"xargs rm x", "xargs -0 -r -t -p -x -o rm x", "xargs -0r -n 1 -L1 -P 4 -s 9 -a f -d , -E e rm x", "xargs -I X rm x", "xargs -i rm x", "xargs -i{} rm x", "xargs --null --no-run-if-empty --max-args=1 rm x", "xargs --replace=X rm x"},
	"find":    {"find . -exec rm x {} \\;", "find . -execdir rm x {} +", "find . -ok rm x \\;", "find . -okdir rm x \\;", "find . -exec ls {} + -exec rm x \\;"},
	"fd":      {"fd a -x rm x", "fd -X rm x", "fd -Hx rm x", "fd --exec rm x", "fdfind --exec-batch rm x \\;"},
	"shells": {"sh -c 'rm x'", "bash -c 'rm x'", "dash -c 'rm x'", "ash -c 'rm x'", "ksh -c 'rm x'", "zsh -c 'rm x'", "bash -lc 'rm x'", "bash -euxc 'rm x'", "bash -e -c 'rm x' name",
		"bash -o pipefail -c 'rm x'", "bash -euo pipefail -c 'rm x'", "bash -c -- 'rm x'", "/bin/bash -c 'ls; rm x'", "bash <<< 'rm x'", "bash <<X\nrm x\nX"},
	"other shells": {"fish <<< 'rm x'", "mksh <<X\nrm x\nX"},
	"eval":         {"eval rm x", "eval 'rm x'", "eval 'ls;' rm x"},
	"alias, trap":  {"alias ll='rm x'", "trap 'rm x' EXIT"},
	"sudo, doas":   {"sudo rm x", "sudo -u root rm x", "doas rm x", "sudo A=b rm x", "sudo -i -- rm x"},
	"not read": strings.Split("parallel rm x|watch rm x|script rm x|flock f rm x|strace rm x|ltrace rm x|chroot / rm x|unshare rm x|nsenter rm x|busybox rm x|toybox rm x|"+
		"su -c 'rm x'|runuser rm x|pkexec rm x|ionice rm x|taskset 1 rm x|systemd-run rm x|setpriv rm x|chrt rm x|fakeroot rm x|entr rm x|chpst rm x|sg g 'rm x'|"+
		"newgrp rm x|machinectl rm x|start-stop-daemon rm x|setarch rm x|prlimit rm x|choom rm x|cgexec rm x|firejail rm x|bwrap rm x|proot rm x|gdb rm x|"+
		"valgrind rm x|perf rm x|at rm x|batch rm x", "|"),
	"unreadable options":   {"env -S 'rm x'", "env -C d rm x", "env --chdir=d rm x", "exec -a n rm x", "timeout --what 5 rm x", "xargs --what rm x", "bash --rcfile f -c 'rm x'", "nice -5 rm x"},
	"wrappers in wrappers": {"nohup timeout 5 env nice rm x", "bash -c 'sh -c \"rm x\"'", "xargs env rm x", "find . -exec sh -c 'rm x' \\;", "sudo timeout 5 rm x", "time command rm x"},
}

func TestADenySeesWhatAWrapperCarries(t *testing.T) {
	for wrapper, commands := range wrapperRows {
		for _, command := range commands {
			for _, entry := range []string{"Terminal(rm)", "Terminal(rm x)"} {
				got := verdictOf(t, Action{Type: "terminal", Command: command}, Owner, autoMode, Permissions{Deny: []string{entry}}, Context{})
				if got.Rule != "file_deny" {
					t.Errorf("%s: %s under deny %s: %s", wrapper, command, entry, got.Rule)
				}
			}
		}
	}
}

// TestWhatIsNotReadIsUnresolved goes through the rows that say so, however much is allowed.
func TestWhatIsNotReadIsUnresolved(t *testing.T) {
	commands := append(wrapperRows["not read"], wrapperRows["unreadable options"]...)
	commands = append(commands, wrapperRows["alias, trap"]...)
	commands = append(commands,
		"bash", "bash -", "bash -s", "bash < x", "sh +e x", "bash --init-file x y", "bash -o posix x", "bash -c \"$X\"", "bash -c", "sh -c 'echo $\"x\"'", "ksh -c ls", "zsh -c ls",
		"fish", "fish -c ls", "csh -c ls", "tcsh -x y", "mksh -c ls", "rbash -c ls", "pwsh -c ls", "nu -c ls", "elvish -c ls", "xonsh -c ls", "bash /dev/stdin", "bash /proc/self/fd/0",
		"eval \"$X\"", "source $X", "source x", "source ./a b", ". /dev/stdin", ". ./a > ./a", "source", "xargs sh", "xargs env", "find . -exec sh {} \\;", "find . -exec $X \\;", "fd -x{}",
		"env $X ls", "env \"$(ls)\" ls", "timeout $X ls", "nohup $X",
		"enable x", "bind x", "complete x", "compgen x", "fc", "hash -p a b", "jobs -x ls", "mapfile -C x y", "readarray -C x y", "shopt -s x",
		"set -o posix", "set x", "set -- a", "set -m", "read PATH", "export PATH=x", "declare -n x=y", "printf -v PATH x", "printf '%n' x", "FOO[0]=x ls", "x=(a b)", "PATH=x ls", "LD_PRELOAD=x ls", "GIT_DIR=x ls", "LC_ALL=x ls",
		"f() { ls; }", "$X", "`ls`", "~/x", "=ls", "{a,b}", "$\"x\"", "lş", "ls \u202e", "ls \r", "ls \x00", "ls \xff", "echo $'\\e'", "((X++))", "let X=1", "echo $((X))", "echo $[1]",
		"ls \\", "ls 'x", "ls &&", "(ls", "", " ", "# x", "${X:=y}", "echo ${!X}", "echo ${X@P}", "echo @(a|b)", "ls "+strings.Repeat("x", 32_768),
	)
	for _, command := range commands {
		if command == "" {
			continue // no command at all
		}
		got := verdictOf(t, Action{Type: "terminal", Command: command}, Owner, autoMode, Permissions{}, Context{})
		if got.Policy != RequireApproval || got.Rule != "ceiling_unresolved" {
			t.Errorf("%.60q: %s by %s", command, got.Policy, got.Rule)
		}
	}
}

func TestCarriedThroughNeedsNoAllowOfItsOwn(t *testing.T) {
	p := Permissions{Allow: []string{"Terminal(make)"}}
	for command, want := range map[string]Rule{
		"nohup make": "compound_all_allowed", "setsid -w make": "compound_all_allowed", "nice -n 5 make": "compound_all_allowed", "stdbuf -oL make": "compound_all_allowed",
		"timeout 5 make": "compound_all_allowed", "time make": "compound_all_allowed", "command make": "compound_all_allowed", "exec make": "compound_all_allowed",
		"env make": "compound_all_allowed", "env CI=1 make": "compound_all_allowed", "CI=1 timeout 5 make": "compound_all_allowed", "bash -lc make": "compound_all_allowed",
		"sh -euc make": "compound_all_allowed", "dash -c make": "compound_all_allowed", "bash -euo pipefail -c make": "compound_all_allowed",
		"/usr/bin/timeout 5 make": "compound_unmatched", "env -i make": "compound_unmatched", "exec -c make": "compound_unmatched", "env FOO=1 make": "compound_unmatched",
		"FOO=1 timeout 5 make": "compound_unmatched", "xargs make": "compound_unmatched", "find . -exec make \\;": "compound_unmatched", "bash -c make x": "compound_unmatched",
		"timeout 5": "default", "command -v make": "default", "exec > x": "default", "bash -n -c make": "compound_unmatched", "/bin/sh -c make": "compound_unmatched",
	} {
		if got := verdictOf(t, Action{Type: "terminal", Command: command}, Owner, Autonomy{}, p, Context{}); got.Rule != want {
			t.Errorf("%s: %s, want %s", command, got.Rule, want)
		}
	}
}
