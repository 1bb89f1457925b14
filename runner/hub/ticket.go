package hub

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"
)

// ticketLife is how long a ticket can be used (protocol.md 3.2).
const ticketLife = 30 * time.Second

// maxTickets bounds how many unused ones are kept; the oldest go first.
const maxTickets = 10_000

// ticket is a right to join one project's topic once.
type ticket struct {
	project    string
	credential string
	expires    time.Time
}

// tickets holds those that were issued and not used, by the hash of their text. The zero value is empty.
type tickets struct {
	mu    sync.Mutex // guards what follows
	held  map[[sha256.Size]byte]ticket
	order [][sha256.Size]byte
}

// issue makes a ticket: 32 random bytes in base64url (protocol.md 3.2).
func (t *tickets) issue(project, credential string, now time.Time) (text string, expires time.Time) {
	var raw [32]byte
	rand.Read(raw[:]) // never fails: crypto/rand ends the process instead
	text = base64.RawURLEncoding.EncodeToString(raw[:])
	hash, expires := sha256.Sum256([]byte(text)), now.Add(ticketLife)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held == nil {
		t.held = map[[sha256.Size]byte]ticket{}
	}
	t.held[hash] = ticket{project, credential, expires}
	t.order = append(t.order, hash)
	for len(t.order) > 0 && (len(t.order) > maxTickets || !t.usableLocked(t.order[0], now)) {
		delete(t.held, t.order[0])
		t.order = t.order[1:]
	}
	return text, expires
}

func (t *tickets) usableLocked(hash [sha256.Size]byte, now time.Time) bool {
	held, there := t.held[hash]
	return there && now.Before(held.expires)
}

// check looks a ticket up without using it, as is done when a socket connects.
func (t *tickets) check(text string, now time.Time) (ticket, bool) {
	hash := sha256.Sum256([]byte(text))
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held[hash], t.usableLocked(hash, now)
}

// use takes a ticket for the topic of project, as is done when a socket joins. A ticket of another project is left
// alone.
func (t *tickets) use(text, project string, now time.Time) bool {
	hash := sha256.Sum256([]byte(text))
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.usableLocked(hash, now) || t.held[hash].project != project {
		return false
	}
	delete(t.held, hash)
	return true
}

// void makes the unused tickets of a credential worthless.
func (t *tickets) void(credential string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for hash, held := range t.held {
		if held.credential == credential {
			held.expires = time.Time{}
			t.held[hash] = held
		}
	}
}
