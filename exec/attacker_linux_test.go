package exec

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// attack is a hostile program: it gives 0 where it got what it wanted.
func attack(words []string) int {
	err := tryTo(words[0], words[1:])
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("got it")
	return 0
}

func tryTo(what string, words []string) error {
	switch what {
	case "connect":
		conn, err := net.Dial(words[0], words[1])
		if err == nil {
			conn.Close()
		}
		return err
	case "hide-family": // in bits that the kernel ignores and a filter may not
		return call(unix.SYS_SOCKET, 1<<32|unix.AF_UNIX, unix.SOCK_STREAM)
	case "packet":
		return call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM)
	case "pair":
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		return err
	case "keys":
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_PROCESS_KEYRING, true)
		return err
	}
	return fmt.Errorf("%s is no attack", what)
}

func call(number, a, b uintptr) error {
	fd, _, errno := unix.Syscall(number, a, b, 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

// attacker is the start of a command line that attacks.
func attacker() string {
	binary, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return binary + " " + asAttacker + " "
}
