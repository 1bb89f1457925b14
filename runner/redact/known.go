package redact

import (
	"slices"
	"sync"
)

// recent is how many short-lived secrets are remembered.
const recent = 32

// Known is what a process knows of secrets at the moment. It may be used by several goroutines; nil knows none.
type Known struct {
	mu     sync.Mutex // guards what follows
	kept   []string
	passed []string // short-lived ones, the oldest first
	set    *Set
	stale  bool // set is of earlier secrets
}

// Keep adds secrets for as long as the process lives.
func (k *Known) Keep(secrets ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, secret := range secrets {
		if secret != "" && !slices.Contains(k.kept, secret) {
			k.kept = append(k.kept, secret)
			k.stale = true
		}
	}
}

// Pass adds a secret that soon is none any more, as a ticket; the last 32 of them count.
func (k *Known) Pass(secret string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if over := len(k.passed) - recent + 1; over > 0 {
		k.passed = slices.Delete(k.passed, 0, over)
	}
	k.passed = append(k.passed, secret)
	k.stale = true
}

// Set is the set of what is known now.
func (k *Known) Set() *Set {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stale {
		k.set, k.stale = New(append(slices.Clone(k.kept), k.passed...)...), false
	}
	return k.set
}

// With is the set of what is known now and of the secrets.
func (k *Known) With(secrets ...string) *Set {
	if len(secrets) == 0 {
		return k.Set()
	}
	if k != nil {
		k.mu.Lock()
		secrets = append(append(slices.Clone(k.kept), k.passed...), secrets...)
		k.mu.Unlock()
	}
	return New(secrets...)
}
