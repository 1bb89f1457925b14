package main

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"brabo.dev/runner/runner/failure"
)

// profiles serves this process's profiles at a loopback address, for who looks for its costs. A heap shows what a
// process holds, so it is opened only when asked for, and says in the log that it is.
type profiles struct {
	server *http.Server
	served chan error
}

// openProfiles listens at address, host and port; an empty one opens nothing. Errors are failures named
// profiles_not_loopback and profiles_not_listening.
func openProfiles(address string, log *slog.Logger) (*profiles, error) {
	if address == "" {
		return nil, nil
	}
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || (!ip.IsLoopback() && host != "localhost") {
		return nil, failure.New(failure.ProfilesNotLoopback, address).Wrap(err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, failure.New(failure.ProfilesNotListening, address).Because("%v", err).Wrap(err)
	}
	bound := listener.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	p := &profiles{server: &http.Server{Handler: addressedTo(bound, mux), ReadHeaderTimeout: 10 * time.Second}, served: make(chan error, 1)}
	go func() { p.served <- p.server.Serve(listener) }()
	log.Warn("profiles of this process are served to everyone on this machine", "address", "http://"+bound+"/debug/pprof/")
	return p, nil
}

// addressedTo refuses requests for another host: a page in a browser may have made its own name point here.
func addressedTo(address string, next http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(address)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != address && r.Host != net.JoinHostPort("localhost", port) {
			http.Error(w, "another host", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// close ends the serving and waits for it; a profile that is being taken is cut off.
func (p *profiles) close() error {
	if p == nil {
		return nil
	}
	err := p.server.Close()
	if served := <-p.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
