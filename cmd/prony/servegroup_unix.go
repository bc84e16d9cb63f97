//go:build unix

package main

import "syscall"

// ownGroup keeps the terminal's Ctrl-C from a process: the server passes it on,
// and a second one would kill.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// closeOnExec keeps a descriptor from the programs that this one starts.
func closeOnExec(fd uintptr) { syscall.CloseOnExec(int(fd)) }
