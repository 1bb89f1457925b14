package control

import (
	"bufio"
	"crypto/tls"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// start runs this binary as another program until the test ends. Its end, asked for by end, is waited for.
func start(t *testing.T, variable, value string, wrap ...string) (said *bufio.Reader, end func()) {
	t.Helper()
	line := append(wrap, os.Args[0])
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), variable+"="+value)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end = func() {
		if !ended {
			ended = true
			_ = in.Close()
			_ = cmd.Wait()
		}
	}
	t.Cleanup(end)
	return bufio.NewReader(out), end
}

// listenTCP listens on an address of this machine; the test is skipped where there is none of that kind.
func listenTCP(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func accept(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestOffspringIsRefusedOverTCP has this process be the daemon.
func TestOffspringIsRefusedOverTCP(t *testing.T) {
	adopt(t)
	folder := t.TempDir()
	serve(t, folder)
	for name, at := range map[string][2]string{
		"IPv4": {"127.0.0.1:0", "127.0.0.1"}, "IPv6": {"[::1]:0", "::1"}, "both": {":0", "127.0.0.1"},
		"IPv4 in IPv6": {"127.0.0.1:0", "::ffff:127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			l := listenTCP(t, at[0])
			_, port, err := net.SplitHostPort(l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			for _, wrap := range [][]string{nil, {"sh", "-c", `"$0"; true`}} {
				_, end := start(t, asCaller, net.JoinHostPort(at[1], port), wrap...)
				conn := accept(t, l)
				f := failuretest.Produced(t, RefuseOffspring(conn, folder), failure.ControlRefused)
				if f.Subject[:8] != "process " {
					t.Errorf("%+v", f)
				}
				failuretest.Produced(t, RefuseOffspring(tls.Server(conn, nil), folder), failure.ControlRefused)
				if err := RefuseOffspring(conn, t.TempDir()); err != nil { // where no daemon is
					t.Error(err)
				}
				end()
			}
		})
	}
}

// TestStrangerIsAnsweredOverTCP has another process be the daemon, which is no ancestor of this one.
func TestStrangerIsAnsweredOverTCP(t *testing.T) {
	folder := t.TempDir()
	said, _ := start(t, asDaemon, folder)
	if line, err := said.ReadString('\n'); line != "listening\n" {
		t.Fatal(line, err)
	}
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l := listenTCP(t, address)
		start(t, asCaller, l.Addr().String())
		conn := accept(t, l)
		for range 3 {
			if err := RefuseOffspring(conn, folder); err != nil {
				t.Error(err)
			}
		}
	}
	server, client := net.Pipe()
	defer server.Close()
	defer client.Close()
	if RefuseOffspring(server, folder) == nil {
		t.Error("what is no socket is trusted")
	}
}

// TestPeerThatHungUpIsRefused: nobody can tell who it was.
func TestPeerThatHungUpIsRefused(t *testing.T) {
	folder := t.TempDir()
	said, _ := start(t, asDaemon, folder)
	if line, err := said.ReadString('\n'); line != "listening\n" {
		t.Fatal(line, err)
	}
	l := listenTCP(t, "127.0.0.1:0")
	_, end := start(t, asCaller, l.Addr().String())
	conn := accept(t, l)
	end()
	if n, err := conn.Read(make([]byte, 1)); err == nil { // the event of its end
		t.Fatal(n)
	}
	failuretest.Produced(t, RefuseOffspring(conn, folder), failure.ControlRefused)
}

// BenchmarkRefuseOffspring is what the first request on a connection waits for that would steer.
func BenchmarkRefuseOffspring(b *testing.B) {
	folder := b.TempDir()
	s, err := Listen(Options{Folder: folder, Status: full, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	conn, err := listener.Accept()
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	for b.Loop() {
		if err := RefuseOffspring(conn, folder); err != nil {
			b.Fatal(err)
		}
	}
}
