package notify

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// Manager is the service manager of this process. The zero value is nobody.
type Manager struct {
	// Socket is where it listens; empty: nowhere.
	Socket string
	// Watchdog is the longest silence after which it believes that the daemon is stuck; zero: it does not watch.
	Watchdog time.Duration
}

// FromEnvironment finds the manager of the process with the id pid in its environment.
func FromEnvironment(environ []string, pid int) Manager {
	env := map[string]string{}
	for _, pair := range environ {
		if name, value, ok := strings.Cut(pair, "="); ok {
			env[name] = value
		}
	}
	m := Manager{Socket: env["NOTIFY_SOCKET"]}
	// The watchdog's variables are inherited by who it does not mean: then they name another process.
	if of := env["WATCHDOG_PID"]; of != "" && of != strconv.Itoa(pid) {
		return m
	}
	if us, err := strconv.ParseInt(env["WATCHDOG_USEC"], 10, 64); err == nil && us > 0 && us < int64(time.Hour/time.Microsecond)*24*365 {
		m.Watchdog = time.Duration(us) * time.Microsecond
	}
	return m
}

// send tells the manager some variables, each NAME=value, in one message.
func (m Manager) send(variables ...string) error {
	conn, err := net.Dial("unixgram", m.Socket)
	if err != nil {
		return fmt.Errorf("telling the service manager: %w", err)
	}
	defer conn.Close()
	if err := conn.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return fmt.Errorf("telling the service manager: %w", err)
	}
	if _, err := conn.Write([]byte(strings.Join(variables, "\n"))); err != nil {
		return fmt.Errorf("telling the service manager: %w", err)
	}
	return nil
}

// sendTimeout is how long a manager that does not read is waited for.
const sendTimeout = time.Second
