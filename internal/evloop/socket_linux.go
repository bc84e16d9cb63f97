package evloop

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// raw is a socket address as the kernel reads it.
type raw struct {
	data   [112]byte
	len    uint32
	family int32
}

// sockaddr returns the kernel's form of a, made once. Workers share addresses,
// so that two may make it at the same time; they make the same.
func (a *Address) sockaddr() *raw {
	if r := a.raw.Load(); r != nil {
		return r
	}
	r := encode(a)
	a.raw.Store(r)
	return r
}

func encode(a *Address) *raw {
	r := new(raw)
	ip := a.TCP.Addr().Unmap()
	switch {
	case a.Unix != "":
		r.family = unix.AF_UNIX
		n := copy(r.data[2:110], a.Unix)
		r.len = uint32(2 + n + 1)
		if a.Unix[0] == '@' { // abstract name
			r.data[2] = 0
			r.len = uint32(2 + n)
		}
	case ip.Is4():
		r.family, r.len = unix.AF_INET, 16
		b := ip.As4()
		copy(r.data[4:], b[:])
	default:
		r.family, r.len = unix.AF_INET6, 28
		b := ip.As16()
		copy(r.data[8:], b[:])
		binary.NativeEndian.PutUint32(r.data[24:], zone(ip.Zone()))
	}
	binary.NativeEndian.PutUint16(r.data[0:], uint16(r.family))
	if a.Unix == "" {
		binary.BigEndian.PutUint16(r.data[2:], a.TCP.Port())
	}
	return r
}

// socket makes a nonblocking socket towards to, bound to from if given. The
// calls are raw: in a connection-per-request load they are the request path.
func socket(to, from *Address, timestamps bool) (int, error) {
	sa := to.sockaddr()
	fd, _, errno := syscall.RawSyscall(unix.SYS_SOCKET, uintptr(sa.family), unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if errno != 0 {
		return -1, errno
	}
	if sa.family != unix.AF_UNIX {
		setInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	if timestamps {
		setInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	}
	if from != nil {
		if errno := bind(int(fd), from); errno != 0 {
			closeRaw(int(fd))
			return -1, errno
		}
	}
	return int(fd), nil
}

// bind takes a source address without reserving a port before connect, so
// that the port range counts per destination (IP_BIND_ADDRESS_NO_PORT).
func bind(fd int, from *Address) syscall.Errno {
	if from.Unix == "" {
		setInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
	}
	sa := from.sockaddr()
	_, _, errno := syscall.RawSyscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&sa.data)), uintptr(sa.len))
	return errno
}

func connect(fd int, to *Address) syscall.Errno {
	sa := to.sockaddr()
	_, _, errno := syscall.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&sa.data)), uintptr(sa.len))
	return errno
}

// mayMeetItself reports whether a socket that connects to a could end up
// connected to itself: TCP allows that on a port of this machine that nobody
// listens on, if the kernel chooses the same port for the connecting side.
func (a *Address) mayMeetItself() bool {
	return a.Unix == "" && a.IsLoopback() && a.TCP.Port() >= lowestPort()
}

// lowestPort is the first of the ports that the kernel chooses from.
var lowestPort = sync.OnceValue(func() uint16 {
	const usual = 32768
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return usual
	}
	var low uint16
	if _, err := fmt.Sscan(string(b), &low); err != nil {
		return usual
	}
	return low
})

// metItself reports whether both ends of a connection are the same socket.
func metItself(fd int) bool {
	mine, err1 := socketName(unix.SYS_GETSOCKNAME, fd)
	peer, err2 := socketName(unix.SYS_GETPEERNAME, fd)
	return err1 == 0 && err2 == 0 && mine == peer
}

func socketName(call uintptr, fd int) (name [112]byte, errno syscall.Errno) {
	size := uint32(len(name))
	_, _, errno = syscall.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(&name)), uintptr(unsafe.Pointer(&size)))
	return name, errno
}

func setInt(fd, level, name int, value int32) {
	_, _, _ = syscall.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), uintptr(level), uintptr(name),
		uintptr(unsafe.Pointer(&value)), 4, 0)
}

// socketError reads and clears the socket's pending error.
func socketError(fd int) syscall.Errno {
	var value, size int32 = 0, 4
	_, _, errno := syscall.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_ERROR,
		uintptr(unsafe.Pointer(&value)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return errno
	}
	return syscall.Errno(value)
}

func closeRaw(fd int) {
	_, _, _ = syscall.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
}

func shutdownRaw(fd int) {
	_, _, _ = syscall.RawSyscall(unix.SYS_SHUTDOWN, uintptr(fd), unix.SHUT_RDWR, 0)
}

// sharpTimers sets the calling thread's timer slack to one nanosecond; the
// default of 50 us would be added to every timed wait.
func sharpTimers() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }
