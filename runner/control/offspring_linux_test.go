package control

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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
			for _, way := range []struct {
				how  string
				wrap []string
			}{{"", nil}, {"", []string{"sh", "-c", `"$0"; true`}}, {apart, nil}} {
				_, end := start(t, asCaller, way.how+net.JoinHostPort(at[1], port), way.wrap...)
				conn := accept(t, l)
				f := failuretest.Produced(t, NewDaemons(folder).RefuseOffspring(conn), failure.ControlRefused)
				if f.Subject[:8] != "process " {
					t.Errorf("%+v", f)
				}
				failuretest.Produced(t, NewDaemons(folder).RefuseOffspring(tls.Server(conn, nil)), failure.ControlRefused)
				if err := NewDaemons(t.TempDir()).RefuseOffspring(conn); err != nil { // where no daemon is
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
			if err := NewDaemons(folder).RefuseOffspring(conn); err != nil {
				t.Error(err)
			}
		}
	}
	server, client := net.Pipe()
	defer server.Close()
	defer client.Close()
	if NewDaemons(folder).RefuseOffspring(server) == nil {
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
	failuretest.Produced(t, NewDaemons(folder).RefuseOffspring(conn), failure.ControlRefused)
}

// callApart is call by a thread whose open files the folder of the process does not show.
func callApart(address string) {
	called := make(chan error)
	go callOnThread(address, called)
	if err := <-called; err != nil {
		fmt.Println(err)
		return
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func callOnThread(address string, called chan<- error) {
	runtime.LockOSThread() // for good
	if unix.Gettid() == os.Getpid() {
		callOnNextThread(address, called)
		return
	}
	if err := unix.Unshare(unix.CLONE_FILES); err != nil {
		called <- err
		return
	}
	to, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		called <- err
		return
	}
	family, peer := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: to.Port, Addr: [16]byte(to.IP.To16())})
	if ip := to.IP.To4(); ip != nil && !strings.Contains(address, "::") {
		family, peer = unix.AF_INET, &unix.SockaddrInet4{Port: to.Port, Addr: [4]byte(ip)}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err == nil {
		err = unix.Connect(fd, peer)
	}
	called <- err
	select {} // the thread ends with the process
}

// callOnNextThread keeps this thread, which is the first, from the one that calls.
func callOnNextThread(address string, called chan<- error) {
	go callOnThread(address, called)
	select {}
}

// TestDaemonIsRememberedWithoutItsSocket: an action can take the socket away, or put another in its place.
func TestDaemonIsRememberedWithoutItsSocket(t *testing.T) {
	adopt(t)
	folder := t.TempDir()
	serve(t, folder)
	daemons := NewDaemons(folder)
	if got := daemons.Look(); !slices.Equal(got, []int{os.Getpid()}) {
		t.Fatal(got)
	}
	hidden := address(folder) + ".hidden"
	if err := os.Rename(address(folder), hidden); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.Rename(hidden, address(folder)); err != nil {
			t.Error(err)
		}
	}()
	l := listenTCP(t, "127.0.0.1:0")
	start(t, asCaller, l.Addr().String())
	conn := accept(t, l)
	failuretest.Produced(t, daemons.RefuseOffspring(conn), failure.ControlRefused)
	said, end := start(t, asDaemon, folder)
	if line, err := said.ReadString('\n'); line != "listening\n" {
		t.Fatal(line, err)
	}
	failuretest.Produced(t, daemons.RefuseOffspring(conn), failure.ControlRefused)
	if got := daemons.Look(); len(got) != 2 {
		t.Errorf("%v are found", got)
	}
	end()
	if got := daemons.Look(); !slices.Equal(got, []int{os.Getpid()}) {
		t.Errorf("%v are found after the end of one", got)
	}
}

// hide puts a connection into the queue of a socket and closes it here. The queue stays for as long as this process.
func hide(conn net.Conn) error {
	queue, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	err = withDescriptor(conn, func(fd int) error { return unix.Sendmsg(queue[0], []byte{0}, unix.UnixRights(fd), nil, 0) })
	return errors.Join(err, conn.Close())
}

// TestNotDefendedActionThatHidesFromTheHub: a connection that waits in the queue of another socket is no process's, and
// the family of a daemon that was ended is nobody's.
func TestNotDefendedActionThatHidesFromTheHub(t *testing.T) {
	adopt(t)
	folder := t.TempDir()
	daemons := NewDaemons(folder)
	serve(t, folder)
	l := listenTCP(t, "127.0.0.1:0")
	said, _ := start(t, asCaller, hidden+l.Addr().String())
	conn := accept(t, l)
	if line, err := said.ReadString('\n'); line != "connected\n" {
		t.Fatal(line, err)
	}
	if err := daemons.RefuseOffspring(conn); err != nil {
		t.Error(err)
	}

	folder = t.TempDir()
	daemons = NewDaemons(folder)
	said, end := start(t, asDaemon, folder)
	if line, err := said.ReadString('\n'); line != "listening\n" || len(daemons.Look()) != 1 {
		t.Fatal(line, err)
	}
	end()
	if err := daemons.RefuseOffspring(conn); err != nil {
		t.Error(err)
	}
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
	daemons := NewDaemons(folder)
	for b.Loop() {
		if err := daemons.RefuseOffspring(conn); err != nil {
			b.Fatal(err)
		}
	}
}
