//go:build amd64 || arm64

package testserver

import "time"

// held is a batch of requests of one connection that waits for its time.
type held struct {
	fd    int
	life  uint32
	heads int
	since time.Duration // read then, since the thread's start
}

// holdQueue is a ring of batches. All are held equally long, so the oldest is
// always the next.
type holdQueue struct {
	ring        []held // length a power of two
	first, last uint   // positions ever taken and put
}

func (q *holdQueue) push(h held) {
	if q.last-q.first == uint(len(q.ring)) {
		q.grow()
	}
	q.ring[q.last&uint(len(q.ring)-1)] = h
	q.last++
}

func (q *holdQueue) grow() {
	bigger := make([]held, max(64, 2*len(q.ring)))
	n := q.last - q.first
	for i := range n {
		bigger[i] = q.ring[(q.first+i)&uint(len(q.ring)-1)]
	}
	q.ring, q.first, q.last = bigger, 0, n
}

// oldest returns the batch that is next, and false if there is none. It stays
// valid until the next push.
func (q *holdQueue) oldest() (*held, bool) {
	if q.first == q.last {
		return nil, false
	}
	return &q.ring[q.first&uint(len(q.ring)-1)], true
}

// maxHeld bounds the log of hold times of a thread.
const maxHeld = 1 << 20

// releaseDue sends the answers whose time has come.
func (t *responderThread) releaseDue() {
	for {
		h, ok := t.waiting.oldest()
		if !ok {
			return
		}
		so := time.Since(t.start) - h.since
		if so < t.hold {
			return
		}
		t.waiting.first++
		c := &t.conns[h.fd]
		if !c.open || c.life != h.life {
			continue
		}
		if len(t.held) < maxHeld {
			t.held = append(t.held, so)
		}
		c.owed += h.heads * t.one
		if !c.blocked {
			t.send(h.fd, c)
		}
	}
}
