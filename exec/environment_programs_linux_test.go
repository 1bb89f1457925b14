package exec

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// telltale is a library that tells that it was loaded, also as an auditor of the loader.
const telltale = `#include <unistd.h>
__attribute__((constructor)) static void loaded(void) { if (write(1, "loaded\n", 7) < 0) _exit(9); }
unsigned int la_version(unsigned int version) { return version; }
`

// telltaleIn makes the library in a folder. It needs gcc.
func telltaleIn(t *testing.T, dir string) (library string) {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		missing(t, "gcc")
	}
	source, library := filepath.Join(dir, "telltale.c"), filepath.Join(dir, "telltale.so")
	writeFile(t, source, telltale)
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return library
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestEnvironmentDisarmsTheLoader needs gcc, which makes a library that the real loader would put into every program.
func TestEnvironmentDisarmsTheLoader(t *testing.T) {
	dir := t.TempDir()
	library := telltaleIn(t, dir)
	for _, name := range []string{"LD_PRELOAD", "LD_AUDIT"} {
		t.Run(name, func(t *testing.T) {
			_, err := Environment(nil, nil, map[string]string{name: library})
			if f := failuretest.Produced(t, err, failure.EnvNotAllowed); f.Subject != name {
				t.Errorf("subject %q", f.Subject)
			}
			inherited := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, name + "=" + library}
			c := command(t, "/bin/true; echo ran")
			if c.Env, err = Environment(inherited, nil, nil); err != nil {
				t.Fatal(err)
			}
			must(t, c, 0, "ran\n")
			// The loader really acts on it, and the person's own setting sets it again.
			if c.Env, err = Environment(inherited, map[string]string{name: library}, nil); err != nil {
				t.Fatal(err)
			}
			if r := Run(context.Background(), c); !strings.HasPrefix(r.Output, "loaded\n") || !strings.HasSuffix(r.Output, "ran\n") {
				t.Errorf("the loader took no notice: %+v", r)
			}
		})
	}
}

// TestNotDefendedVariablesOfSinglePrograms needs python3, node, perl, and for iconv gcc. What single programs take orders
// from is not in the list of names: such a variable may come with an action, and is inherited.
func TestNotDefendedVariablesOfSinglePrograms(t *testing.T) {
	for program, c := range map[string]struct{ file, code, name, value, command string }{
		"python3": {"sitecustomize.py", `print("loaded")`, "PYTHONPATH", "DIR", `python3 -c 'print("ran")'`},
		"node":    {"code.js", `console.log("loaded")`, "NODE_OPTIONS", "--require=DIR/code.js", `node -e 'console.log("ran")'`},
		"perl":    {"Code.pm", `package Code; print "loaded\n"; 1;`, "PERL5OPT", "-IDIR -MCode", `perl -e 'print "ran\n"'`},
		"iconv":   {"gconv-modules", "module X// INTERNAL telltale 1\n", "GCONV_PATH", "DIR", `{ iconv -f X -t UTF-8 </dev/null; } 2>/dev/null; echo ran`},
	} {
		t.Run(program, func(t *testing.T) {
			if _, err := exec.LookPath(program); err != nil {
				missing(t, program)
			}
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, c.file), c.code)
			if program == "iconv" {
				telltaleIn(t, dir)
			}
			value := strings.ReplaceAll(c.value, "DIR", dir)
			plain := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
			brought, err := Environment(plain, nil, map[string]string{c.name: value})
			if err != nil {
				t.Fatal(err)
			}
			inherited, err := Environment(append(plain, c.name+"="+value), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, env := range [][]string{brought, inherited} {
				run := command(t, c.command)
				run.Env = env
				must(t, run, 0, "loaded\nran\n")
			}
		})
	}
}
