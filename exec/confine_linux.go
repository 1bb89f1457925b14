package exec

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/landlock-lsm/go-landlock/landlock"
	llsyscall "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"brabo.dev/runner/runner/failure"
)

const (
	// leastLandlock is the version from which on a file can't be emptied either (Linux 6.2).
	leastLandlock = 3
	// signalLandlock is the version from which on signals to processes outside are refused (Linux 6.12).
	signalLandlock = 6
)

// Confinement tells what confines commands on this machine, or the failure confinement_unavailable.
func Confinement() (string, error) {
	version, err := llsyscall.LandlockGetABIVersion()
	if err != nil {
		version = 0
	}
	return confinementOf(version, seccomp.Supported())
}

// confinementOf is Confinement of a kernel with that version of Landlock, 0 where it has none, and with seccomp or not.
func confinementOf(version int, filters bool) (string, error) {
	switch {
	case version < leastLandlock:
		return "", failure.New(failure.ConfinementUnavailable, "Landlock").
			Because("this kernel has version %d of it, 0 being none, and %d is the least (Linux 6.2)", version, leastLandlock)
	case !filters:
		return "", failure.New(failure.ConfinementUnavailable, "seccomp").Because("this kernel takes no seccomp filters")
	case version < signalLandlock:
		return fmt.Sprintf("Landlock version %d and seccomp confine commands; signals to this user's other processes stay possible, as up to Linux 6.11", version), nil
	}
	return fmt.Sprintf("Landlock version %d and seccomp confine commands", version), nil
}

// devices can be used by every confined command. Terminals of others are not among them.
func devices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
}

// confine restricts this thread, and what it becomes, for good.
func (o order) confine() error {
	version, err := llsyscall.LandlockGetABIVersion()
	if err != nil {
		version = 0
	}
	if _, err := confinementOf(version, seccomp.Supported()); err != nil {
		return err
	}
	rules := []landlock.Rule{landlock.RWFiles(devices()...).WithIoctlDev().IgnoreIfMissing()}
	for _, path := range o.Read {
		if rule, ok := readable(path); ok {
			rules = append(rules, rule)
		}
	}
	for _, path := range o.Write {
		if rule, ok := writable(path); ok {
			rules = append(rules, rule)
		}
	}
	config := landlock.V6
	if o.Network {
		config.HandledAccessNet = 0
	}
	if err := renounce(); err != nil {
		return err
	}
	// The least version is there; what later ones add is taken where it is.
	if err := config.BestEffort().Restrict(rules...); err != nil {
		return fmt.Errorf("restricting what the command reaches: %w", err)
	}
	return filterCalls(o.Network)
}

func readable(path string) (landlock.Rule, bool) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, false // it went meanwhile
	case info.IsDir():
		return landlock.RODirs(path).IgnoreIfMissing(), true
	}
	return landlock.ROFiles(path).IgnoreIfMissing(), true
}

func writable(path string) (landlock.Rule, bool) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, false
	case info.IsDir():
		return landlock.RWDirs(path).WithRefer().IgnoreIfMissing(), true
	}
	return landlock.RWFiles(path).WithIoctlDev().IgnoreIfMissing(), true
}

