//go:build unix

package testserver

import (
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// listenBacklog listens with an accept queue of the given length, which
// package net does not let one choose.
func listenBacklog(network, address string, backlog int) (net.Listener, error) {
	domain, sa, err := sockaddr(network, address)
	if err != nil {
		return nil, err
	}
	// The lock keeps a concurrent fork from inheriting the descriptor.
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(domain, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	file := os.NewFile(uintptr(fd), "listener") // FileListener makes its own copy
	defer file.Close()
	if domain != unix.AF_UNIX {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
			return nil, os.NewSyscallError("setsockopt", err)
		}
	}
	if err := unix.Bind(fd, sa); err != nil {
		return nil, os.NewSyscallError("bind", err)
	}
	if err := unix.Listen(fd, backlog); err != nil {
		return nil, os.NewSyscallError("listen", err)
	}
	ln, err := net.FileListener(file)
	if u, ok := ln.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(true) // not the default for a listener made from a file
	}
	return ln, err
}

// sockaddr resolves address for a raw socket.
func sockaddr(network, address string) (int, unix.Sockaddr, error) {
	if network == "unix" {
		return unix.AF_UNIX, &unix.SockaddrUnix{Name: address}, nil
	}
	tcp, err := net.ResolveTCPAddr(network, address)
	if err != nil {
		return 0, nil, fmt.Errorf("resolve: %w", err)
	}
	addr := tcp.AddrPort().Addr().Unmap()
	switch {
	case addr.Is4():
		return unix.AF_INET, &unix.SockaddrInet4{Port: tcp.Port, Addr: addr.As4()}, nil
	case !addr.IsValid() && network == "tcp4":
		return unix.AF_INET, &unix.SockaddrInet4{Port: tcp.Port}, nil
	case !addr.IsValid():
		return unix.AF_INET6, &unix.SockaddrInet6{Port: tcp.Port}, nil
	case addr.Zone() != "":
		return 0, nil, fmt.Errorf("address %s: zones are not supported with a backlog", address)
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: tcp.Port, Addr: addr.As16()}, nil
}
