package main

import (
	"context"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/service"
)

// rising is a service on its way up.
type rising struct {
	installFlags
	target
}

// bringUp installs the service unless it is there as it should be, and starts it unless it runs; anew is to start it anew
// in any case. It returns when the service says that it is ready, where the system can tell.
func (r rising) bringUp(ctx context.Context, s *standing, anew bool) error {
	request, capture, err := r.request(r.target)
	if err != nil {
		return err
	}
	if refused := r.manager.Refusals(request); len(refused) > 0 {
		return usageError(refused[0])
	}
	name := r.manager.Name(r.id)
	there, err := r.manager.Find(r.id)
	if err != nil {
		if err := r.manager.Install(ctx, request.Definition); err != nil {
			return serviceExit(err)
		}
		s.changed("installed %s", name)
		s.LeftOut = append(s.LeftOut, capture.Left...)
		return nil
	}
	// What was captured from a shell stays: this one may be a poorer one, and nobody asked to change it.
	request.Environment, request.Umask = there.Environment, there.Umask
	current := r.manager.Holds(request.Definition)
	status, err := r.manager.Status(ctx, r.id)
	running := err == nil && status.State == service.Running
	switch {
	case failure.Is(err, failure.ServiceManagerSilent):
		return serviceExit(err)
	case current && running && status.Enabled && !anew:
		return nil
	case current && running && status.Enabled:
		err = r.manager.Restart(ctx, r.id)
	default:
		err = r.manager.Install(ctx, request.Definition)
	}
	if err != nil {
		return serviceExit(err)
	}
	switch {
	case !current:
		s.changed("brought %s up to date", name)
	case running && !status.Enabled:
		s.changed("had %s started at login again", name)
	case running:
		s.changed("started %s anew", name)
	default:
		s.changed("started %s", name)
	}
	return nil
}
