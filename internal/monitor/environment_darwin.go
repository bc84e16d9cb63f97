package monitor

import (
	"golang.org/x/sys/unix"

	"prony/internal/result"
)

// fillPlatform asks sysctl(3).
func fillPlatform(e *result.Environment) {
	e.Kernel, _ = unix.Sysctl("kern.osrelease")
	e.CPUModel, _ = unix.Sysctl("machdep.cpu.brand_string")
	if n, err := unix.SysctlUint64("hw.memsize"); err == nil {
		e.Memory = int64(n)
	}
}
