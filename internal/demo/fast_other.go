//go:build !linux || !(amd64 || arm64)

package demo

import "prony/internal/testserver"

// Fast starts the plain server: the fast one needs Linux.
func Fast(addr string, threads, bodySize int) (Target, error) {
	procsFor(threads)
	return Known(testserver.Config{Address: addr, BodySize: bodySize})
}
