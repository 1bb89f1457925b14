//go:build unix

package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

const socketName = "control.sock"

// address is where the daemon of folder listens, for people.
func address(folder string) string { return filepath.Join(folder, socketName) }

// listen opens the socket, and tells how it is taken away again. An old one belongs to nobody: who has the folder's
// lock is alone.
func listen(folder string) (net.Listener, func() error, error) {
	path := address(folder)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("removing an old socket: %w", err)
	}
	short, done, err := shortened(path)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return nil, nil, fmt.Errorf("opening the socket: %w", err)
	}
	listener.SetUnlinkOnClose(false) // it would go by the short name, which ends here
	if err := os.Chmod(path, 0o600); err != nil {
		listener.Close()
		return nil, nil, fmt.Errorf("closing the socket to others: %w", err)
	}
	return listener, func() error { return os.Remove(path) }, nil
}

func dial(ctx context.Context, folder string) (net.Conn, error) {
	short, done, err := shortened(address(folder))
	if err != nil {
		return nil, err
	}
	defer done()
	var d net.Dialer
	return d.DialContext(ctx, "unix", short)
}

// nobodyListens tells whether err is that of a socket without a process behind it.
func nobodyListens(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
