package containerctl

import (
	"io"
	"net"
	"net/http"
	"os/exec"
	"testing"
)

// bridge is the name of the tests' own bridge, so that they stay out of another engine's way.
const bridge = "ctltest0"

// startBridge makes the bridge and gives this machine's address on it.
func startBridge(t *testing.T) string {
	t.Helper()
	ip := needProgram(t, "ip")
	run := func(args ...string) {
		if out, err := exec.Command(ip, args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %v: %v: %s", args, err, out)
		}
	}
	run("link", "add", bridge, "type", "bridge")
	t.Cleanup(func() { _ = exec.Command(ip, "link", "delete", bridge).Run() })
	run("addr", "add", "10.213.47.1/24", "dev", bridge)
	run("link", "set", bridge, "up")
	return "10.213.47.1"
}

// serveHello answers "hello" at an address and gives the URL.
func serveHello(t *testing.T, address string) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { s.Close(); <-done })
	return "http://" + l.Addr().String()
}
