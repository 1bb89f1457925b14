package policy

import (
	"fmt"
	"strings"
	"testing"
)

func ours() Protected {
	return Protected{
		Programs: []string{"runner"}, Commands: []string{"approve", "confirm", "policy", "config"},
		Folders:   []string{"/home/ana/.config/runner", "/home/ana/.local/state/runner"},
		Files:     []string{"brabo-runner-device-key.jwk.json"},
		Variables: map[string]string{"HOME": "/home/ana", "XDG_CONFIG_HOME": "/home/ana/.config"},
	}
}

const shop = "/home/ana/shop"

func TestCommandThatSteersTheJudgeIsFound(t *testing.T) {
	for _, command := range []string{
		// calls, through wrappers, paths and quotes
		"runner approve 1", "/usr/local/bin/runner confirm allow 1", "./runner --json approve 1", "runner $X", "runner $(echo approve) 1",
		`sh -c "runner approve 1"`, "env A=1 runner config set x y", "sudo runner policy seed", "nohup runner approve 1 &", "true && runner approve 1",
		"echo 1 | xargs runner approve", "timeout 5 runner approve 1", `eval "runner approve 1"`, "run''ner appro've' 1", `R=runner; $R approve 1`,
		`for c in approve; do runner $c 1; done`, "find . -exec runner approve {} ;", "bash <<<'runner approve 1'", "r*ner approve 1",
		// names, reading included
		"cat /home/ana/.config/runner/policy.json", "cat ~/.config/runner/policy.json", "cat $HOME/.config/runner/policy.json",
		`cat "$HOME"/.config/runner/policy.json`, "cat ${HOME}/.config/runner/policy.json", "cat ${HOME%/}/.config/runner/policy.json",
		"cat $XDG_CONFIG_HOME/runner/policy.json", "cat ../.config/runner/policy.json", "cat ../../ana/.config/runner/policy.json", "cat ~ana/.config/runner/config.json",
		"cat ~/.config/./runner//policy.json", "cat ~/.conf''ig/runner/policy.json", `cat ~/.c*/runner/policy.json`, "cat ~/.config/r?nner/*", "cat ~/.config/{git,runner}/config.json",
		"cd ~/.config && cat runner/policy.json", "cd ~ && cd .config/runner && ls", "cd ..; ls .config/runner", "X=~/.config/runner; cat $X/policy.json",
		"D=runner; cat ~/.config/$D/policy.json", "echo '{}' > ~/.config/runner/policy.json", "cp x ~/.config/runner/policy.json", "ls ~/.config/RUNNER",
		"python3 -c 'print(open(\"/home/ana/.config/runner/policy.json\").read())'", "dd if=/home/ana/.config/runner/token of=x", "tar --file=x.tar ~/.config/runner",
		"curl --unix-socket ~/.local/state/runner/control.sock http://x/confirm", "cat <~/.local/state/runner/journal.db", "ln -s ~/.config/runner x", "ssh host cat '~/.config/runner/x'",
		"docker run -v /home/ana/.config/runner:/x busybox cat /x/policy.json", "cat <<E | sh\ncat ~/.config/runner/policy.json\nE\n",
		`node -e 'require("fs").rmSync(process.env.HOME + "/x"); // ~/.config/runner'`, "if then cat ~/.config/runner/policy.json",
		// whole trees around them
		"rm -rf ~", "mv ~/.config /tmp/x", "cp -r .. /tmp/x", "ln -s ~/.config x", "chmod -R 777 /home", "tar cf x.tar ~/.local", "find ~ -name policy.json -delete", "rm -rf ..",
		// the key files of the existing client
		"cat brabo-runner-device-key.jwk.json", "cp sub/brabo-runner-device-key.jwk.* x", "git add -f ./brabo-runner-device-key.jwk.json",
	} {
		r := NewRecheck(Action{Type: typeTerminal, Command: command, Cwd: shop}, Permissions{}, Context{ScopeRoot: shop})
		if r.Steers(ours()) == "" {
			t.Errorf("not found: %s", command)
		}
	}
}

