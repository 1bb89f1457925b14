package hub

import (
	"context"
	"net/http"
	"path/filepath"
	"time"

	"brabo.dev/runner/runner/policy"
)

// FilePolicy decides by the permissions.json in the project's folder (policy.md). The file is read for each proposal,
// so that an edit counts at once.
type FilePolicy struct {
	// Role is the effective role of the person for whom the agents act.
	Role policy.Role
}

// Decide implements Decider. Beside the errors of policy.Decide it fails with PermissionsFileInvalid.
func (f FilePolicy) Decide(p Project, proposed Proposal) (policy.Decision, error) {
	file, err := policy.Load(filepath.Join(p.Root, policy.FileName))
	if err != nil {
		return policy.Decision{}, err
	}
	return policy.Decide(
		policy.Action{Type: proposed.Type, Command: proposed.Command, Cwd: proposed.Cwd},
		f.Role, policy.Autonomy{}, file.Permissions, policy.Context{ScopeRoot: p.Root},
	)
}

// contextWithin bounds a request's context.
func contextWithin(r *http.Request, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.Context(), d)
}
