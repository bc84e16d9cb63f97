package testserver

import "time"

// spinTurns make a piece of work of about a microsecond.
const spinTurns = 1000

// spin works for a moment without a call that could yield.
func spin() {
	x := splitMix(1)
	for range spinTurns {
		x.next()
	}
	if x == 0 {
		panic("test server: splitMix came to zero") // never; it keeps the loop from being left out
	}
}

// burnWall works for d by the clock on the wall.
func burnWall(d time.Duration, over <-chan struct{}) bool {
	for start := time.Now(); time.Since(start) < d; {
		spin()
		if ended(over) {
			return false
		}
	}
	return true
}

func ended(over <-chan struct{}) bool {
	select {
	case <-over:
		return true
	default:
		return false
	}
}
