package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
)

// programFiles are this machine's bash, less and vim with all that they need, for an image that has nothing.
func programFiles(t *testing.T) []string {
	t.Helper()
	seen, files := map[string]bool{}, []string{}
	add := func(file string) {
		if _, err := os.Stat(file); err == nil && !seen[file] {
			seen[file], files = true, append(files, file)
		}
	}
	for _, name := range []string{"bash", "less", "vim"} {
		needsProgram(t, name)
		path, err := osexec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		needs, err := osexec.Command("ldd", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, library := range regexp.MustCompile(`(?m)(/\S+) \(0x`).FindAllStringSubmatch(string(needs), -1) {
			add(library[1])
		}
		add("/usr/bin/" + name)
	}
	for _, dir := range []string{"/lib/terminfo/x/", "/usr/share/terminfo/x/"} {
		add(dir + "xterm-256color")
	}
	locale := os.DirFS("/usr/lib/locale")
	for _, pattern := range []string{"C.utf8/*", "C.utf8/LC_MESSAGES/*"} {
		found, err := fs.Glob(locale, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			if info, err := fs.Stat(locale, file); err == nil && info.Mode().IsRegular() {
				add("/usr/lib/locale/" + file)
			}
		}
	}
	return files
}

// inContainer starts a daemon of e and the project's container, of an image that has the files.
func inContainer(t *testing.T, e *engine, address string, files []string, change ...func(*Options)) *daemon {
	t.Helper()
	d := startDaemon(t, e, append(change, onEngine(address))...)
	e.joined(t)
	dir, image := uniqueDir(), importImage(t, address, files...)
	t.Cleanup(func() { removeContainer(t, address, dir) })
	if started := e.container(t, "container_start", "start", `"spec":`+spec(dir, image)); !started.Sucesso {
		t.Fatalf("%+v", started)
	}
	return d
}

// TestProgramsShowFromAContainerWhatABareTerminalShows needs the engines in RUNNER_TEST_ENGINES, and ldd. It runs this
// machine's less, vim and bash with job control inside, and pastes a megabyte.
func TestProgramsShowFromAContainerWhatABareTerminalShows(t *testing.T) {
	files := programFiles(t)
	forEachEngine(t, func(t *testing.T, address, _ string) {
		var env []string
		e := newEngine(t, action.Known()...)
		d := inContainer(t, e, address, files, withTerminals(t, 8), func(o *Options) {
			o.Commands.Inherited = append(o.Commands.Inherited, "LANG=C.UTF-8")
			env = o.Commands.Inherited
		})
		writePage(t, d.root)
		for name, steps := range scenes() {
			t.Run(name, func(t *testing.T) {
				playBoth(t, sitBare(t, d.root, env), e.open(t, name).opened(t), steps)
			})
		}
		// One that is shown again at once would wait for ever in Podman 4.3: its conmon 2.1.6 takes no output as long as it
		// has input to hand over.
		t.Run("paste", func(t *testing.T) {
			takesAPaste(t, e.open(t, "paste").opened(t), d.root, "taken")
		})
	})
}

// TestMuchTerminalOutputTakesNoMemory has 200 MB of a terminal's output go to a server that takes each message when the
// test does, and 32 MB where they come from a container of the engines in RUNNER_TEST_ENGINES, or the race detector looks.
func TestMuchTerminalOutputTakesNoMemory(t *testing.T) {
	patient := func() *engine {
		e := newEngine(t, action.Known()...)
		e.heard = make(chan channel.Message, 16)
		return e
	}
	amount, less := 200<<20, 32<<20
	if raceEnabled {
		amount = less
	}
	t.Run("host", func(t *testing.T) {
		e := patient()
		startDaemon(t, e, withTerminals(t, 1))
		e.joined(t)
		e.flows(t, amount)
	})
	forEachEngine(t, func(t *testing.T, address, _ string) {
		e := patient()
		inContainer(t, e, address, nil, withTerminals(t, 1))
		e.flows(t, less)
	})
}

// flows looks at the memory of the whole process every 16 MiB of a terminal's output.
func (e *engine) flows(t *testing.T, amount int) {
	t.Helper()
	const step = 16 << 20
	w := e.open(t, "one").opened(t)
	w.types(t, fmt.Sprintf("stty raw -echo; echo be''gin; head -c %d /dev/zero; exit\n", amount))
	w.sees(t, "begin")
	total, next, before := strings.Count(w.out.String(), "\x00"), step, inUse()
	for timeout := time.After(5 * time.Minute); total < amount; {
		var msg channel.Message
		select {
		case msg = <-e.heard:
		case <-timeout:
			t.Fatalf("%d bytes came", total)
		}
		var data action.PtyData
		if msg.Event != action.EventPtyData {
			t.Fatalf("%s after %d bytes", msg.Event, total)
		}
		if err := json.Unmarshal(msg.Payload, &data); err != nil {
			t.Fatal(err)
		}
		if total += bytes.Count(data.Data, []byte{0}); total >= next {
			if grown := inUse() - before; grown > 8<<20 {
				t.Fatalf("after %d bytes %d more are in use", total, grown)
			}
			next += step
		}
	}
	w.hear(t, action.EventPtyClosed)
}
