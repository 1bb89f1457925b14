package channel

// SetLastRef makes the next ref n+1, so that recorded frames fit byte for byte.
func (c *Conn) SetLastRef(n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastRef = n
}

// Waiters is the number of replies that are waited for.
func (c *Conn) Waiters() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiters)
}

// JoinRef is the ref that the channel was joined with.
func (ch *Channel) JoinRef() string { return ch.joinRef }