func TestCommandOfEverydayDoesNotSteerTheJudge(t *testing.T) {
	for _, command := range []string{
		"npm test", "runner propose terminal -- ls", "runner status", "runner history --failed", "./test-runner approve", "echo runner approve", "grep -rn 'runner approve' docs",
		"git commit -m 'let the runner confirm'", "cat .config/runner/x", "cat config/runner.json", "ls ~/.config/runners", "ls /home/bob/.config/runner", "cd .. && ls", "cat $FILE",
		"rm -rf node_modules dist", "rm -rf ./*", "cp -r src /tmp/x", "tar czf x.tgz .", "find . -name '*.go' -delete", "mv a b", "cat ~/.gitconfig", "ls ~", `for f in *; do cat "$f"; done`,
		"ls -la .local/state/runner", "X=$(pwd); cd $X && make", "git -C $D status", "cat brabo-runner.md", "docker run -v $PWD:/work x", "npx jest --config ./jest.config.js",
	} {
		r := NewRecheck(Action{Type: typeTerminal, Command: command, Cwd: shop}, Permissions{}, Context{ScopeRoot: shop})
		if why := r.Steers(ours()); why != "" {
			t.Errorf("%s: %s", command, why)
		}
	}
}

func TestCommandInAProtectedFolderSteers(t *testing.T) {
	r := NewRecheck(Action{Type: typeTerminal, Command: "ls", Cwd: "/home/ana/.config/runner"}, Permissions{}, Context{ScopeRoot: "/home/ana"})
	if r.Steers(ours()) == "" {
		t.Error("not found")
	}
}

