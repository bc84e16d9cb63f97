package plan

import "errors"

// Expectation is a goal such as "p99 < 50ms", parsed.
type Expectation struct {
	Text   string `json:"text"`
	Metric string `json:"metric"` // "p99", "errors", "rate", "mean", "max", …
	// Of names the histogram of a latency metric: "response" (default),
	// "service", "lag".
	Of string `json:"of,omitempty"`
	Op string `json:"op"` // "<", "<=", ">", ">=", "=="
	// Value in the metric's base unit: nanoseconds, ratio, per second, count.
	Value float64 `json:"value"`
}

// ParseExpectation reads a goal such as "p99 < 50ms".
func ParseExpectation(s string) (Expectation, error) {
	return Expectation{}, errors.New("expectation: empty")
}
