package runner

import (
	"context"
	"maps"
	"net"
	"time"
)

// networkTick is how often this machine's addresses are read.
const networkTick = 2 * time.Second

// addresses are those of this machine that can lead to a server.
type addresses map[string]bool

// readAddresses leaves out loopback and what is valid on one link only, which comes and goes with every container.
func readAddresses() (addresses, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	as := addresses{}
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() {
			as[ip.IP.String()] = true
		}
	}
	return as, nil
}

// watchNetwork compares the addresses at each tick until ctx ends, and calls changed for each change; gained says that
// there is one that was not there before. A reading that fails says nothing.
func watchNetwork(ctx context.Context, ticks <-chan time.Time, read func() (addresses, error), changed func(gained bool)) {
	last, _ := read() // the first that succeeds is what later ones are compared with
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		now, err := read()
		if err != nil {
			continue
		}
		if last != nil && !maps.Equal(last, now) {
			changed(!within(now, last))
		}
		last = now
	}
}

// within reports whether every address of as is among others.
func within(as, others addresses) bool {
	for a := range as {
		if !others[a] {
			return false
		}
	}
	return true
}
