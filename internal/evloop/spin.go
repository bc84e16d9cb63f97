package evloop

// spinner decides whether to poll before blocking. Polling costs CPU for as
// long as it lasts, so it pays only while answers come sooner than a sleep and
// a wake-up would cost; after a few polls in vain it is given up for a while.
// On a core shared with the server every poll is in vain, since the server
// cannot run meanwhile: there it switches itself off.
type spinner struct {
	budget int64 // ns; 0: never
	misses int
	pause  int
	used   bool
}

const (
	spinMisses = 4
	spinPause  = 256
)

// start returns how long to poll now.
func (s *spinner) start() int64 {
	if s.budget == 0 {
		return 0
	}
	if s.pause > 0 {
		s.pause--
		return 0
	}
	return s.budget
}

// done records whether the poll found something.
func (s *spinner) done(hit bool) {
	if hit {
		s.misses, s.used = 0, true
		return
	}
	if s.misses++; s.misses >= spinMisses {
		s.misses, s.pause = 0, spinPause
	}
}
