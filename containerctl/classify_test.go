package containerctl

import (
	"testing"

	"github.com/moby/moby/api/types/jsonstream"

	"brabo.dev/runner/runner/failure"
)

func TestPullsAreToldApartByTheEnginesWords(t *testing.T) {
	for text, want := range map[string]struct {
		name    failure.Name
		passing bool
	}{
		"manifest for localhost:5000/a:9 not found: manifest unknown: manifest unknown":                                                              {failure.ImageNotFound, false},
		"initializing source docker://localhost:5000/a:9: reading manifest 9 in localhost:5000/a: manifest unknown":                                  {failure.ImageNotFound, false},
		"pull access denied for nosuch, repository does not exist or may require 'docker login': denied: requested access to the resource is denied": {failure.ImageDenied, false},
		"Head \"http://127.0.0.1:5000/v2/a/manifests/1\": no basic auth credentials":                                                                 {failure.ImageDenied, false},
		"unable to retrieve auth token: invalid username/password: unauthorized: authentication required":                                            {failure.ImageDenied, false},
		"toomanyrequests: You have reached your pull rate limit. You may increase the limit by authenticating and upgrading":                         {failure.ImageRateLimited, false},
		"too many requests to registry": {failure.ImageRateLimited, false},
		"Get \"https://registry.example/v2/\": dial tcp: lookup registry.example on 127.0.0.53:53: no such host":                                             {failure.RegistryUnreachable, true},
		"Get \"http://127.0.0.1:1/v2/\": dial tcp 127.0.0.1:1: connect: connection refused":                                                                  {failure.RegistryUnreachable, true},
		"Get \"https://registry-1.docker.io/v2/\": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)": {failure.RegistryUnreachable, true},
		"Get \"https://registry-1.docker.io/v2/\": net/http: TLS handshake timeout":                                                                          {failure.RegistryUnreachable, true},
		"received unexpected HTTP status: 503 Service Unavailable":                                                                                           {failure.ImagePullFailed, true},
		"unexpected EOF": {failure.ImagePullFailed, true},
		"failed to register layer: write /x: no space left on device":          {failure.DiskFull, false},
		"http: server gave HTTP response to HTTPS client":                      {failure.ImagePullFailed, false},
		"x509: certificate signed by unknown authority":                        {failure.ImagePullFailed, false},
		"no matching manifest for linux/arm64/v8 in the manifest list entries": {failure.ImageNotFound, false},
	} {
		if name, passing := classifyPull(text); name != want.name || passing != want.passing {
			t.Errorf("%s\n is %s, passing %v; want %s, %v", text, name, passing, want.name, want.passing)
		}
	}
}

func TestProgressSumsTheLayers(t *testing.T) {
	l := layers{image: "a:1"}
	for _, m := range []jsonstream.Message{
		{Status: "Pulling from a", ID: "1"},
		{Status: "Downloading", ID: "x", Progress: &jsonstream.Progress{Current: 5, Total: 10}},
		{Status: "Downloading", ID: "y", Progress: &jsonstream.Progress{Current: 1, Total: 100}},
		{Status: "Downloading", ID: "x", Progress: &jsonstream.Progress{Current: 10, Total: 10}},
		{Status: "Extracting", ID: "x", Progress: &jsonstream.Progress{Current: 1, Total: 30}},
	} {
		l.take(m)
	}
	if got, want := l.sum(), (Progress{Image: "a:1", Current: 11, Total: 110}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
