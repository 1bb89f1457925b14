package exec

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestEnvironmentLaterSourcesWin(t *testing.T) {
	env, err := Environment(
		[]string{"A=inherited", "B=inherited", "C=inherited", "GIT_TERMINAL_PROMPT=1", "not a pair", ""},
		map[string]string{"B": "configured", "C": "configured", "GCM_INTERACTIVE": "always"},
		map[string]string{"C": "of the action", "BRABO_GIT_TOKEN": "t"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"A=inherited", "B=configured", "BRABO_GIT_TOKEN=t", "C=of the action", "DEBIAN_FRONTEND=noninteractive",
		"GCM_INTERACTIVE=always", "GIT_TERMINAL_PROMPT=0", "PIP_NO_INPUT=1", "SSH_ASKPASS_REQUIRE=never",
	}
	if !slices.Equal(env, want) {
		t.Errorf("got  %q\nwant %q", env, want)
	}
}

func TestEnvironmentInheritsNoCodeAndNoSecrets(t *testing.T) {
	dropped := []string{
		"BASH_ENV", "ENV", "BASH_FUNC_ls%%", "SHELLOPTS", "BASHOPTS", "LD_PRELOAD", "LD_LIBRARY_PATH",
		"DYLD_INSERT_LIBRARIES", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_PARAMETERS", "BRABO_ACCOUNT_TOKEN", "RUNNER_TOKEN", "NOTIFY_SOCKET", "LISTEN_FDS",
	}
	kept := []string{"PATH", "HOME", "LANG", "GIT_SSH_COMMAND", "GIT_AUTHOR_NAME", "SSH_AUTH_SOCK", "XLD_A", "ENVIRONMENT", "CI"}
	var inherited []string
	for _, name := range slices.Concat(dropped, kept) {
		inherited = append(inherited, name+"=x")
	}
	env, err := Environment(inherited, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range dropped {
		if slices.Contains(env, name+"=x") {
			t.Errorf("%s reaches the command", name)
		}
	}
	for _, name := range kept {
		if !slices.Contains(env, name+"=x") {
			t.Errorf("%s does not reach the command", name)
		}
	}
	env, err = Environment(inherited, map[string]string{"BASH_ENV": "mine", "GIT_CONFIG_COUNT": "0"}, nil)
	if err != nil || !slices.Contains(env, "BASH_ENV=mine") || !slices.Contains(env, "GIT_CONFIG_COUNT=0") {
		t.Errorf("what the person configured does not reach the command: %q, %v", env, err)
	}
}

func TestEnvironmentOfAnAction(t *testing.T) {
	for name, value := range map[string]string{
		"BRABO_GIT_USERNAME": "u", "BRABO_GIT_TOKEN": "t", "BRABO_GIT_HOST": "h", "GIT_TERMINAL_PROMPT": "0", "CI": "1", "FOO": "",
		"LANG": "C", "LC_ALL": "pt_BR.UTF-8", "LC_CTYPE": "en_US.utf8", "LC_TIME": "", "LANGUAGE": "pt", "path": "x", "MY_GIT_DIR": "x",
	} {
		if env, err := Environment(nil, nil, map[string]string{name: value}); err != nil || !slices.Contains(env, name+"="+value) {
			t.Errorf("%s=%s: %q, %v", name, value, env, err)
		}
	}
	for name, value := range map[string]string{
		"PATH": "/tmp", "IFS": "", "ENV": "x", "BASH_ENV": "x", "SHELLOPTS": "x", "BASHOPTS": "x", "CDPATH": "/", "PROMPT_COMMAND": "x",
		"PS4": "x", "GLOBIGNORE": "*", "EXECIGNORE": "*", "POSIXLY_CORRECT": "", "BASH_COMPAT": "4.2", "LD_PRELOAD": "x",
		"DYLD_INSERT_LIBRARIES": "x", "BASH_FUNC_ls%%": "() { :; }", "GIT_DIR": "x", "GIT_SSH_COMMAND": "x", "GIT_CONFIG_COUNT": "1",
		"GIT_": "x", "LANG": "ja_JP.SJIS", "LC_ALL": "zh_CN.GBK", "LC_CTYPE": "de_DE", "RANDOM": "1", "SECONDS": "1", "BASHPID": "1",
	} {
		_, err := Environment(nil, nil, map[string]string{name: value})
		if f := failuretest.Produced(t, err, failure.EnvNotAllowed); f.Subject != name {
			t.Errorf("%s: subject %q", name, f.Subject)
		}
	}
	for name, value := range map[string]string{"": "x", "A=B": "x", "A\x00": "x", "A": "\x00"} {
		for _, from := range [][2]map[string]string{{nil, {name: value}}, {{name: value}, nil}} {
			_, err := Environment(nil, from[0], from[1])
			failuretest.Produced(t, err, failure.InvalidEnv)
		}
	}
}

func TestGuardBareRepositories(t *testing.T) {
	for name, tc := range map[string]struct{ env, want []string }{
		"alone": {
			[]string{"A=1"},
			[]string{"A=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.bareRepository", "GIT_CONFIG_VALUE_0=explicit"}},
		"behind the person's own": {
			[]string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c"},
			[]string{"GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c", "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_1=safe.bareRepository", "GIT_CONFIG_VALUE_1=explicit"}},
		"an empty count": {
			[]string{"GIT_CONFIG_COUNT="},
			[]string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.bareRepository", "GIT_CONFIG_VALUE_0=explicit"}},
		"a count that git refuses": {[]string{"GIT_CONFIG_COUNT=many"}, []string{"GIT_CONFIG_COUNT=many"}},
		"a count below zero":       {[]string{"GIT_CONFIG_COUNT=-1"}, []string{"GIT_CONFIG_COUNT=-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := GuardBareRepositories(tc.env); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// Runs real bash and git: what the lists drop is what these act on.
func TestEnvironmentDisarmsRealPrograms(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		missing(t, "git")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("echo from BASH_ENV\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	inherited := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir,
		"BASH_ENV=" + script, "ENV=" + script, "BASH_FUNC_true%%=() { echo a function; }", "SHELLOPTS=xtrace", "PS4=traced ",
		"LD_PRELOAD=/no/such/library.so", "GIT_DIR=/no/such/repository", "GIT_CONFIG_GLOBAL=/no/such/file",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=alias.hello", "GIT_CONFIG_VALUE_0=!echo an alias",
		"BRABO_ACCOUNT_TOKEN=the-secret",
	}
	env, err := Environment(inherited, nil, map[string]string{"BRABO_GIT_TOKEN": "its own"})
	if err != nil {
		t.Fatal(err)
	}
	c := command(t, `true; git init -q . && git rev-parse --git-dir; git hello 2>/dev/null; env | grep the-secret; echo "$BRABO_GIT_TOKEN"`)
	c.Env = env
	must(t, c, 0, ".git\nits own\n")
	// Bash really acts on them.
	c.Env = slices.DeleteFunc(inherited, func(pair string) bool {
		return strings.HasPrefix(pair, "LD_PRELOAD") || strings.HasPrefix(pair, "SHELLOPTS")
	})
	c.Text = `true`
	must(t, c, 0, "from BASH_ENV\na function\n")
}

// Runs real bash and git.
func TestGuardStopsGitInAFolderFilledToLookLikeARepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		missing(t, "git")
	}
	c := command(t, `git init -q --bare trap && cd trap && git config core.bare false && git config core.worktree .. &&
		touch ../file && git add ../file && git config core.fsmonitor 'touch sprung; false'`)
	must(t, c, 0, "")
	unguarded := c.Env
	c.Text = `cd trap; git status >/dev/null 2>&1; cd ..; [ -e sprung ] && echo sprung || echo safe`
	c.Env = GuardBareRepositories(unguarded)
	must(t, c, 0, "safe\n")
	c.Env = unguarded
	must(t, c, 0, "sprung\n")
}

func FuzzEnvironment(f *testing.F) {
	f.Add("A=1\nBASH_ENV=x", "LANG", "C", "B", "2")
	f.Add("=C:=x\n=", "GIT_DIR", "x", "", "")
	f.Fuzz(func(t *testing.T, inherited, actionName, actionValue, name, value string) {
		action := map[string]string{actionName: actionValue}
		configured := map[string]string{name: value}
		env, err := Environment(strings.Split(inherited, "\n"), configured, action)
		if err != nil {
			if !failure.Is(err, failure.EnvNotAllowed) && !failure.Is(err, failure.InvalidEnv) {
				t.Fatal(err)
			}
			return
		}
		seen := make(map[string]string)
		for _, pair := range GuardBareRepositories(env) {
			name, value, ok := cutPair(pair)
			if !ok {
				t.Fatalf("%q is no pair", pair)
			}
			if _, twice := seen[name]; twice {
				t.Fatalf("%q stands twice", name)
			}
			seen[name] = value
		}
		if seen[actionName] != actionValue && !strings.HasPrefix(actionName, "GIT_CONFIG_") {
			t.Fatalf("%q became %q", actionName, seen[actionName])
		}
		for _, name := range slices.Sorted(maps.Keys(seen)) {
			if _, own := configured[name]; !own && !inheritable(canonical(name)) && !strings.HasPrefix(name, "GIT_CONFIG_") {
				if _, brought := action[name]; !brought {
					t.Fatalf("%q was inherited", name)
				}
			}
		}
	})
}
