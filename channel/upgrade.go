package channel

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/gorilla/websocket"
)

// vsnServed are the versions that Phoenix's V2 serializer matches: ~> 2.0.0.
// V1, which no vsn at all would mean, is not spoken here.
var vsnServed = regexp.MustCompile(`^2\.0\.[0-9]+$`)

// ConnectError is an error of Connect that the client may see.
type ConnectError struct {
	Status int // HTTP status
	Header http.Header
	Body   []byte
}

func (e *ConnectError) Error() string {
	return "channel: connect refused: " + http.StatusText(e.Status)
}

// ServeHTTP upgrades one request and serves the socket until it ends.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || !websocket.IsWebSocketUpgrade(r) ||
		r.Header.Get("Sec-Websocket-Version") != "13" || r.Header.Get("Sec-Websocket-Key") == "" {
		http.Error(w, "not a WebSocket upgrade", http.StatusBadRequest)
		return
	}
	checkOrigin := s.CheckOrigin
	if checkOrigin == nil {
		checkOrigin = sameHost
	}
	if !vsnServed.MatchString(r.URL.Query().Get("vsn")) || !checkOrigin(r) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	session, err := s.Connect(r)
	if err != nil {
		s.refuse(w, err)
		return
	}
	socket := newSocket(s, r, session)
	if !s.add(socket) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	defer s.remove(socket)
	upgrader := websocket.Upgrader{
		HandshakeTimeout: or(s.WriteTimeout, defaultWrite),
		CheckOrigin:      func(*http.Request) bool { return true }, // done above, before Connect
	}
	ws, err := upgrader.Upgrade(w, r, nil) // answers the request also when it fails
	if err != nil {
		orDiscard(s.Logger).Info("upgrade failed", "error", err)
		socket.cancel(err)
		socket.abandon()
		return
	}
	socket.serve(ws)
}

func (s *Server) refuse(w http.ResponseWriter, err error) {
	orDiscard(s.Logger).Info("connect refused", "error", err)
	var ce *ConnectError
	if !errors.As(err, &ce) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	for name, values := range ce.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	w.WriteHeader(or(ce.Status, http.StatusForbidden))
	_, _ = w.Write(ce.Body) // the client may be gone; nobody is left to tell
}

// sameHost is the default rule for the Origin header: programs send none,
// browsers always do.
func sameHost(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, r.Host)
}
