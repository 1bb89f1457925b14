package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/control"
)

// asPeer makes this test's binary a server that lets everybody in and says nothing, until its input ends.
const asPeer = "RUNNER_TEST_AS_PEER"

func servePeer() {
	let := func(context.Context, *channel.ServerChannel, json.RawMessage) (channel.Handler, any, error) {
		return silent{}, map[string]any{"extensions": action.Known()}, nil
	}
	server := httptest.NewServer(&channel.Server{
		Connect: func(*http.Request) (channel.Session, error) { return channel.Session{ID: "daemon"}, nil },
		Join:    let,
	})
	fmt.Println(server.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

type silent struct{}

func (silent) Handle(context.Context, channel.Message) {}
func (silent) Closed(error)                            {}

// startPeer runs such a server in a process of its own and gives its URL.
func startPeer(b *testing.B) string {
	b.Helper()
	cmd := osexec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asPeer+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(url)
}

// BenchmarkIdleSession is what each of a thousand idle sessions costs the daemon alone, its server being another
// process: heap and stacks after a collection. Goal: under 60 KB.
func BenchmarkIdleSession(b *testing.B) {
	const n = 1000
	url := startPeer(b)
	for b.Loop() {
		base := b.TempDir()
		var projects []Project
		for i := range n {
			id := fmt.Sprint("project-", i)
			projects = append(projects, Project{id, filepath.Join(base, id)})
		}
		o := testOptions(b, &engine{Server: &httptest.Server{URL: url}}, base, io.Discard)
		m := New(o)
		before := inUse()
		began := time.Now()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- m.Run(ctx, Fixed(projects...)) }()
		for joined := 0; joined < n; {
			time.Sleep(10 * time.Millisecond)
			joined = 0
			for _, p := range m.Status().Projects {
				if p.State == control.Joined {
					joined++
				}
			}
		}
		b.ReportMetric(time.Since(began).Seconds(), "s-to-joined")
		b.ReportMetric(float64(inUse()-before)/n/1024, "KiB/session")
		b.ReportMetric(float64(runtime.NumGoroutine())/n, "goroutines/session")
		cancel()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}

// inUse is the memory of live objects and stacks in bytes.
func inUse() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC() // pools live through one
	runtime.ReadMemStats(&s)
	return int64(s.HeapInuse + s.StackInuse)
}
