package monitor

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"prony/internal/proc"
)

// diag asks the kernel about TCP sockets (sock_diag(7)): unlike /proc/net/tcp
// it tells the limit of an accept queue, and finds the listeners without
// walking the connections.
type diag struct {
	fd  int
	buf []byte
	seq uint32
}

// Sizes of the kernel's structs (linux/inet_diag.h).
const (
	diagRequest = 56 // inet_diag_req_v2
	diagMessage = 72 // inet_diag_msg
)

func openDiag() (*diag, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf("open a socket to ask about sockets: %w", err)
	}
	// The kernel answers at once; the time is for one that does not.
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("open a socket to ask about sockets: %w", err)
	}
	return &diag{fd: fd, buf: make([]byte, 1<<16)}, nil
}

func (d *diag) close() { _ = unix.Close(d.fd) }

// TCP states of the kernel (net/tcp_states.h).
const (
	stateEstablished = 1
	stateListen      = 10
)

// listeners lists the listening sockets of both families.
func (d *diag) listeners(into *proc.Listeners) error {
	return d.both(stateListen, func(b []byte) {
		*into = append(*into, proc.Listener{
			Port:  int(binary.BigEndian.Uint16(b[4:])),
			Queue: int64(binary.NativeEndian.Uint32(b[56:])),
			Limit: int64(binary.NativeEndian.Uint32(b[60:])),
			Inode: int64(binary.NativeEndian.Uint32(b[68:])),
		})
	})
}

// established counts the connections by their local port.
func (d *diag) established() (map[int]int, error) {
	counts := map[int]int{}
	err := d.both(stateEstablished, func(b []byte) { counts[int(binary.BigEndian.Uint16(b[4:]))]++ })
	return counts, err
}

func (d *diag) both(state int, visit func([]byte)) error {
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		err := d.dump(family, state, visit)
		if family == unix.AF_INET6 && errors.Is(err, unix.ENOENT) {
			err = nil // a kernel without it
		}
		if err != nil {
			return fmt.Errorf("ask the kernel about its sockets: %w", err)
		}
	}
	return nil
}

// dump calls visit with each socket of a family in a state.
func (d *diag) dump(family byte, state int, visit func([]byte)) error {
	d.seq++
	b := make([]byte, unix.NLMSG_HDRLEN+diagRequest)
	binary.NativeEndian.PutUint32(b, uint32(len(b)))
	binary.NativeEndian.PutUint16(b[4:], unix.SOCK_DIAG_BY_FAMILY)
	binary.NativeEndian.PutUint16(b[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	binary.NativeEndian.PutUint32(b[8:], d.seq)
	b[16], b[17] = family, unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(b[20:], 1<<state)
	if err := unix.Sendto(d.fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	for {
		n, _, err := unix.Recvfrom(d.fd, d.buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		done, err := d.messages(d.buf[:n], visit)
		if done || err != nil {
			return err
		}
	}
}

var errDiag = errors.New("an answer that is cut off")

// messages walks one datagram; done says that the last message was in it.
// Answers to a question that was given up before are passed over.
func (d *diag) messages(b []byte, visit func([]byte)) (done bool, err error) {
	for len(b) >= unix.NLMSG_HDRLEN {
		length := int(binary.NativeEndian.Uint32(b))
		if length < unix.NLMSG_HDRLEN || length > len(b) {
			return false, errDiag
		}
		kind, seq, body := binary.NativeEndian.Uint16(b[4:]), binary.NativeEndian.Uint32(b[8:]), b[unix.NLMSG_HDRLEN:length]
		b = b[min(len(b), (length+3)&^3):]
		switch {
		case seq != d.seq:
		case kind == unix.NLMSG_DONE:
			return true, nil
		case kind == unix.NLMSG_ERROR && len(body) >= 4:
			if code := int32(binary.NativeEndian.Uint32(body)); code != 0 {
				return true, unix.Errno(-code)
			}
			return true, nil
		case kind == unix.SOCK_DIAG_BY_FAMILY && len(body) >= diagMessage:
			visit(body)
		}
	}
	return false, nil
}
