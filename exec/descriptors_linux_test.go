package exec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Runs real bash and ls: neither a command nor a terminal gets what this process has open, nor what was left open to it.
func TestNothingOpenIsHandedOn(t *testing.T) {
	left := filepath.Join(t.TempDir(), "left-open")
	fd, err := unix.Open(left, unix.O_CREAT|unix.O_RDWR, 0o600) // as a parent leaves it, to be inherited
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	own, err := os.Open(left)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if err := KeepDescriptors(); err != nil {
		t.Fatal(err)
	}
	umask := 0o022
	for name, change := range map[string]func(*Command){
		"plain":   func(*Command) {},
		"entered": func(c *Command) { c.Enter = func(dir string) (*os.File, error) { return os.Open(dir) } },
		"umask":   func(c *Command) { c.Umask = &umask },
		"bounded": func(c *Command) {
			c.Bounds = Bounds{Limits: Limits{OpenFiles: 64}, Helper: []string{os.Args[0], asBetween}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := command(t, `ls /proc/self/fd`) // the fourth is what ls reads
			change(&c)
			must(t, c, 0, "0\n1\n2\n3\n")
		})
	}
	s := sit(t)
	s.sees(t, "$")
	s.types(t, "ls -l /proc/self/fd; ls -m /proc/self/fd; exit\n")
	if out := s.ends(t); strings.Contains(out, "left-open") || !strings.Contains(out, "0, 1, 2, 3\r\n") {
		t.Errorf("it says %q", out)
	}
}
