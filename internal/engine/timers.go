package engine

// timer wakes a connection slot: to send after a pause or to connect again.
// The generation tells whether the slot is still in the state it was set in.
type timer struct {
	at   int64
	slot int32
	gen  uint32
}

// timers is a binary min-heap by time. container/heap would allocate on every
// push, and pushes are on the request path of users who think.
type timers []timer

func (h *timers) push(t timer) {
	s := append(*h, t)
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 2
		if s[up].at <= s[i].at {
			break
		}
		s[up], s[i] = s[i], s[up]
		i = up
	}
	*h = s
}

// pop removes the earliest timer if it is due.
func (h *timers) pop(now int64) (timer, bool) {
	s := *h
	if len(s) == 0 || s[0].at > now {
		return timer{}, false
	}
	first := s[0]
	last := len(s) - 1
	s[0] = s[last]
	s = s[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(s) {
			break
		}
		if child+1 < len(s) && s[child+1].at < s[child].at {
			child++
		}
		if s[i].at <= s[child].at {
			break
		}
		s[i], s[child] = s[child], s[i]
		i = child
	}
	*h = s
	return first, true
}

// next is the time of the earliest timer.
func (h timers) next() (int64, bool) {
	if len(h) == 0 {
		return 0, false
	}
	return h[0].at, true
}
