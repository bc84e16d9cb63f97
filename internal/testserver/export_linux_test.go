//go:build amd64 || arm64

package testserver

// CountHeads counts request heads as a responder does that reads the parts one
// after the other.
func CountHeads(parts ...[]byte) int {
	var c responderConn
	heads := 0
	for _, part := range parts {
		heads += c.count(part)
	}
	return heads
}
