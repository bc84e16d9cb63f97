//go:build !linux

package evloop

// raw is unused here: only the Linux loops speak to the kernel themselves.
type raw struct{}
