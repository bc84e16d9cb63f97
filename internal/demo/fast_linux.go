//go:build linux && (amd64 || arm64)

package demo

import (
	"fmt"

	"prony/internal/testserver"
)

// Fast starts the server that answers every request at once with bodySize
// bytes.
func Fast(addr string, threads, bodySize int) (Target, error) {
	procsFor(threads)
	s, err := testserver.StartResponder(testserver.ResponderConfig{Address: addr, Threads: threads, BodySize: bodySize})
	if err != nil {
		return nil, fmt.Errorf("start target: %w", err)
	}
	return s, nil
}
