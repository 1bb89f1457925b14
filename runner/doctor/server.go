package doctor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/pairing"
)

// clockSlack is how far the clocks may be apart before a signature, which lives a minute, is at risk.
const clockSlack = 20 * time.Second

// Server is the server as the daemon reaches it.
type Server struct {
	Client pairing.Client
	// Proxy tells which proxy a request takes, as the daemon's transport has it; nil: none ever.
	Proxy func(*http.Request) (*url.URL, error)
	// Project is the only one that is served; empty for every project of a machine key.
	Project string
}

// Checks are reachability, with the proxy and certificates in use, the clock, and the credential.
func (s Server) Checks() []Check {
	return []Check{{"server", s.reach}, {"clock", s.clock}, {"credential", s.credential}}
}

// ask sends a request without a credential: any answer of HTTP proves that the server is there.
func (s Server) ask(ctx context.Context) (*http.Response, *http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, s.Client.BaseURL+"/runner/projects", nil)
	if err != nil {
		return nil, nil, failure.New(failure.ServerUnreachable, s.Client.BaseURL).Wrap(err)
	}
	client := s.Client.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, nil, pairing.Unreachable(s.Client.BaseURL, err)
	}
	response.Body.Close()
	if byProxy := s.Client.RefusedByProxy(response); byProxy != nil {
		return nil, nil, byProxy
	}
	return response, request, nil
}

func (s Server) reach(ctx context.Context) (string, error) {
	response, request, err := s.ask(ctx)
	if err != nil {
		return "", err
	}
	how := "without encryption"
	if t := response.TLS; t != nil && len(t.PeerCertificates) > 0 {
		leaf := t.PeerCertificates[0]
		how = fmt.Sprintf("certificate of %s, issued by %s, good until %s",
			leaf.Subject.CommonName, leaf.Issuer.CommonName, leaf.NotAfter.Format(time.DateOnly))
	}
	through := "no proxy"
	if s.Proxy != nil {
		if proxy, err := s.Proxy(request); err == nil && proxy != nil {
			through = "proxy " + proxy.Redacted()
		}
	}
	return fmt.Sprintf("%s answers, %s, %s", s.Client.BaseURL, through, how), nil
}

func (s Server) clock(ctx context.Context) (string, error) {
	response, _, err := s.ask(ctx)
	if err != nil {
		return "", err
	}
	theirs, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return "the server does not tell its time", nil
	}
	now := time.Now
	if s.Client.Now != nil {
		now = s.Client.Now
	}
	apart := now().Sub(theirs)
	if apart.Abs() > clockSlack {
		direction := "fast"
		if apart < 0 {
			direction = "slow"
		}
		return "", failure.New(failure.ClockSkew, "clock").
			Because("this machine's clock is %s %s of the server's", apart.Abs().Round(time.Second), direction)
	}
	return fmt.Sprintf("within %s of the server's", clockSlack), nil
}

func (s Server) credential(ctx context.Context) (string, error) {
	if s.Project != "" {
		if _, err := s.Client.Ticket(ctx, s.Project); err != nil {
			return "", err
		}
		return "the server gives tickets for project " + s.Project, nil
	}
	projects, dropped, err := s.Client.Projects(ctx)
	if err != nil {
		return "", err
	}
	if len(dropped) > 0 {
		return "", Warning(dropped[0])
	}
	return fmt.Sprintf("the server takes it; projects: %d", len(projects)), nil
}
