package control

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// pipeFile holds the name of the pipe. The name is new each time: anyone could open one before us that can be guessed.
const pipeFile = "control.pipe"

// address is where the daemon of folder tells its pipe, for people.
func address(folder string) string { return filepath.Join(folder, pipeFile) }

func listen(folder string) (net.Listener, func() error, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, nil, fmt.Errorf("asking who this process runs as: %w", err)
	}
	name := `\\.\pipe\runner-` + rand.Text()
	// Protected from what it would inherit, and everything for the owner.
	owner := "D:P(A;;GA;;;" + user.User.Sid.String() + ")"
	listener, err := winio.ListenPipe(name, &winio.PipeConfig{SecurityDescriptor: owner})
	if err != nil {
		return nil, nil, fmt.Errorf("opening the pipe: %w", err)
	}
	if err := os.WriteFile(address(folder), []byte(name), 0o600); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("writing the name of the pipe: %w", err), listener.Close())
	}
	return listener, func() error { return os.Remove(address(folder)) }, nil
}

func dial(ctx context.Context, folder string) (net.Conn, error) {
	name, err := os.ReadFile(address(folder))
	if err != nil {
		return nil, fmt.Errorf("reading the name of the pipe: %w", err)
	}
	if !strings.HasPrefix(string(name), `\\.\pipe\runner-`) {
		return nil, fmt.Errorf("%s: %w", address(folder), fs.ErrNotExist) // half a name: the daemon is starting
	}
	return winio.DialPipeContext(ctx, string(name))
}

// nobodyListens tells whether err is that of a pipe that has ended; it is "not found" there.
func nobodyListens(error) bool { return false }
