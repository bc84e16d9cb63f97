package evloop

import (
	"math"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stamper receives with the kernel's receive time (SO_TIMESTAMPNS). That clock
// is CLOCK_REALTIME, so its distance to ours is measured again and again:
// a step of the wall clock then spoils at most one period.
type stamper struct {
	msg     unix.Msghdr
	iov     unix.Iovec
	control [64]byte
	offset  int64 // realtime - Now
	checked int64
}

const (
	offsetPeriod = 10_000_000 // ns
	offsetSharp  = 2_000      // ns between two readings: good enough
	offsetTries  = 4
)

func newStamper() *stamper {
	s := &stamper{}
	s.msg.Iov = &s.iov
	s.msg.SetIovlen(1)
	s.msg.Control = &s.control[0]
	s.measure(Now())
	return s
}

// measure takes the wall clock between two readings of ours. The thread may be
// interrupted between them, so the narrowest pair of a few counts.
func (s *stamper) measure(before int64) {
	var ts unix.Timespec
	narrowest := int64(math.MaxInt64)
	for range offsetTries {
		_, _, _ = syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_REALTIME, uintptr(unsafe.Pointer(&ts)), 0)
		after := Now()
		if after-before < narrowest {
			narrowest = after - before
			s.offset = ts.Nano() - (before+after)/2
		}
		s.checked = after
		if narrowest < offsetSharp {
			return
		}
		before = after
	}
}

// recv returns the bytes read and the time, on our clock, at which the kernel
// received the last of them; 0 if it does not say.
func (s *stamper) recv(fd int, buf []byte) (int, int64, syscall.Errno) {
	s.iov.Base = &buf[0]
	s.iov.SetLen(len(buf))
	s.msg.SetControllen(len(s.control))
	var n uintptr
	var errno syscall.Errno
	for {
		n, _, errno = syscall.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&s.msg)), unix.MSG_DONTWAIT)
		if errno != syscall.EINTR {
			break
		}
	}
	if errno != 0 || n == 0 {
		return int(n), 0, errno
	}
	return int(n), s.time(), 0
}

func (s *stamper) time() int64 {
	now := Now()
	if now-s.checked > offsetPeriod {
		s.measure(now)
	}
	if int(s.msg.Controllen) < unix.SizeofCmsghdr+16 {
		return 0
	}
	head := (*unix.Cmsghdr)(unsafe.Pointer(&s.control[0]))
	if head.Level != unix.SOL_SOCKET || head.Type != unix.SCM_TIMESTAMPNS {
		return 0
	}
	ts := (*unix.Timespec)(unsafe.Pointer(&s.control[unix.SizeofCmsghdr]))
	at := ts.Nano() - s.offset
	if at > now || at < now-int64(MaxWait)*600 {
		return 0 // the wall clock stepped
	}
	return at
}
