package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/client"
	"brabo.dev/runner/runner/hub/store"
)

// BenchmarkHub starts the released binary as a hub, until it can be found. Goal: under 40 MB resident when idle.
func BenchmarkHub(b *testing.B) {
	binary := buildBinary(b)
	var resident, ready []float64
	for b.Loop() {
		home := b.TempDir()
		cmd := exec.Command(binary, "hub")
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "RUNNER_HUB_LISTEN=127.0.0.1:0"}
		began := time.Now()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		address := filepath.Join(home, ".local", "share", "runner", "hub", client.AddressFile)
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(address); err == nil {
				break
			}
			if time.Now().After(deadline) {
				b.Fatal("the hub can't be found")
			}
		}
		ready = append(ready, float64(time.Since(began).Microseconds())/1000)
		time.Sleep(idleAfter)
		resident = append(resident, residentKiB(b, cmd.Process.Pid)/1024)
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			b.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(middle(resident), "MiB-resident")
	b.ReportMetric(middle(resident)*1024/bareKiB(b), "x-bare")
	b.ReportMetric(middle(ready), "ms-to-listening")
}

// BenchmarkPropose is what an agent waits for `true`: proposed over HTTP, allowed by a rule, executed by the released
// daemon, its outcome in the answer. Goal: a median under 5 ms. The floor is the shell that runs it.
func BenchmarkPropose(b *testing.B) {
	binary, home := buildBinary(b), b.TempDir()
	s, err := store.Open(filepath.Join(home, "hub"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	h, url, root, _ := startHub(b, home, func(c *hub.Config) { c.Store, c.PersonToken, c.Person = s, "owner-token-of-the-benchmark", "ana" })
	cmd := exec.Command(binary, "run", "--project", "p", "--dir", root, "--api-url", url)
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "BRABO_ACCOUNT_TOKEN=" + testToken}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := h.WaitRunner(ctx, "p"); err != nil {
		b.Fatal(err)
	}
	var took, floor []float64
	for b.Loop() {
		began := time.Now()
		r, err := http.NewRequest("POST", url+"/actions", bytes.NewReader([]byte(`{"projectId":"p","type":"terminal","command":"true"}`)))
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer owner-token-of-the-benchmark")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		var a hub.Action
		err = json.NewDecoder(resp.Body).Decode(&a)
		resp.Body.Close()
		if err != nil || a.Status != hub.Executed {
			b.Fatalf("%+v, %v", a, err)
		}
		took = append(took, float64(time.Since(began).Microseconds())/1000)

		began = time.Now()
		if out, err := exec.Command("/bin/sh", "-c", "true").CombinedOutput(); err != nil {
			b.Fatal(err, out)
		}
		floor = append(floor, float64(time.Since(began).Microseconds())/1000)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(middle(took), "ms-median")
	b.ReportMetric(middle(took)/middle(floor), "x-floor")
}
