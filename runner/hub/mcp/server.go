// Package mcp is the door for agents that speak the Model Context Protocol: its tools propose actions to the hub and
// return what became of them, so that any such agent gets a hand on this machine that asks first.
//
// While an action waits for a person, a tool reports progress. A tool whose call ends early leaves its action behind: it
// stays decidable, and its outcome can be asked for by its id. The package starts no goroutines; those of the protocol
// end with Serve.
package mcp

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"brabo.dev/runner/runner/hub"
)

// Hub is what the tools ask.
type Hub interface {
	Propose(context.Context, hub.Proposal) (hub.Action, error)
	Wait(ctx context.Context, id string) (hub.Action, error)
	Action(ctx context.Context, id string) (hub.Action, error)
}

// Options say for whom and how long the tools ask.
type Options struct {
	Hub     Hub
	Project string // the id
	Version string
	// Patience is how long a tool waits for a decision and the outcome; zero: ten minutes.
	Patience time.Duration
	// Tell is how often a waiting tool reports progress; zero: five seconds.
	Tell time.Duration
}

const instructions = `These tools act on the user's machine only after the project's rules or a person have approved.
A call may wait for a person; it then reports progress. A denied action comes back with the reason: change the plan, don't
repeat it. When a call says that an action still waits, ask for its outcome with action_status later.`

// Serve answers on t until ctx ends or the client goes.
func Serve(ctx context.Context, o Options, t mcp.Transport) error {
	if o.Patience == 0 {
		o.Patience = 10 * time.Minute
	}
	if o.Tell == 0 {
		o.Tell = 5 * time.Second
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "runner", Title: "runner: approved actions on this machine", Version: o.Version},
		&mcp.ServerOptions{Instructions: instructions})
	tools{o}.add(server)
	return server.Run(ctx, t)
}

// tools are the tools of one server.
type tools struct{ o Options }

// carry proposes p and waits for what becomes of it.
func (t tools) carry(ctx context.Context, request *mcp.CallToolRequest, p hub.Proposal) (*mcp.CallToolResult, Result, error) {
	p.ProjectID = t.o.Project
	a, err := t.o.Hub.Propose(ctx, p)
	if err != nil {
		return nil, Result{}, err
	}
	waiting, cancel := context.WithTimeout(ctx, t.o.Patience)
	defer cancel()
	if !a.Status.Final() {
		stop := t.report(waiting, request, a)
		later, err := t.o.Hub.Wait(waiting, a.ID)
		stop()
		switch {
		case err == nil || later.ID != "":
			a = later
		case waiting.Err() == nil:
			return nil, Result{}, fmt.Errorf("action %s was proposed, and its outcome can't be had: %w", a.ID, err)
		}
	}
	r := resultOf(a)
	return r.call(), r, nil
}

// report tells the client from time to time that the action still waits, until stop is called.
func (t tools) report(ctx context.Context, request *mcp.CallToolRequest, a hub.Action) (stop func()) {
	token := request.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(t.o.Tell)
		defer tick.Stop()
		for n := 1.0; ; n++ {
			// A client that is gone hears nothing; the call ends by its own.
			_ = request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: n, Message: progress(a),
			})
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