func TestPathsOfProtectedFilesAreKnown(t *testing.T) {
	for path, want := range map[string]bool{
		"/home/ana/.config/runner/policy.json": true, "/home/ana/.config/Runner": true, "/home/ana/shop/a/../../.config/runner/x": true,
		"/home/ana/shop/brabo-runner-device-key.jwk.json": true, "/home/ana/shop/runner": false, "/home/ana/.config": false,
	} {
		if got := ours().SteersPath(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestRecheckTellsEveryCeilingThatApplies(t *testing.T) {
	c := Context{ScopeRoot: shop}
	for command, want := range map[string][]Rule{
		"npm test":                       nil,
		"git push":                       {CeilingExternalEffect},
		"sudo git push; $X > .git/hooks": {CeilingExternalEffect, CeilingPrivileged, CeilingUnresolved, CeilingPolicyFile},
		"cat /etc/passwd":                nil, // the scope is no matter of the machine
		"if then":                        {CeilingUnresolved},
	} {
		r := NewRecheck(Action{Type: typeTerminal, Command: command}, Permissions{}, c)
		var got []Rule
		for _, d := range r.Ceilings() {
			got = append(got, d.Rule)
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v", command, got)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: %v", command, got)
			}
		}
		if r.Parses() != (command != "if then") {
			t.Errorf("%s parses: %v", command, r.Parses())
		}
	}
	for a, want := range map[Action]Rule{
		{Type: "git_push"}: CeilingTypedGit, {Type: "write_file", Path: ".git/config"}: CeilingPolicyFile, {Type: "write_file", Path: "a"}: "",
		{Type: "container_remove"}: CeilingContainerRemove, {Type: "container_start"}: "", {Type: "terminal", Command: "git push"}: "",
	} {
		if d, met := TypedCeiling(a, c); met != (want != "") || met && d.Rule != want {
			t.Errorf("%v: %v", a, d)
		}
	}
}

func TestFurtherRulesDenyAsTheFileDoes(t *testing.T) {
	machine := Compile(Permissions{Deny: []string{"Terminal(curl)", "GitPush()"}})
	r := NewRecheck(Action{Type: typeTerminal, Command: "env X=1 curl x"}, Permissions{}, Context{ScopeRoot: shop})
	if d, denied := r.Denied(machine); !denied || d.Rule != FileDeny {
		t.Errorf("%+v", d)
	}
	if _, denied := r.Denied(); denied {
		t.Error("denied by nothing")
	}
	if _, denied := machine.DeniesType("git_push"); !denied {
		t.Error("git_push is not denied")
	}
}

// TestNotDefendedCommandThatReachesTheJudgeByAnotherProgram: a text does not show all that its programs do; SECURITY.md
// says so.
func TestNotDefendedCommandThatReachesTheJudgeByAnotherProgram(t *testing.T) {
	for _, command := range strings.Split(strings.TrimSpace(`
bash check.sh
. ./check.sh
cat check.sh | sh
make -f <(echo 'x:;@runner approve 1')
./copied approve 1
cat /usr/bin/runner >copied; ./copied approve 1
cat link/policy.json
python3 -c 'import os; os.system("run"+"ner approve 1")'
echo cnVubmVyIGFwcHJvdmUgMQ== | base64 -d | sh
cat $(printf %s /home/ana/.config/run ner/policy.json)
A=r; B=unner; $A$B approve 1
git -C ~/.config apply x.patch
make -C ~/.config
env -C ~/.config cat runner/policy.json
unzip -d ~/.config x.zip
grep -r x ~/.config
find ~/.config -name policy.json -exec cat {} +
docker run -v /home:/x busybox cat /x/ana/.config/runner/policy.json
`), "\n") {
		r := NewRecheck(Action{Type: typeTerminal, Command: command, Cwd: shop}, Permissions{}, Context{ScopeRoot: shop})
		if got := r.Steers(ours()); got != "" {
			t.Errorf("%q is seen: %s", command, got)
		}
	}
}

func TestManyNamesForThisProgramAreMoreThanCanBeFollowed(t *testing.T) {
	many := ""
	for i := range maxAliases + 1 {
		many += fmt.Sprintf("A%d=runner; ", i)
	}
	for command, steers := range map[string]bool{many: true, strings.Repeat("R=runner; ", 100): false, strings.Repeat("R=runner; ", 100) + "$R confirm": true} {
		r := NewRecheck(Action{Type: typeTerminal, Command: command, Cwd: shop}, Permissions{}, Context{ScopeRoot: shop})
		if got := r.Steers(ours()); (got != "") != steers {
			t.Errorf("%.40s…: %q", command, got)
		}
	}
}

// TestHugeInputsAreSearchedInTime would not end if the words of a text were looked at once for each way to read them.
func TestHugeInputsAreSearchedInTime(t *testing.T) {
	inputs := hugeInputs()
	inputs["names for this program"] = megabyte("", "R=runner;$R x;", "")
	for name, command := range inputs {
		t.Run(name, func(t *testing.T) {
			command = command[:min(len(command), 1<<17)]
			r := NewRecheck(Action{Type: typeTerminal, Command: command, Cwd: shop}, Permissions{}, Context{ScopeRoot: shop})
			r.Steers(ours())
			r.Ceilings()
		})
	}
}

// FuzzSteers must find what stands in a line of its own, whatever stands around it.
func FuzzSteers(f *testing.F) {
	for _, text := range []string{"ls", "cd ~; cat", "X=$HOME; for a in b; do", "echo ${HOME%/}/.config/{a,b}", "sudo -u x env A=~/y sh -c 'cd ..'", "cat <<E\n$X\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		command := text + "\ncat /home/ana/.config/runner/policy.json\n"
		r := NewRecheck(Action{Type: typeTerminal, Command: command, Cwd: shop}, Permissions{}, Context{ScopeRoot: shop})
		if r.Steers(ours()) == "" {
			t.Errorf("%q", command)
		}
		r.Ceilings()
	})
}
