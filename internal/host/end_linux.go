package host

import (
	"syscall"
	"unsafe"
)

// The arguments of waitid(2) that package syscall does not name.
const (
	idOfProcess = 1          // P_PID
	exited      = 0x4        // WEXITED
	leaveZombie = 0x01000000 // WNOWAIT
)

// awaitEnd returns when a child of ours has ended, without reaping it, and
// true; false if the kernel does not let us.
func awaitEnd(pid int) bool {
	var info [128]byte // siginfo_t; we do not read it
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, idOfProcess, uintptr(pid),
			uintptr(unsafe.Pointer(&info)), exited|leaveZombie, 0, 0)
		if errno != syscall.EINTR {
			return errno == 0
		}
	}
}
