package containerctl

import (
	"crypto/rand"
	"encoding/binary"
	"strconv"
)

// A command inside has to be ended from inside: the Engine API can start a process but not signal it, and the
// daemon may neither see nor signal the host's pids. So each command carries a mark which its children can't lose by
// clearing their environment, by a session of their own or by closing descriptors: a limit on resident memory, which
// Linux has ignored since 2.4.30, inherits, and shows in /proc/PID/limits. The mark is a value nobody would set, from
// 1 to 2 PiB.
//
// Limits of this: a process that lowers the limit itself (`ulimit -m`) or lowers it for its children leaves its
// command. It ends with the container.
type mark uint64

const (
	markLowest  mark = 1 << 50 // bytes
	markHighest mark = 1<<51 - 1024
)

func newMark() mark {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	steps := uint64(markHighest-markLowest) / 1024
	return markLowest + mark(binary.LittleEndian.Uint64(b[:])%steps)*1024
}

// bytes is the mark as /proc shows it, kibibytes as ulimit takes it.
func (m mark) bytes() string     { return strconv.FormatUint(uint64(m), 10) }
func (m mark) kibibytes() string { return strconv.FormatUint(uint64(m)/1024, 10) }

// scriptFind is the shell function that finds the marked processes. It uses nothing but what every POSIX shell has
// built in, so that it works in a bare image and where the pids limit is reached. Zombies are left out: they
// have ended, and their parents or the container's init will collect them.
const scriptFind = `
find_marked() {
	found= count=0
	for d in /proc/[0-9]*; do
		p=${d#/proc/}
		[ "$p" = "$$" ] && continue
		v=
		while read -r a b c soft rest; do
			case "$a $b $c" in
			"Max resident set") v=$soft; break;;
			esac
		done <"$d/limits"
		case $v in ''|*[!0-9]*) continue;; esac
		[ "$v" -ge "$lowest" ] && [ "$v" -le "$highest" ] || continue
		state=Z
		while read -r key value rest; do
			case $key in State:) state=$value; break;; esac
		done <"$d/status"
		case $state in Z*|X*|x*) continue;; esac
		found="$found $p"
		count=$((count+1))
	done
}
`

// scriptKill is the shell function that kills the marked processes. They are stopped first, round by round until
// nothing new turns up, since what is stopped can't fork between being seen and being killed.
const scriptKill = `
kill_marked() {
	ended=0 round=0
	while [ "$round" -lt 500 ]; do
		round=$((round+1))
		stopped=' '
		while :; do
			find_marked
			new=
			for p in $found; do
				case $stopped in
				*" $p "*) ;;
				*) kill -STOP "$p"; stopped="$stopped$p "; new=1;;
				esac
			done
			[ -n "$new" ] || break
		done
		[ "$count" -eq 0 ] && break
		[ "$count" -gt "$ended" ] && ended=$count
		kill -KILL $found
	done
}
`

// scriptRun is the shell function that runs one command: the word of its reports, the mark in KiB and in bytes, the
// shell's choice, the umask or nothing, the folder, the text, and an export command or nothing.
//
// The reports stand in the output itself, so that nobody has to guess which output came before them: each is a line
// that begins with the word, which is random and known to nobody else before the command's output has begun. The
// command is the process of a subshell; the shell around it traps what the command may be ended with, to be there
// afterwards and clear away what it left behind. A trap, unlike an ignored signal, is not inherited.
const scriptRun = scriptFind + scriptKill + `
trap : TERM INT HUP QUIT
run() {
	word=$1 kib=$2 lowest=$3 highest=$3 choice=$4 mask=$5 dir=$6 text=$7 vars=$8 sh=/bin/sh
	if [ "$choice" != sh ]; then
		for b in /bin/bash /usr/bin/bash /usr/local/bin/bash; do
			[ -x "$b" ] && sh=$b && break
		done
		if [ "$sh" = /bin/sh ]; then
			echo "$word nobash"
			[ "$choice" = bash ] && { echo "$word end 126 0 0"; return; }
		fi
	fi
	(
		ulimit -c 0
		ulimit -m "$kib" || echo "$word unmarked"
		[ -n "$mask" ] && umask "$mask"
		eval "$vars"
		cd "$dir" || { echo "$word nocwd"; exit 126; }
		[ -x "$sh" ] || { echo "$word nosh"; exit 126; }
		echo "$word begin"
		exec "$sh" -c "$text" </dev/null 2>&1
	)
	code=$?
	kill_marked
	echo "$word end $code $ended $count"
}
`

// scriptOnce runs the one command that its arguments are.
const scriptOnce = scriptRun + `
run "$@"
`

// scriptTerm sends TERM to the marked processes: $1 and $2 are the lowest and the highest mark in bytes.
const scriptTerm = scriptFind + `
lowest=$1 highest=$2
find_marked
[ "$count" -eq 0 ] || kill -TERM $found
echo "$3 term $count"
`

// scriptEnd kills them and says how many there were and how many are left.
const scriptEnd = scriptFind + scriptKill + `
lowest=$1 highest=$2
kill_marked
echo "$3 ended $ended $count"
`
