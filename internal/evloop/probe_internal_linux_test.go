package evloop

import (
	"runtime"
	"sync"
	"testing"
)

// The probe must say the same whatever the scheduler does with its goroutine: a
// ring belongs to one thread.
func TestProbeIsSteady(t *testing.T) {
	want := tryRing() == nil
	stop := make(chan struct{})
	var busy sync.WaitGroup
	for range 4 {
		busy.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					runtime.Gosched()
				}
			}
		})
	}
	defer busy.Wait()
	defer close(stop)
	for i := range 100 {
		if err := tryRing(); (err == nil) != want {
			t.Fatalf("probe %d: got %v, while the first one's success was %v", i, err, want)
		}
	}
}

// The offset between the clocks carries every kernel timestamp.
func TestStamperOffset(t *testing.T) {
	s := newStamper()
	first := s.offset
	for range 1000 {
		s.measure(Now())
		if d := s.offset - first; d > 1e6 || d < -1e6 {
			t.Fatalf("the offset of the clocks moved by %d ns", d)
		}
	}
	if wall := Wall(s.checked).UnixNano() - (s.checked + s.offset); wall > 50e6 || wall < -50e6 {
		t.Errorf("the offset is %d ns away from the wall clock", wall)
	}
}
