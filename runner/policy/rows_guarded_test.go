package policy

import (
	"strings"
	"testing"
)

var guardedPaths = strings.Fields(`
permissions.json ./permissions.json a/../permissions.json PERMISSIONS.json
.git .git/config .git/config.worktree .git/commondir .git/info/attributes .git/hooks .git/hooks/x .git/modules/x/y .git/worktrees/x .GIT/Config sub/.git/config sub/.git
.claude .claude/x .codex/x .gemini/x .cursor/x .vscode/x .idea/x .devcontainer/x .husky/x sub/.vscode/x .VSCode/x
.mcp.json .envrc sub/.mcp.json sub/.envrc .Envrc`)

var freePaths = strings.Fields(`
sub/permissions.json permissions.json.bak xpermissions.json .git/HEAD .git/index .git/refs/x .gitignore .gitattributes .gitmodules .github/x .vscodex/x x.mcp.json .envrc2 claude/x`)

func TestGuardedFilesAreWrittenByAPerson(t *testing.T) {
	c := Context{ScopeRoot: "/home/x/p"}
	check := func(a Action, guarded bool) {
		t.Helper()
		if got := verdictOf(t, a, Owner, autoMode, Permissions{}, c); (got.Rule == "ceiling_policy_file") != guarded {
			t.Errorf("%+v: %s by %s", a, got.Policy, got.Rule)
		}
	}
	for _, path := range guardedPaths {
		check(Action{Type: "write_file", Path: path}, true)
		check(Action{Type: "write_file", Path: "/home/x/p/" + path}, true)
		for _, command := range []string{
			"tee $", "whatever $", "whatever --x=$", "whatever -x$", "ls > $", "ls >> $", "ls >| $", "ls <> $", "ls &> $", "ls &>> $", "ls >& $", "{ ls; } > $",
			"tee x{,y} $", "env tee $", "bash -c 'tee $'", "cat x | tee $", "sed -i s/a/b/ $", "find $ -delete", "git checkout $", "cd . && rm $",
		} {
			check(Action{Type: "terminal", Command: strings.ReplaceAll(command, "$", path)}, true)
		}
		check(Action{Type: "terminal", Command: "tee " + path, Cwd: "/home/x/p"}, true)
	}
	for _, path := range freePaths {
		check(Action{Type: "write_file", Path: path}, false)
		check(Action{Type: "terminal", Command: "tee " + path}, false)
		check(Action{Type: "terminal", Command: "ls > " + path}, false)
	}
	for command, guarded := range map[string]bool{
		"rm -rf .": true, "rm -rf ..": true, "rmdir /home/x/p": true, "mv . x": true, "cp -r . x": true, "cp . x": false, "cp -a . x": true, "cp -R .. x": true, "rsync . x": true,
		"chmod -R x .": true, "chown x /home/x": true, "rm -rf sub": false, "tee .": false,
		"cp a/permissions.json b": true, "mv a/.git b": true, "ln a/permissions.json b": true, "install x/permissions.json b": true, "rsync a/.git b": true, "tee a/permissions.json": false,
		"rm .g*": true, "rm *": true, "rm .*": true, "rm permi*": true, "rm ?git/config": false, "tee .{git,x}/config": true,
		"cd .git && tee config": true, "cd sub && tee permissions.json": true, "cd sub && tee x": false, "git -C .git whatever config": true,
		"find . -path ./.git -prune -o -exec rm {} \\;": false, "find . -name .git -exec cp -r {} x \\;": true, "find . ! -path './.git/*' -exec rm {} \\;": false,
		"export X=.git/config": false, "fd -E .git -x rm": false,
	} {
		check(Action{Type: "terminal", Command: command}, guarded)
	}
	if got := verdictOf(t, Action{Type: "write_file", Path: "/a/b/permissions.json"}, Owner, autoMode, Permissions{}, Context{}); got.Rule != "ceiling_policy_file" {
		t.Errorf("with an unknown root: %s", got.Rule)
	}
	if got := verdictOf(t, Action{Type: "write_file"}, Owner, autoMode, Permissions{}, c); got.Rule != "autonomy_auto_approve" {
		t.Errorf("without a path: %s", got.Rule)
	}
}

func TestPureReadersMayReadGuardedFiles(t *testing.T) {
	c := Context{ScopeRoot: "/home/x/p"}
	readers := strings.Fields(`cat head tail less more grep egrep fgrep rg wc ls stat file diff cmp cut sort uniq tr jq md5sum sha1sum sha256sum test [ echo printf cd pushd pwd
		basename dirname realpath readlink sed awk nl tac rev column comm paste fold seq sleep du df tree od xxd whoami uname id type find fd fdfind`)
	for _, sub := range strings.Fields("status diff log show blame add commit ls-files ls-tree rev-parse grep merge-base rev-list describe cat-file shortlog check-ignore") {
		readers = append(readers, "git "+sub, "git --no-pager -C sub "+sub)
	}
	for _, reader := range readers {
		command := reader + " .git/config"
		if reader == "sed" {
			command = "sed -n p .git/config" // otherwise it would be the script
		}
		if strings.HasPrefix(reader, "git --no-pager") {
			command = reader + " ../.git/config"
		}
		if got := verdictOf(t, Action{Type: "terminal", Command: command}, Owner, autoMode, Permissions{}, c); got.Rule == "ceiling_policy_file" {
			t.Errorf("%s: %s", command, got.Rule)
		}
	}
	for _, command := range []string{"sort -o .git/config x", "sed -i s/a/b/ .git/config", "find .git -delete", "find .git/hooks -exec cp {} x \\;", "git -c a=b add .git/config", "xxd -r x .git/config", "/bin/cat .git/config", "git checkout .git/config", "diff --to-file=.git/config x"} {
		if got := verdictOf(t, Action{Type: "terminal", Command: command}, Owner, autoMode, Permissions{}, c); got.Rule != "ceiling_policy_file" {
			t.Errorf("%s: %s by %s", command, got.Policy, got.Rule)
		}
	}
}
