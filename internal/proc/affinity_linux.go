package proc

import (
	"math/bits"
	"syscall"
	"unsafe"
)

// cpusMax is the most cores that a mask can name here; the kernel's largest
// configuration has 8,192.
const cpusMax = 16384

// Affinity counts the cores that the calling thread may run on
// (sched_getaffinity(2)), and reports whether the kernel said so. It is not
// limited by a quota: see the cgroup.
func Affinity() (cpus int, ok bool) {
	var mask [cpusMax / bits.UintSize]uint
	bytes, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask[0])))
	if errno != 0 || bytes == 0 {
		return 0, false
	}
	for _, word := range mask {
		cpus += bits.OnesCount(word)
	}
	return cpus, true
}
