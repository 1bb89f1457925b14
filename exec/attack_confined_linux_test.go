package exec

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// victim is a home with a secret, a project, and this runner's own folder with its socket.
type victim struct{ home, project, own, socket, datagrams, port string }

func newVictim(t testing.TB) victim {
	t.Helper()
	home := t.TempDir()
	v := victim{home: home, project: filepath.Join(home, "project"), own: filepath.Join(home, ".config", "runner")}
	for _, folder := range []string{v.project, v.own, filepath.Join(home, ".ssh"), filepath.Join(home, "tool")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{".ssh/id": "SECRET\n", ".profile": "kept\n", ".config/runner/key": "SECRET\n", "tool/help": "a tool's text\n"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v.socket = listen(t, "unix", shortPath(t))
	v.datagrams = shortPath(t)
	d, err := net.ListenPacket("unixgram", v.datagrams)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	v.port = listen(t, "tcp", "127.0.0.1:0")
	return v
}

// shortPath is one that fits a socket's address.
func shortPath(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func listen(t testing.TB, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// bounds confine to the victim's project.
func (v victim) bounds(t testing.TB, network bool) Bounds {
	t.Helper()
	if _, err := Confinement(); err != nil {
		missing(t, "Landlock: "+err.Error())
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Bounds{
		Helper: []string{binary, asBetween},
		Confine: &Confine{
			Read: []string{binary, filepath.Join(v.home, "tool")}, Write: []string{v.project}, Out: []string{v.own}, Network: network,
		},
	}
}

// command is text in the project, with the victim's home.
func (v victim) command(t testing.TB, text string) Command {
	t.Helper()
	c := command(t, text)
	c.Dir = v.project
	c.Env = append(c.Env, "V="+v.home, "SOCKET="+v.socket, "DATAGRAMS="+v.datagrams, "PORT="+v.port, "ATTACK="+strings.TrimSpace(attacker()))
	return c
}

// TestAttackConfinedCommand needs bash and a kernel with Landlock. Each row is tried without bounds first, where it has
// to succeed, or it would show nothing.
func TestAttackConfinedCommand(t *testing.T) {
	for _, c := range []struct {
		tried, text string
		network     bool // it is let at it
	}{
		{tried: "reads a key", text: `cat $V/.ssh/id`},
		{tried: "reads this runner's own", text: `cat $V/.config/runner/key`},
		{tried: "reads it by a link of its own", text: `ln -s $V/.ssh link && cat link/id`},
		{tried: "gives it a second name", text: `ln $V/.ssh/id id && cat id`},
		{tried: "takes it away", text: `mv $V/.ssh/id . && cat id`},
		{tried: "lists the home", text: `ls $V/.ssh`},
		{tried: "empties a file", text: `truncate -s 0 $V/.profile`},
		{tried: "appends to a file", text: `echo evil >>$V/.profile`},
		{tried: "makes a file outside", text: `echo evil >$V/.bashrc`},
		{tried: "writes what it may only read", text: `echo evil >$V/tool/help`},
		{tried: "removes a file", text: `rm $V/.profile`},
		{tried: "writes to the shared folder for temporary files", text: `set -e; f=/tmp/attack.$$; echo x >$f; rm $f`},
		{tried: "from the background", text: `(cat $V/.ssh/id; echo $? >done) & wait; exit $(cat done)`},
		{tried: "from another session", text: `setsid -w cat $V/.ssh/id`},
		{tried: "reads its parent's environment", text: `cat /proc/$PPID/environ >/dev/null`},
		{tried: "goes through its parent's root", text: `cat /proc/$PPID/root$V/.ssh/id`},
		{tried: "reaches a socket of this machine", text: `$ATTACK connect unix $SOCKET`},
		{tried: "reaches it while it has a network", text: `$ATTACK connect unix $SOCKET`, network: true},
		{tried: "hides the kind of socket", text: `$ATTACK hide-family`, network: true},
		{tried: "sends to a socket of this machine from a pair", text: `$ATTACK datagram $DATAGRAMS`, network: true},
		{tried: "lowers the limits of its parent", text: `$ATTACK limit-parent`, network: true},
		{tried: "shares memory by number", text: `$ATTACK shared-memory`},
		{tried: "calls through a ring", text: `$ATTACK ring`},
		{tried: "opens files by handle", text: `$ATTACK handle`},
		{tried: "connects out", text: `$ATTACK connect tcp $PORT`},
		{tried: "connects out from the shell", text: `exec 5<>/dev/tcp/${PORT%:*}/${PORT#*:}`},
		{tried: "sends packets", text: `$ATTACK packet`},
		{tried: "uses the keys that the kernel keeps", text: `$ATTACK keys`},
	} {
		t.Run(c.tried, func(t *testing.T) {
			free := newVictim(t)
			if r := Run(context.Background(), free.command(t, c.text)); r.ExitCode != 0 {
				t.Fatalf("nothing needs to stop it: %d, %s, %v", r.ExitCode, r.Output, r.Failure)
			}
			v := newVictim(t)
			cmd := v.command(t, c.text)
			cmd.Bounds = v.bounds(t, c.network)
			r := Run(context.Background(), cmd)
			if r.Failure != nil || r.ExitCode == 0 || strings.Contains(r.Output, "SECRET") {
				t.Errorf("%d, %s, %v", r.ExitCode, r.Output, r.Failure)
			}
			for name, want := range map[string]string{".ssh/id": "SECRET\n", ".profile": "kept\n", "tool/help": "a tool's text\n", ".bashrc": ""} {
				if text, _ := os.ReadFile(filepath.Join(v.home, name)); string(text) != want {
					t.Errorf("%s holds %q", name, text)
				}
			}
		})
	}
}

// TestAttackConfinedCommandSignalsTheDaemon needs bash and Landlock of Linux 6.12.
func TestAttackConfinedCommandSignalsTheDaemon(t *testing.T) {
	v := newVictim(t)
	c := v.command(t, `kill -0 $PPID`)
	c.Bounds = v.bounds(t, true)
	if told, _ := Confinement(); strings.Contains(told, "signals") {
		missing(t, "the scope of signals in Landlock")
	}
	if r := Run(context.Background(), c); r.ExitCode == 0 || r.Failure != nil {
		t.Errorf("%d, %s, %v", r.ExitCode, r.Output, r.Failure)
	}
}

// TestAttackConfinedTerminal needs bash and a kernel with Landlock.
func TestAttackConfinedTerminal(t *testing.T) {
	v := newVictim(t)
	s := sit(t, func(o *TerminalOptions) {
		o.Dir, o.Bounds = v.project, v.bounds(t, false)
		for _, pair := range o.Env {
			if home, ok := strings.CutPrefix(pair, "HOME="); ok {
				o.Confine.Read = append(o.Confine.Read, home) // where its prompt is
			}
		}
		o.Env = append(o.Env, "V="+v.home)
	})
	s.sees(t, "$")
	s.types(t, "cat $V/.ssh/id; echo 'wri''tten' >mine; cat mine; tty >/dev/tty; exit 7\n")
	out := s.ends(t)
	if strings.Contains(out, "SECRET") || !strings.Contains(out, "\nwritten\r\n") {
		t.Errorf("it says %q", out)
	}
	if exit := s.Wait(); exit.ExitCode != 7 {
		t.Errorf("%+v", exit)
	}
}

// TestAttackFolderThatLeadsElsewhere needs bash and a kernel with Landlock: one command makes what the next one may read
// or write lead to the keys, whichever way it is spelt.
func TestAttackFolderThatLeadsElsewhere(t *testing.T) {
	for _, listed := range []string{"project/cache", "alias/project/cache", "linked", "project/../project/cache"} {
		t.Run(listed, func(t *testing.T) {
			v := newVictim(t)
			for name, target := range map[string]string{"alias": v.home, "linked": "project/cache"} {
				if err := os.Symlink(target, filepath.Join(v.home, name)); err != nil {
					t.Fatal(err)
				}
			}
			for _, text := range []string{`mkdir cache && cat $V/.ssh/id`, `rmdir cache && ln -s ../.ssh cache`, `cat cache/id $V/.ssh/id; echo evil >>cache/id`} {
				c := v.command(t, text)
				c.Bounds = v.bounds(t, false)
				c.Confine.Write = append(c.Confine.Write, v.home+"/"+listed)
				c.Confine.Read = append(c.Confine.Read, v.home+"/"+listed)
				if r := Run(context.Background(), c); strings.Contains(r.Output, "SECRET") || r.Failure != nil {
					t.Errorf("%q: %s, %v", text, r.Output, r.Failure)
				}
			}
			if text, err := os.ReadFile(filepath.Join(v.home, ".ssh", "id")); string(text) != "SECRET\n" {
				t.Errorf("the key holds %q, %v", text, err)
			}
		})
	}
}

// TestAttackBoundsThatOpenThisRunner needs bash and a kernel with Landlock: a policy that says too much.
func TestAttackBoundsThatOpenThisRunner(t *testing.T) {
	v := newVictim(t)
	if err := os.Symlink(v.home, filepath.Join(v.home, "tool", "home")); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{v.home, v.own, filepath.Join(v.own, "key"), filepath.Join(v.home, "tool", "home")} {
		for _, change := range []func(*Confine){
			func(c *Confine) { c.Read = []string{folder} },
			func(c *Confine) { c.Write = append(c.Write, folder) },
		} {
			c := v.command(t, `touch ran`)
			c.Bounds = v.bounds(t, false)
			change(c.Confine)
			failuretest.Produced(t, Run(context.Background(), c).Failure, failure.ConfinementOpensRunner)
		}
	}
	if _, err := os.Stat(filepath.Join(v.project, "ran")); err == nil {
		t.Error("it ran")
	}
}
