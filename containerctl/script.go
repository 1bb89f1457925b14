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

// scriptRun runs one command. $1 is the text, $2 the mark in KiB, $3 in bytes, $4 the folder, $5 the shell's choice,
// $6 the umask or nothing, $7 the word that begins each line of its reports.
//
// Its standard error is the channel of its reports; the command's own goes where its output goes, so that the order
// of both is kept. It is run from a subshell, so that what the outer shell has to say about its end ("Killed") does
// not go there too. The outer shell traps what the command may be ended with, to be there afterwards and clear away what
// the command left behind; a trap, unlike an ignored signal, is not inherited.
const scriptRun = scriptFind + scriptKill + `
word=$7 lowest=$3 highest=$3 sh=/bin/sh
echo "$word begin" >&2
trap : TERM INT HUP QUIT
ulimit -c 0
ulimit -m "$2" || echo "$word unmarked" >&2
[ -n "$6" ] && umask "$6"
if [ "$5" != sh ]; then
	for b in /bin/bash /usr/bin/bash /usr/local/bin/bash; do
		[ -x "$b" ] && sh=$b && break
	done
	if [ "$sh" = /bin/sh ]; then
		echo "$word nobash" >&2
		[ "$5" = bash ] && exit 126
	fi
fi
cd "$4" || { echo "$word nocwd" >&2; exit 126; }
(exec "$sh" -c "$1" </dev/null 2>&1)
code=$?
kill_marked
echo "$word end $code $ended $count" >&2
exit "$code"
`

// scriptTerm sends TERM to the marked processes: $1 and $2 are the lowest and the highest mark in bytes.
const scriptTerm = scriptFind + `
lowest=$1 highest=$2
find_marked
[ "$count" -eq 0 ] || kill -TERM $found
echo "$3 term $count" >&2
`

// scriptEnd kills them and says how many there were and how many are left.
const scriptEnd = scriptFind + scriptKill + `
lowest=$1 highest=$2
kill_marked
echo "$3 ended $ended $count" >&2
`
