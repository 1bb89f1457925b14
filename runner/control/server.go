package control

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Options say what a Server tells and where.
type Options struct {
	// Folder is the daemon's state folder, which exists, is its owner's alone, and whose lock the daemon holds.
	Folder string
	// Status is called for each question, by several goroutines.
	Status func() Status
	// History is called in the same way.
	History func(Query) ([]Action, error)
	// Checks is what `runner doctor` looks at.
	Checks func(context.Context) []Finding
	// Confirm takes the person's word about a held action.
	Confirm func(id string, allow bool) error
	// LookAgain has the daemon ask which projects there are. It must not block; nil does nothing.
	LookAgain func()
	Log       *slog.Logger // required
}

// Server answers on the socket of one daemon.
type Server struct {
	http    http.Server
	remove  func() error
	serving sync.WaitGroup
}

// Bounds of one question. Whoever may ask is the same person, so they only keep a broken client from staying for ever.
const (
	readTimeout  = 10 * time.Second
	writeTimeout = 30 * time.Second
	maxHeader    = 16 << 10
)

// Listen opens the socket in o.Folder, in place of one that an earlier daemon left. Its failure is ControlFailed.
func Listen(o Options) (*Server, error) {
	listener, remove, err := listen(o.Folder)
	if err != nil {
		return nil, failure.New(failure.ControlFailed, address(o.Folder)).Wrap(err)
	}
	s := &Server{remove: remove}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, o.Status()) })
	mux.HandleFunc("GET /checks", answerChecks(o.Checks))
	mux.HandleFunc("GET /history", answerHistory(o.History))
	mux.HandleFunc("POST /confirm", answerConfirm(o.Confirm))
	mux.HandleFunc("POST /projects", answerLookAgain(o.LookAgain))
	s.http = http.Server{
		Handler: strangersOnly(mux, o.Log), ReadTimeout: readTimeout, WriteTimeout: writeTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, peerKey{}, refusePeer(conn, os.Getpid()))
		},
	}
	s.serving.Go(func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			o.Log.Error("the local socket ended", "failure", failure.New(failure.ControlFailed, address(o.Folder)).Wrap(err))
		}
	})
	return s, nil
}

// Close takes the socket away and ends all questions.
func (s *Server) Close() error {
	err := errors.Join(s.http.Close(), s.remove())
	s.serving.Wait()
	return err
}

// peerKey is under which a connection's context has why its peer is refused, an error or nil.
type peerKey struct{}

// strangersOnly lets those in who are not the daemon's own offspring. It is judged once a connection.
func strangersOnly(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refused, _ := r.Context().Value(peerKey{}).(error); refused != nil {
			f := failure.From(refused, "local socket")
			log.Warn("refused on the local socket", "failure", f)
			answer(w, http.StatusForbidden, refusal{f})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refusal is the body of an answer other than 200.
type refusal struct {
	Failure *failure.Failure `json:"failure"`
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the peer has gone
}
