package service

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// stepped is the version of systemd that first let the delay between restarts grow.
const stepped = 254

// systemd renders d as a unit for the given version of systemd, 0 where it is not known.
func systemd(d Definition, version int) (string, error) {
	var u unit
	u.section("Unit")
	u.line("Description", escapePercent(describe(d.ID)))
	u.comment("A package that was removed leaves the unit; nothing is tried while the program is gone.")
	u.line("ConditionFileIsExecutable", escapePercent(d.Program))
	switch {
	case d.System:
		u.network()
	case d.Kind == Hub:
		u.tireless()
	default:
		u.line("After", "runner-hub.service")
		u.tireless()
	}

	u.section("Service")
	u.line("Type", "notify")
	u.line("NotifyAccess", "main")
	u.line("ExecStart", command(d))
	u.line("WorkingDirectory", escapePercent(d.Folder))
	if d.System {
		u.line("User", d.User)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Environment)) {
		u.line("Environment", quote(name+"="+d.Environment[name]))
	}
	u.line("UMask", fmt.Sprintf("%04o", d.Umask))
	u.restart(d.Kind, version)
	u.stop(d.Grace)
	u.harden(d.Kind)

	u.section("Install")
	if d.System {
		u.line("WantedBy", "multi-user.target")
	} else {
		u.line("WantedBy", "default.target")
	}
	err := u.record(d)
	return u.b.String(), err
}

// Template renders the unit that a package brings for a service of the system for any user: the name of its instance is
// the user. It is enabled by nobody but an administrator, and holds nothing of a shell's.
func Template(program string, grace time.Duration) string {
	var u unit
	u.section("Unit")
	u.line("Description", "Runner: approved actions of %i on this machine")
	u.line("ConditionFileIsExecutable", escapePercent(program))
	u.network()
	u.section("Service")
	u.line("Type", "notify")
	u.line("NotifyAccess", "main")
	u.line("ExecStart", quote(program)+" run")
	u.line("User", "%i")
	u.line("WorkingDirectory", "~")
	u.restart(Machine, stepped)
	u.stop(grace)
	u.harden(Machine)
	u.section("Install")
	u.line("WantedBy", "multi-user.target")
	return u.b.String()
}

// unit is the text of a unit while it grows.
type unit struct{ b strings.Builder }

func (u *unit) section(name string) {
	if u.b.Len() > 0 {
		u.b.WriteByte('\n')
	}
	fmt.Fprintf(&u.b, "[%s]\n", name)
}

func (u *unit) line(key, value string) { fmt.Fprintf(&u.b, "%s=%s\n", key, value) }

func (u *unit) comment(text string) { fmt.Fprintf(&u.b, "# %s\n", text) }

// network waits for the network, though nothing depends on it: without one the daemon goes on trying by itself.
func (u *unit) network() {
	u.line("Wants", "network-online.target")
	u.line("After", "network-online.target")
	u.tireless()
}

// tireless sets no limit to starts: the daemon of a machine that nobody watches must come back.
func (u *unit) tireless() { u.line("StartLimitIntervalSec", "0") }

// personNeeded are the exit codes that no restart can mend: wrong use or settings, a missing or refused credential,
// another daemon that has the state. A daemon of one project also ends, with 1, when its server will not have it.
func personNeeded(kind Kind) string {
	if kind == Project {
		return "1 2 4 7"
	}
	return "2 4 7"
}

func (u *unit) restart(kind Kind, version int) {
	u.line("Restart", "on-failure")
	u.comment("These exits need a person, so nothing is started again.")
	u.line("RestartPreventExitStatus", personNeeded(kind))
	u.line("RestartSec", "5")
	if version >= stepped {
		u.line("RestartSteps", "6")
		u.line("RestartMaxDelaySec", "5min")
	}
	u.line("TimeoutStartSec", "90")
	u.comment("The daemon says that it lives only while its loops turn.")
	u.line("WatchdogSec", "60")
	u.line("TimeoutAbortSec", "10")
}

func (u *unit) stop(grace time.Duration) {
	u.comment("The daemon alone is asked to stop, as it lets its commands finish; what is left of the control group then is killed.")
	u.line("KillMode", "mixed")
	u.line("TimeoutStopSec", fmt.Sprint(int64((grace+time.Second-1)/time.Second)))
}

func (u *unit) harden(kind Kind) {
	u.comment("A command that eats the memory must not take the daemon with it, and nothing leaves its memory on the disk.")
	u.line("OOMPolicy", "continue")
	u.line("LimitCORE", "0")
	if kind != Hub {
		u.comment("The daemon gives each command a control group of its own where memory or processes are limited.")
		u.line("Delegate", "memory pids")
		// All further walls also forbid new privileges: sudo would be gone, and with it rootless containers.
		return
	}
	u.comment("The hub starts no programs.")
	for _, wall := range []string{"NoNewPrivileges", "LockPersonality", "RestrictRealtime", "RestrictSUIDSGID", "RestrictNamespaces", "MemoryDenyWriteExecute"} {
		u.line(wall, "yes")
	}
	u.line("SystemCallArchitectures", "native")
	u.line("RestrictAddressFamilies", "AF_UNIX AF_INET AF_INET6 AF_NETLINK")
}

// recordKey is the line that holds the Definition. systemd ignores whole sections whose name begins with X-.
const recordKey = "Definition="

func (u *unit) record(d Definition) error {
	raw, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("recording the service in its unit: %w", err)
	}
	u.section("X-Runner")
	u.b.WriteString(recordKey + string(raw) + "\n")
	return nil
}

// command is the line ExecStart. A dollar in the first word stands for itself, in the others for a variable.
func command(d Definition) string {
	words := []string{quote(d.Program)}
	for _, a := range d.Arguments {
		words = append(words, quote(strings.ReplaceAll(a, "$", "$$")))
	}
	return strings.Join(words, " ")
}

// quote writes s as one word of a line with several: as it is where that is safe, else in double quotes with C's
// escapes. A per cent sign, which would begin a specifier, is doubled.
func quote(s string) string {
	var b strings.Builder
	plain := s != ""
	for i := range len(s) {
		switch c := s[i]; {
		case c == '%':
			b.WriteString("%%")
		case c == '"' || c == '\\':
			plain = false
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			plain = false
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			plain = plain && c != ' ' && c != '\'' && c != ';'
			b.WriteByte(c)
		}
	}
	if plain {
		return b.String()
	}
	return `"` + b.String() + `"`
}

func escapePercent(s string) string { return strings.ReplaceAll(s, "%", "%%") }

func describe(id ID) string {
	switch id.Kind {
	case Hub:
		return "Runner hub: approvals for agents on this machine"
	case Project:
		return "Runner: approved actions of project " + id.Project
	}
	return "Runner: approved actions on this machine"
}

// readSystemd finds the Definition that a unit of ours was rendered from.
func readSystemd(text []byte) (Definition, error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, largestUnit)
	for inRecord := false; lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			inRecord = line == "[X-Runner]"
		}
		if raw, found := strings.CutPrefix(line, recordKey); found && inRecord {
			var d Definition
			if err := json.Unmarshal([]byte(raw), &d); err != nil {
				return Definition{}, fmt.Errorf("its record can't be read: %w", err)
			}
			return d, nil
		}
	}
	if err := lines.Err(); err != nil {
		return Definition{}, err
	}
	return Definition{}, errNoRecord
}
