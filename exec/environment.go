package exec

import (
	"runtime"
	"slices"
	"strconv"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// Environment makes the whole environment of a command, later sources winning: what this process inherited without its
// own secrets and without the names that load code into a shell or bend git (protocol.md 12), what keeps tools from
// asking a person who is not there, configured (commands.environment), and what the action brought.
//
// A name of action that decides what a command means is refused: env_not_allowed. A name that no environment can hold,
// or a value with a NUL: invalid_env.
func Environment(inherited []string, configured, action map[string]string) ([]string, error) {
	for name, value := range action {
		if storable(name, value) && !allowedFromAction(canonical(name), value) {
			return nil, failure.New(failure.EnvNotAllowed, name)
		}
	}
	return merge(inherited, unattended(), configured, action)
}

// storable tells whether an environment can hold a variable.
func storable(name, value string) bool {
	return name != "" && !strings.ContainsAny(name, "=\x00") && !strings.ContainsRune(value, 0)
}

// merge puts an environment together, later sources winning, without what must not be inherited.
func merge(inherited []string, sources ...map[string]string) ([]string, error) {
	for _, from := range sources {
		for name, value := range from {
			if !storable(name, value) {
				return nil, failure.New(failure.InvalidEnv, strconv.Quote(name)).
					Because("a name must not be empty nor hold = or NUL, and a value no NUL")
			}
		}
	}
	merged := make(map[string]string, len(inherited)+16)
	for _, pair := range inherited {
		name, value, ok := cutPair(pair)
		if ok && inheritable(canonical(name)) {
			put(merged, name, value)
		}
	}
	for _, from := range sources {
		for name, value := range from {
			put(merged, name, value)
		}
	}
	env := make([]string, 0, len(merged))
	for name, value := range merged {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env, nil
}

// GuardBareRepositories adds git's safe.bareRepository=explicit to env, behind the entries of configuration that env
// has already: git then does not take a folder for a repository, and run what its config names, only because a command
// filled it so (protocol.md 12). A count that is no number is left: git runs nothing then.
func GuardBareRepositories(env []string) []string {
	const name = "GIT_CONFIG_COUNT="
	count, guarded := 0, make([]string, 0, len(env)+3)
	for _, pair := range env {
		if value, found := strings.CutPrefix(pair, name); found {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if value != "" && (err != nil || n < 0) {
				return env
			}
			count = n
			continue
		}
		guarded = append(guarded, pair)
	}
	n := strconv.Itoa(count)
	return append(guarded,
		name+strconv.Itoa(count+1), "GIT_CONFIG_KEY_"+n+"=safe.bareRepository", "GIT_CONFIG_VALUE_"+n+"=explicit")
}

// cutPair splits NAME=value. On Windows some names begin with the sign ("=C:").
func cutPair(pair string) (name, value string, ok bool) {
	if pair == "" {
		return "", "", false
	}
	i := strings.IndexByte(pair[1:], '=')
	if i < 0 {
		return "", "", false
	}
	return pair[:i+1], pair[i+2:], true
}

// canonical is a name as the lists below have it; Windows does not tell upper from lower case.
func canonical(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// put sets a variable, on Windows in the place of one that differs in case alone.
func put(env map[string]string, name, value string) {
	if runtime.GOOS == "windows" {
		for have := range env {
			if strings.EqualFold(have, name) {
				delete(env, have)
			}
		}
	}
	env[name] = value
}

// commandEnv is env with PWD as the folder is named, which a shell keeps where it is right.
func commandEnv(env []string, dir string) []string {
	all := make([]string, 0, len(env)+2)
	for _, pair := range env {
		if !strings.HasPrefix(pair, "PWD=") {
			all = append(all, pair)
		}
	}
	return append(all, "PWD="+dir)
}

// markName is a variable in a command's environment by which its orphans are told from those of a command that runs at
// the same time. Nothing depends on its being left alone, see reaper.
const markName = "RUNNER_COMMAND_ID"

// Marked is env for a program that this process starts outside Run, with the mark by which EndMarked of a later daemon
// finds it and what it starts.
func Marked(env []string, mark string) []string {
	return append(env[:len(env):len(env)], markName+"="+mark)
}
