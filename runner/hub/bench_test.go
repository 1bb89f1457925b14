package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/hub/store"
)

// diskHub is a hub on a store on the disk, with the rules and a project that allows `true`.
func diskHub(b *testing.B) *ruledHub {
	b.Helper()
	s, err := store.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	root := b.TempDir()
	h := &ruledHub{serveHub(b, Config{Store: s, Projects: []Project{{ID: "p", Name: "Shop", Mode: ModeMounted, Root: root}}}), root}
	b.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			b.Error(err)
		}
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	h.permissions(b, `{"allow":["Terminal(true)"]}`)
	return h
}

// answering is a runner that answers each command at once.
func (h *testHub) answering(b *testing.B) {
	b.Helper()
	r := h.runner(b, action.Known()...)
	var done sync.WaitGroup
	done.Go(func() {
		for msg := range r.ch.Receive() {
			var m message
			if json.Unmarshal(msg.Payload, &m) == nil && msg.Event == action.EventExec {
				if _, err := r.ch.Call(context.Background(), action.EventExecResult, action.ExecResult{Ref: m.Ref}); err != nil {
					return
				}
			}
		}
	})
	b.Cleanup(func() {
		r.conn.Close()
		done.Wait()
	})
}

const proposeTrue = `{"projectId":"p","type":"terminal","command":"true"}`

// post makes one proposal over HTTP and fails where it is not executed.
func (h *testHub) post(b *testing.B, client *http.Client) {
	r, err := http.NewRequest("POST", h.url+"/actions", strings.NewReader(proposeTrue))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+agentToken)
	resp, err := client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	var a Action
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || a.Status != Executed {
		b.Fatalf("%+v, %v", a, err)
	}
}

// BenchmarkProposal is what an agent waits for a command that a rule allows, the command itself taking no time: over
// HTTP, the store on the disk, the runner's answer over the channel. The floor is a request that the hub answers without its store.
func BenchmarkProposal(b *testing.B) {
	h := diskHub(b)
	h.answering(b)
	h.post(b, http.DefaultClient)
	took := make([]time.Duration, 0, b.N)
	for b.Loop() {
		began := time.Now()
		h.post(b, http.DefaultClient)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	median := took[len(took)/2]
	b.ReportMetric(float64(median.Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(median)/float64(h.floor(b)), "x-floor")
}

// floor is the median of an HTTP request that the hub answers without a store.
func (h *testHub) floor(b *testing.B) time.Duration {
	var took []time.Duration
	for range 200 {
		began := time.Now()
		h.bare(b, http.DefaultClient)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// bare is a request that the hub answers without a store.
func (h *testHub) bare(b *testing.B, client *http.Client) {
	resp, err := client.Get(h.url + "/me")
	if err != nil {
		b.Error(err)
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

// BenchmarkProposals is how many proposals a second sixteen agents get through, each with its events in the log, executed
// by a runner that takes no time. The floor is how many requests a second the hub answers them without its store.
func BenchmarkProposals(b *testing.B) {
	h := diskHub(b)
	h.answering(b)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	defer client.CloseIdleConnections()
	began, done := time.Now(), sixteen(func() { h.post(b, client) })
	for b.Loop() {
		done.work <- struct{}{}
	}
	done.wait()
	sustained := float64(b.N) / time.Since(began).Seconds()
	began, done = time.Now(), sixteen(func() { h.bare(b, client) })
	for range b.N {
		done.work <- struct{}{}
	}
	done.wait()
	b.ReportMetric(sustained, "proposals/s")
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds()/sustained, "x-floor")
}

// crew works at the same time.
type crew struct {
	work chan struct{}
	all  sync.WaitGroup
}

// sixteen are a crew of which each does what it is told for each piece of work.
func sixteen(do func()) *crew {
	c := &crew{work: make(chan struct{})}
	for range 16 {
		c.all.Go(func() {
			for range c.work {
				do()
			}
		})
	}
	return c
}

func (c *crew) wait() {
	close(c.work)
	c.all.Wait()
}

// BenchmarkHistory is one page of the history of 10,000 actions, each with an output of 8 KiB. The floor is a request
// that the hub answers without its store.
func BenchmarkHistory(b *testing.B) {
	h := diskHub(b)
	err := h.store.Update(func(tx store.Tx) error {
		out, err := json.Marshal(Outcome{Output: strings.Repeat("line of output\n", 8<<10/15)})
		for i := range 10_000 {
			if err != nil {
				return err
			}
			status := []string{"executed", "failed", "denied", "pending"}[i%4]
			_, err = tx.AddAction(store.Action{
				ID: fmt.Sprint(i), Project: "p", Type: "terminal", ProposerKind: kindAgent, Proposer: "agent", Status: status, Policy: "auto_approve",
				Rule: "file_allow", Proposal: []byte(proposeTrue), Proposed: time.Now(), Outcome: out,
			})
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	for name, query := range map[string]string{"newest": "", "middle": "?before=5000", "filtered": "?status=denied&project=p"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r, err := http.NewRequest("GET", h.url+"/actions"+query, nil)
				if err != nil {
					b.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+personToken)
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				var list struct{ Actions []Action }
				err = json.NewDecoder(resp.Body).Decode(&list)
				resp.Body.Close()
				if err != nil || len(list.Actions) != usualPage {
					b.Fatalf("%d actions, %v", len(list.Actions), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(h.floor(b)), "x-floor")
		})
	}
}
