// Package pairing is who this machine is to a server: its token or device key, and what they are exchanged for.
//
// Store keeps the machine's own pairing, whose key was made here, in our config folder or the system's keychain.
// LocalProjects are the folders that this machine has confirmed for the projects of its hub. CreateDeviceKey and
// FinishDeviceKey make a key for a server where somebody else registers it.
//
// A Key or a Token signs for one request at a time. Client asks the server's HTTP side for tickets and for the
// list of projects, once a call: whether and when to ask again is the daemon's to decide, from the name of the
// failure and from RetryAfter. Credentials and tickets appear in no error, log line or URL that this package prints.
//
// The package starts no goroutines.
package pairing

import (
	"errors"
	"time"

	"brabo.dev/runner/runner/settings"
)

// Credential proves to the server who asks.
type Credential interface {
	// Bearer gives the text behind `Bearer` for a request about the project, or about no project when projectID is
	// empty, made at now.
	Bearer(projectID string, now time.Time) (settings.Secret, error)
}

// Token is a personal access token. It is sent as it is and belongs to one project.
type Token struct{ settings.Secret }

// Bearer is the token itself.
func (t Token) Bearer(string, time.Time) (settings.Secret, error) {
	if t.IsZero() {
		return settings.Secret{}, errors.New("the token is empty")
	}
	return t.Secret, nil
}
