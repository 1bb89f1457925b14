package exec

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// family is a shell and all that it started, in a Job Object. The goroutine of Run alone calls its methods, but for
// await.
type family struct {
	job   windows.Handle
	proc  *os.Process
	state *os.ProcessState

	shellGone bool
	left      int // processes that outlived the shell and were ended
}

// newFamily starts the shell of c suspended, puts it into a job that dies with this process, and lets it go: nothing
// that it starts is ever outside of the job.
func newFamily(c *Command, out *os.File) (_ *family, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	dir, release, err := c.enter()
	if err != nil {
		return nil, err
	}
	defer release()
	if c.Confine != nil {
		_, err := Confinement()
		return nil, err
	}
	argv := c.Shell.words(c.Text)
	proc, err := os.StartProcess(argv[0], argv, &os.ProcAttr{
		Dir:   dir,
		Env:   commandEnv(c.Env, c.Dir),
		Files: []*os.File{null, out, out},
		Sys: &syscall.SysProcAttr{
			HideWindow:    true,
			CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED,
		},
	})
	if err != nil {
		return nil, err
	}
	return confine(proc)
}

// confine puts a suspended process into a job of its own and lets it go, or ends it.
func confine(proc *os.Process) (_ *family, err error) {
	job, err := newJob()
	if err != nil {
		_ = proc.Kill()
		_, _ = proc.Wait()
		return nil, err
	}
	var assigned error
	err = proc.WithHandle(func(handle uintptr) {
		assigned = windows.AssignProcessToJobObject(job, windows.Handle(handle))
	})
	if err = errors.Join(err, assigned); err == nil {
		err = resume(uint32(proc.Pid))
	}
	if err != nil {
		_ = proc.Kill()
		_, _ = proc.Wait()
		windows.CloseHandle(job)
		return nil, fmt.Errorf("putting the command into a job: %w", err)
	}
	return &family{job: job, proc: proc}, nil
}

// newJob makes a job whose processes end when its last handle is closed, also when we crash.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("creating a job: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE |
		windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, fmt.Errorf("setting up a job: %w", err)
	}
	return job, nil
}

// resume lets the threads of a process go that was created suspended.
func resume(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("listing threads: %w", err)
	}
	defer windows.CloseHandle(snapshot)
	entry := windows.ThreadEntry32{}
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return fmt.Errorf("opening the main thread: %w", err)
		}
		_, err = windows.ResumeThread(thread)
		windows.CloseHandle(thread)
		if err != nil {
			return fmt.Errorf("resuming the main thread: %w", err)
		}
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return fmt.Errorf("listing threads: %w", err)
	}
	return nil
}

func (f *family) await() { f.state, _ = f.proc.Wait() }

func (f *family) shellEnded() { f.shellGone = true }

// terminate is what Ctrl-Break is in a console: programs may tidy up. Without a console nobody hears it.
func (f *family) terminate() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(f.proc.Pid))
}

func (f *family) kill() {
	if f.shellGone {
		f.left = max(f.left, f.others())
	}
	_ = windows.TerminateJobObject(f.job, 1)
}

// others counts the living processes of the job; the shell is among them while it lives.
func (f *family) others() int {
	var info struct {
		totalUserTime, totalKernelTime, periodUserTime, periodKernelTime      int64
		pageFaults, totalProcesses, activeProcesses, totalTerminatedProcesses uint32
	}
	err := windows.QueryInformationJobObject(f.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	if err != nil {
		return 0
	}
	return int(info.activeProcesses)
}

func (f *family) release() (left, survivors int) {
	survivors = f.others()
	windows.CloseHandle(f.job)
	return f.left, survivors
}

// exit is the shell's exit code; nothing ends by a signal here.
func (f *family) exit() (code int, signal string) {
	if f.state == nil {
		return -1, ""
	}
	return f.state.ExitCode(), ""
}

func (f *family) tidy() {} // nothing was there for it alone

// tooLong tells whether err means that text and environment are larger than the system can start.
func tooLong(err error) bool { return errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE) }
