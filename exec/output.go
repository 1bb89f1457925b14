package exec

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// Output keeps the beginning and the end of what is written to it, in memory bounded by twice its limit. It is safe for
// use by several goroutines. Write never fails.
type Output struct {
	limit int

	mu    sync.Mutex // guards what follows
	head  []byte     // the first bytes, at most limit
	ring  []byte     // the last bytes behind head, at most limit; allocated when head is full
	next  int        // where the next byte goes in ring, once ring is full
	total int64
}

// NewOutput makes an Output whose text will be at most limit bytes long, marker included. A limit below zero is zero.
func NewOutput(limit int) *Output { return &Output{limit: max(limit, 0)} }

// Write takes p. It always returns len(p), nil.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(p)
	o.total += int64(n)
	if room := o.limit - len(o.head); room > 0 {
		k := min(room, len(p))
		o.head = append(o.head, p[:k]...)
		p = p[k:]
	}
	if len(p) > 0 && o.limit > 0 {
		o.keepLast(p)
	}
	return n, nil
}

// keepLast puts p into the ring; of a p longer than the ring only the end is looked at.
func (o *Output) keepLast(p []byte) {
	if len(p) >= o.limit {
		o.ring = append(o.ring[:0], p[len(p)-o.limit:]...)
		o.next = 0
		return
	}
	if room := o.limit - len(o.ring); room > 0 {
		k := min(room, len(p))
		o.ring = append(o.ring, p[:k]...)
		p = p[k:]
	}
	for len(p) > 0 {
		k := copy(o.ring[o.next:], p)
		o.next = (o.next + k) % o.limit
		p = p[k:]
	}
}

// Total is the number of bytes written so far.
func (o *Output) Total() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

// Result is what was written, as valid UTF-8 of at most the limit, with every invalid byte replaced by U+FFFD. Where it
// does not fit, the beginning and the end stand on either side of the contract's marker (protocol.md 4.1), cut between
// characters; of a limit too small for a marker, only a beginning. total counts all bytes that came, invalid those that
// were replaced in text.
func (o *Output) Result() (text string, truncated bool, total, invalid int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.total <= int64(len(o.head)) {
		if size, bad := validSize(o.head); size <= o.limit {
			return valid(o.head, size), false, o.total, bad
		}
	}
	mark := marker(o.limit, o.total)
	room := o.limit - len(mark)
	if room < 0 {
		mark, room = "", o.limit
	}
	tail := []byte(nil)
	if mark != "" {
		tail = lastRunes(o.end(), room/2)
	}
	tailSize, tailBad := validSize(tail)
	head := firstRunes(o.head, room-tailSize)
	headSize, headBad := validSize(head)
	return valid(head, headSize) + mark + valid(tail, tailSize), true, o.total, headBad + tailBad
}

// end is the kept bytes that lead without a gap to the last one.
func (o *Output) end() []byte {
	ring := append(append(make([]byte, 0, len(o.ring)), o.ring[o.next:]...), o.ring[:o.next]...)
	if o.total > int64(len(o.head)+len(ring)) {
		return ring
	}
	return append(append(make([]byte, 0, len(o.head)+len(ring)), o.head...), ring...)
}

// marker is the contract's text between head and tail, for a limit and a true size in bytes.
func marker(limit int, total int64) string {
	return fmt.Sprintf("\n\n[saída truncada: %d de %d bytes. Refine o comando (head, grep, -maxdepth) para ver o que falta.]\n\n", limit, total)
}

const replacement = string(utf8.RuneError) // three bytes for one

// validSize is the length of p after replacement, and the number of invalid bytes in it.
func validSize(p []byte) (size int, invalid int64) {
	if utf8.Valid(p) {
		return len(p), 0
	}
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		if r == utf8.RuneError && n == 1 {
			size += len(replacement)
			invalid++
		} else {
			size += n
		}
		p = p[n:]
	}
	return size, invalid
}

// valid is p after replacement; size is its length then.
func valid(p []byte, size int) string {
	if size == len(p) {
		return string(p) // a replacement always makes it longer
	}
	var b strings.Builder
	b.Grow(size)
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		b.WriteRune(r)
		p = p[n:]
	}
	return b.String()
}

// firstRunes is the longest beginning of p that is at most size bytes after replacement and does not end within a
// character that goes on behind p's end.
func firstRunes(p []byte, size int) []byte {
	end := 0
	for end < len(p) {
		if !utf8.FullRune(p[end:]) {
			break
		}
		r, n := utf8.DecodeRune(p[end:])
		width := n
		if r == utf8.RuneError && n == 1 {
			width = len(replacement)
		}
		if size -= width; size < 0 {
			break
		}
		end += n
	}
	return p[:end]
}

// lastRunes is the longest end of p that is at most size bytes after replacement. UTF-8 read backwards yields the same
// characters as read forwards.
func lastRunes(p []byte, size int) []byte {
	start := len(p)
	for start > 0 {
		r, n := utf8.DecodeLastRune(p[:start])
		width := n
		if r == utf8.RuneError && n == 1 {
			width = len(replacement)
		}
		if size -= width; size < 0 {
			break
		}
		start -= n
	}
	return p[start:]
}
