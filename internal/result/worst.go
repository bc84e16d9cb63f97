package result

// Moment is one of the worst seconds of a load, with what else happened in it.
// That two things fell into one second is no proof that one caused the other.
type Moment struct {
	StartUS  float64 `json:"start_us"` // from the start of the window
	LengthUS float64 `json:"length_us"`
	P99US    float64 `json:"p99_us"` // of the good answers that ended in it
	Rate     float64 `json:"rate"`   // answers per second, of any kind
	// Slow and Few say why it is listed: its p99 was high, its rate was low.
	Slow bool `json:"slow,omitempty"`
	Few  bool `json:"few,omitempty"`
	// With lists what was unusual in it, for people; empty: nothing that was
	// watched.
	With []string `json:"with,omitempty"`
}
