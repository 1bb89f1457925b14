package channel_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brabo.dev/runner/channel"
)

const ticket = "ticket=very-secret"

func TestRefusedUpgradeKeepsStatusHeaderAndBody(t *testing.T) {
	tests := map[string]struct {
		status int
		header string
		body   string
		wait   time.Duration
		html   bool
	}{
		"401":           {status: 401, header: "Content-Type: application/json", body: `{"error":"unauthorized"}`},
		"403":           {status: 403},
		"404":           {status: 404, body: "Not Found"},
		"503":           {status: 503, header: "Retry-After: 7", wait: 7 * time.Second},
		"redirect":      {status: 302, header: "Location: http://elsewhere.invalid/login"},
		"web page":      {status: 200, header: "Content-Type: text/html; charset=utf-8", body: "<html>sign in</html>", html: true},
		"large body":    {status: 500, body: strings.Repeat("x", 1<<20)},
		"retry as date": {status: 429, header: "Retry-After: Thu, 01 Jan 2026 00:00:30 GMT", wait: 30 * time.Second},
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ln := loopback(t)
			go func() {
				conn, err := ln.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
					return
				}
				header := tt.header
				if header != "" {
					header += "\r\n"
				}
				fmt.Fprintf(conn, "HTTP/1.1 %d x\r\n%sContent-Length: %d\r\n\r\n%s", tt.status, header, len(tt.body), tt.body)
				io.Copy(io.Discard, conn)
			}()
			_, err := (&channel.Dialer{}).Dial(testContext(t), "ws://"+ln.Addr().String()+"/runner/websocket?"+ticket)
			var refused *channel.RefusedError
			if !errors.As(err, &refused) {
				t.Fatalf("%v (%T) is no *RefusedError", err, err)
			}
			if refused.Status != tt.status || len(refused.Body) > 4096 || !strings.HasPrefix(tt.body, string(refused.Body)) {
				t.Errorf("status %d, body %.40q", refused.Status, refused.Body)
			}
			if wait, ok := refused.RetryAfter(now); wait != tt.wait || ok != (tt.wait != 0) {
				t.Errorf("retry after %v, %v; want %v", wait, ok, tt.wait)
			}
			if refused.HTML() != tt.html {
				t.Errorf("HTML is %v", refused.HTML())
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%q tells the ticket", err)
			}
		})
	}
}

func TestDialFailuresAreTypedAndKeepTheTicket(t *testing.T) {
	answer := func(text string) string {
		ln := loopback(t)
		go func() {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				io.WriteString(conn, text)
			}
		}()
		return "http://" + ln.Addr().String()
	}
	closed := loopback(t)
	closed.Close()
	tests := map[string]struct {
		url  string
		want channel.EndReason // empty: the address itself is bad
	}{
		"nobody listens":      {"http://" + closed.Addr().String(), channel.EndNetwork},
		"hangs up":            {answer(""), channel.EndNetwork},
		"no HTTP":             {answer("220 mail.example ESMTP\r\n"), channel.EndProtocolError},
		"101 without a key":   {answer("HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"), channel.EndProtocolError},
		"scheme":              {"ftp://host", ""},
		"no URL":              {"http://host\x7f", ""},
		"no host":             {"ws:///path", ""},
		"password in the URL": {"ws://a:secret@host", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := (&channel.Dialer{}).Dial(testContext(t), tt.url+"/runner/websocket?"+ticket)
			if err == nil {
				t.Fatal("it connected")
			}
			var end *channel.EndError
			if errors.As(err, &end) != (tt.want != "") || end != nil && end.Reason != tt.want {
				t.Errorf("%v (%T), want %q", err, err, tt.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%q tells the ticket", err)
			}
		})
	}
}

func TestCancelledDialReturnsAtOnceInEveryState(t *testing.T) {
	ln := loopback(t)
	ctx, cancel := context.WithCancel(testContext(t))
	done := make(chan error, 1)
	go func() {
		_, err := (&channel.Dialer{HandshakeTimeout: time.Hour}).Dial(ctx, "http://"+ln.Addr().String()+"/websocket")
		done <- err
	}()
	acceptPeer(t, ln) // the request is in, and no answer ever comes
	cancel()
	err := next(t, done, "end of the dial")
	if endReason(t, err) != channel.EndCancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("dial ended with %v", err)
	}
}

func TestServerThatNeverAnswersTheUpgradeTimesOut(t *testing.T) {
	ln := loopback(t)
	_, err := (&channel.Dialer{HandshakeTimeout: 50 * time.Millisecond}).Dial(testContext(t), "http://"+ln.Addr().String()+"/websocket")
	if endReason(t, err) != channel.EndNetwork || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("dial ended with %v", err)
	}
}

