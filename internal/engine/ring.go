package engine

// ring is a first-in first-out queue that reuses its memory.
type ring[T any] struct {
	items []T
	head  int
	n     int
}

func (r *ring[T]) len() int { return r.n }

func (r *ring[T]) push(v T) {
	if r.n == len(r.items) {
		r.grow()
	}
	r.items[(r.head+r.n)&(len(r.items)-1)] = v
	r.n++
}

// grow doubles the ring; its size is a power of two.
func (r *ring[T]) grow() {
	bigger := make([]T, max(2*len(r.items), 8))
	for i := range r.n {
		bigger[i] = r.items[(r.head+i)&(len(r.items)-1)]
	}
	r.items, r.head = bigger, 0
}

// front is the oldest item; the ring must not be empty.
func (r *ring[T]) front() *T { return &r.items[r.head] }

func (r *ring[T]) pop() T {
	v := r.items[r.head]
	r.head = (r.head + 1) & (len(r.items) - 1)
	r.n--
	return v
}
