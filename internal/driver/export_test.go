package driver

// ParseSockets lets tests in.
func ParseSockets(text string) []int { return parseSockets(text) }

// ParseRange lets tests in.
func ParseRange(text string) (first, last int) {
	s := parseRange(text)
	return s.first, s.last
}

// Bounds of a log.
const (
	LogBytes  = logBytes
	TailBytes = tailBytes
)