func TestContextOfTheDialDoesNotGovernTheConnection(t *testing.T) {
	h := newHub(t, nil)
	ctx, cancel := context.WithCancel(testContext(t))
	conn, err := (&channel.Dialer{}).Dial(ctx, h.URL+"t")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	cancel()
	if err := conn.Sync(testContext(t)); err != nil {
		t.Error(err)
	}
}

func TestExtraCAIsTrustedAndOthersAreNot(t *testing.T) {
	h := &hub{Server: &channel.Server{}, spent: map[string]bool{}}
	h.Connect = h.connect
	ts := httptest.NewUnstartedServer(h.Server)
	ts.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	ts.EnableHTTP2 = true // ALPN must still agree on HTTP/1.1
	ts.StartTLS()
	defer ts.Close()
	defer h.Shutdown(testContext(t))
	pool := x509.NewCertPool()
	pool.AddCert(ts.Certificate())
	conn, err := (&channel.Dialer{TLS: &tls.Config{RootCAs: pool}}).Dial(testContext(t), ts.URL+"/websocket?ticket=a")
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Sync(testContext(t)); err != nil {
		t.Error(err)
	}
	conn.Close()
	_, err = (&channel.Dialer{}).Dial(testContext(t), ts.URL+"/websocket?ticket=b")
	var unknown *tls.CertificateVerificationError
	if !errors.As(err, &unknown) || endReason(t, err) != channel.EndNetwork {
		t.Errorf("an unknown authority: %v", err)
	}
}

// connectProxy is a proxy that tunnels by CONNECT for whoever has the password.
func connectProxy(used *atomic.Int32) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth(); password != "hunter2" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		used.Add(1)
		to, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer to.Close()
		from, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer from.Close()
		io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n")
		back := make(chan struct{})
		go func() { defer close(back); io.Copy(from, to); from.Close() }()
		io.Copy(to, from)
		to.Close()
		<-back
	})
}

func TestProxyIsHonoured(t *testing.T) {
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			h := newHub(t, nil)
			var used atomic.Int32
			ts := httptest.NewUnstartedServer(connectProxy(&used))
			pool := x509.NewCertPool()
			if scheme == "https" {
				ts.StartTLS()
				pool.AddCert(ts.Certificate())
			} else {
				ts.Start()
			}
			defer ts.Close()
			through := func(user *url.Userinfo) *channel.Dialer {
				u, err := url.Parse(ts.URL)
				if err != nil {
					t.Fatal(err)
				}
				u.User = user
				return &channel.Dialer{Proxy: http.ProxyURL(u), TLS: &tls.Config{RootCAs: pool}}
			}
			conn, err := through(url.UserPassword("ana", "hunter2")).Dial(testContext(t), h.URL+"t")
			if err != nil {
				t.Fatal(err)
			}
			if err := conn.Sync(testContext(t)); err != nil || used.Load() != 1 {
				t.Errorf("%v after %d uses of the proxy", err, used.Load())
			}
			conn.Close()
			_, err = through(url.UserPassword("ana", "wrong-one")).Dial(testContext(t), h.URL+"t2")
			var refused *channel.ProxyError
			if endReason(t, err) != channel.EndNetwork || !errors.As(err, &refused) || refused.Status != 407 || strings.Contains(err.Error(), "wrong-one") {
				t.Errorf("a proxy that refuses: %v", err)
			}
		})
	}
}

func TestLogNeverHoldsTheTicketOrAPayload(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h := newHub(t, func(s *channel.Server) { s.Logger = logger })
	h.Connect = func(r *http.Request) (channel.Session, error) {
		s, err := h.connect(r)
		s.ID = "runner_socket:1" // the id is logged, and not secret
		return s, err
	}
	conn := h.dial(t, &channel.Dialer{Logger: logger}, "very-secret")
	ch := join(t, conn, "terminal:1")
	if _, err := ch.Call(testContext(t), "crash", map[string]string{"token": "very-secret"}); err == nil {
		t.Error("no crash")
	}
	if _, err := (&channel.Dialer{Logger: logger}).Dial(testContext(t), h.URL+"very-secret"); err == nil {
		t.Error("the ticket was taken twice")
	}
	conn.Close()
	if err := h.Shutdown(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); strings.Contains(text, "very-secret") || text == "" {
		t.Errorf("the log says %s", text)
	}
}
