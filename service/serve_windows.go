package service

import (
	"context"
	"os"
	"slices"

	"github.com/kardianos/service"
)

// Serve calls run, which gives the process's exit code, and returns that. Where Windows' service manager has started
// this process, its wish to stop ends the context of run. An exit that needs a person is reported as an orderly stop,
// so that nothing is started again; after any other the recovery actions apply.
func Serve(ctx context.Context, run func(context.Context) int) int {
	if service.Interactive() {
		return run(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &program{ctx: ctx, cancel: cancel, run: run, ended: make(chan struct{})}
	s, err := service.New(p, &service.Config{Name: "runner"}) // a process with one service needs not know its name
	if err != nil {
		return 1
	}
	if err := s.Run(); err != nil {
		return 1
	}
	<-p.ended
	return p.code
}

// program is one run between the manager's start and stop. Its goroutine begins in Start and is waited for in Stop.
type program struct {
	ctx    context.Context
	cancel context.CancelFunc
	run    func(context.Context) int
	ended  chan struct{}
	code   int // may be read when ended is closed
}

// Start is called by the manager, and must not block.
func (p *program) Start(s service.Service) error {
	go func() {
		p.code = p.run(p.ctx)
		asked := p.ctx.Err() != nil
		close(p.ended)
		switch {
		case asked:
		case slices.Contains([]int{0, 2, 4, 7}, p.code):
			if s.Stop() != nil {
				os.Exit(p.code)
			}
		default:
			os.Exit(p.code) // ending without a report is what the manager calls a failure
		}
	}()
	return nil
}

// Stop is called by the manager; it returns when run has.
func (p *program) Stop(service.Service) error {
	p.cancel()
	<-p.ended
	return nil
}