// renounce gives up what makes root more than its files, for a daemon that runs as root: to trace, to look into other
// processes, to raise limits, to change devices, modules, mounts and networks. Nobody else has it.
func renounce() error {
	for _, capability := range []uintptr{
		unix.CAP_SYS_ADMIN, unix.CAP_SYS_PTRACE, unix.CAP_PERFMON, unix.CAP_BPF, unix.CAP_SYS_MODULE, unix.CAP_SYS_RAWIO,
		unix.CAP_SYS_RESOURCE, unix.CAP_SYS_BOOT, unix.CAP_SYS_TIME, unix.CAP_SYS_PACCT, unix.CAP_SYS_CHROOT, unix.CAP_SYSLOG,
		unix.CAP_MKNOD, unix.CAP_DAC_READ_SEARCH, unix.CAP_NET_ADMIN, unix.CAP_NET_RAW, unix.CAP_MAC_ADMIN, unix.CAP_MAC_OVERRIDE,
		unix.CAP_AUDIT_CONTROL, unix.CAP_CHECKPOINT_RESTORE, unix.CAP_LINUX_IMMUTABLE, unix.CAP_SETPCAP,
	} {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if err != nil && err != unix.EPERM && err != unix.EINVAL { // not root; not known to this kernel
			return fmt.Errorf("giving up capability %d: %w", capability, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up ambient capabilities: %w", err)
	}
	return nil
}

// refusedCalls lead around the other rules or to what belongs to the whole user or machine: calls through a ring that no
// filter sees, files by handle, the user's keys, memory and queues that processes share by number, and what only root can do, for a daemon that
// runs as root.
func refusedCalls() []string {
	return []string{
		"io_uring_setup", "io_uring_enter", "io_uring_register",
		"open_by_handle_at", "name_to_handle_at",
		"add_key", "request_key", "keyctl",
		"bpf", "perf_event_open", "userfaultfd",
		"shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink",
		"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load",
		"mount", "umount2", "pivot_root", "move_mount", "open_tree", "fsopen", "fsmount", "fsconfig", "fspick", "mount_setattr",
		"swapon", "swapoff", "reboot", "acct", "quotactl", "settimeofday", "clock_settime", "syslog",
	}
}

// filterCalls lets through the families of sockets that are listed, and refuses all others, as Landlock does not govern
// connecting to a socket in the file system. The comparison is of all 64 bits, so that none can be hidden in the upper ones.
func filterCalls(network bool) error {
	info, err := arch.GetInfo("")
	if err != nil {
		return fmt.Errorf("filtering system calls: %w", err)
	}
	group := seccomp.SyscallGroup{Action: seccomp.ActionErrno}
	for _, name := range refusedCalls() {
		if _, known := info.SyscallNames[name]; known {
			group.Names = append(group.Names, name)
		}
	}
	group.NamesWithCondtions = []seccomp.NameWithConditions{
		noneBut("prlimit64", 0, 0), // its own limits: others' could cripple this daemon
		noneBut("socketpair", 1, pairs()...),
	}
	if network {
		group.NamesWithCondtions = append(group.NamesWithCondtions, noneBut("socket", 0, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK))
	} else {
		group.Names = append(group.Names, "socket")
	}
	policy := seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{group}}
	checks, err := policy.Assemble()
	if err != nil {
		return fmt.Errorf("filtering system calls: %w", err)
	}
	// The library lets calls of another architecture through, as a 32-bit program makes them; they have other numbers.
	foreign := []bpf.Instruction{
		bpf.LoadAbsolute{Off: 4, Size: 4}, // arch in struct seccomp_data
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.ID), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(seccomp.ActionErrno) | uint32(unix.ENOSYS)},
	}
	return loadFilter(append(foreign, checks...))
}

// noneBut are the calls of a name with another argument than those that are given.
func noneBut(name string, argument uint32, values ...uint64) seccomp.NameWithConditions {
	var conditions seccomp.ArgumentConditions
	for _, value := range values {
		conditions = append(conditions, seccomp.Condition{Argument: argument, Operation: seccomp.NotEqual, Value: value})
	}
	return seccomp.NameWithConditions{Name: name, Conditions: conditions}
}

// pairs are the kinds of paired sockets that stay with each other; one for datagrams can be sent from to any other.
func pairs() (kinds []uint64) {
	for _, kind := range []uint64{unix.SOCK_STREAM, unix.SOCK_SEQPACKET} {
		kinds = append(kinds, kind, kind|unix.SOCK_CLOEXEC, kind|unix.SOCK_NONBLOCK, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
	}
	return kinds
}

// loadFilter has the kernel ask the program about each system call of this thread and what it becomes.
func loadFilter(program []bpf.Instruction) error {
	raw, err := bpf.Assemble(program)
	if err != nil {
		return fmt.Errorf("filtering system calls: %w", err)
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		filter[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up the gain of privileges: %w", err)
	}
	loaded := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&loaded)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return fmt.Errorf("filtering system calls: %w", errno)
	}
	return nil
}
