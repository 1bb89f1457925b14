package exec

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/net/bpf"
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
	case "datagram": // a paired socket sends to any other
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		return unix.Sendto(fds[0], []byte("evil"), 0, &unix.SockaddrUnix{Name: words[0]})
	case "sequence-pair":
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
		return err
	case "limit-parent":
		return unix.Prlimit(os.Getppid(), unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	case "shared-memory":
		_, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
		return err
	case "ring":
		return called(unix.SYS_IO_URING_SETUP, 0, 0, unix.EFAULT) // the kernel looks at the arguments
	case "handle":
		err := called(unix.SYS_OPEN_BY_HANDLE_AT, 0, 0, unix.EFAULT)
		if err == unix.EPERM { // as an old kernel itself says to all but root: the other half is everybody's
			err = called(unix.SYS_NAME_TO_HANDLE_AT, 0, 0, unix.EFAULT)
		}
		return err
	case "watch": // and have the kernel tell the names of what is used there
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		if err != nil {
			return err
		}
		_, err = unix.InotifyAddWatch(fd, words[0], unix.IN_ALL_EVENTS)
		return errors.Join(err, unix.Close(fd))
	case "attribute":
		return unix.Setxattr(words[0], "user.evil", []byte("evil"), 0)
	case "keys":
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_PROCESS_KEYRING, true)
		return err
	}
	return fmt.Errorf("%s is no attack", what)
}

// called is nil where the kernel gave the call's own answer to arguments that mean nothing, not that of a filter.
func called(number, a, b uintptr, own syscall.Errno) error {
	if _, _, errno := unix.Syscall(number, a, b, 0); errno != own {
		return errno
	}
	return nil
}

func call(number, a, b uintptr) error {
	fd, _, errno := unix.Syscall(number, a, b, 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

// withoutLandlock has the kernel say of Landlock that it has none, and becomes this program with the given words.
func withoutLandlock(words []string) int {
	runtime.LockOSThread()
	err := loadFilter([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 0, Size: 4}, // the call's number in struct seccomp_data
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_LANDLOCK_CREATE_RULESET, SkipFalse: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	})
	if err == nil {
		err = syscall.Exec(os.Args[0], append([]string{os.Args[0]}, words...), os.Environ())
	}
	fmt.Println(err)
	return 1
}

// attacker is the start of a command line that attacks.
func attacker() string {
	binary, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return binary + " " + asAttacker + " "
}
