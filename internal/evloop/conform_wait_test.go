package evloop_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"prony/internal/evloop"
)

func waitRules() []rule {
	return []rule{
		{"wait until", "Wait with nothing to tell returns at about the time asked for", waitUntil},
		{"wait 0", "Wait(0) and Wait with a time that has passed do not block, but tell what is there", waitZero},
		{"wait forever", "Wait(Forever) returns after MaxWait at the latest, and at once when something comes", waitForever},
		{"gather", "gathering completions delays them by at most the time given, and loses none", gathers},
		{"spin", "Options.Spin changes nothing but the CPU time", spins},
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// measure returns how long a call takes, as a median.
func measure(n int, f func()) time.Duration {
	var took []time.Duration
	for range n {
		began := time.Now()
		f()
		took = append(took, time.Since(began))
	}
	return median(took)
}

// prompt is what an answer on loopback stays below, noise included, and a wait
// that only the runtime's signals end (after 20 ms) does not.
const prompt = 10 * time.Millisecond

// quiet skips a test of times on a machine too busy for it.
func quiet(t *testing.T) {
	t.Helper()
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("a raw wait keeps the only processor from the peers' goroutines")
	}
	if late := measure(20, func() { <-time.After(time.Millisecond) }) - time.Millisecond; late > time.Millisecond {
		t.Skipf("this machine's timers are %v late: too noisy", late)
	}
}

func waitUntil(t *testing.T, kind evloop.Kind) {
	quiet(t)
	r := newRig(t, kind, evloop.Options{})
	for _, d := range []time.Duration{300 * time.Microsecond, 2 * time.Millisecond} {
		got := measure(50, func() { r.wait(d) })
		if got < d-d/10 || got > d+time.Millisecond {
			t.Errorf("a wait of %v takes %v (median of 50)", d, got)
		}
	}
}

func waitZero(t *testing.T, kind evloop.Kind) {
	r := newRig(t, kind, evloop.Options{})
	peer := crowd(t, r, 1)[0]
	for _, until := range []int64{0, r.loop.Now() - 1} {
		got := measure(50, func() {
			if err := r.loop.Wait(until); err != nil {
				t.Fatal(err)
			}
		})
		if got > 5*time.Millisecond {
			t.Errorf("Wait(%d) takes %v (median of 50)", until, got)
		}
	}
	if _, err := peer.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(patience)
	for len(r.slots[0].data) == 0 && time.Now().Before(end) {
		if err := r.loop.Wait(0); err != nil {
			t.Fatal(err)
		}
	}
	wantBytes(t, "received", r.slots[0].data, []byte("x"))
}

func waitForever(t *testing.T, kind evloop.Kind) {
	quiet(t)
	r := newRig(t, kind, evloop.Options{})
	got := measure(3, func() {
		if err := r.loop.Wait(evloop.Forever); err != nil {
			t.Fatal(err)
		}
	})
	// The runtime's signals may end a wait early: there is no lower bound but
	// that it waits at all.
	if got < time.Millisecond || got > 2*evloop.MaxWait {
		t.Errorf("an empty Wait(Forever) takes %v, want up to %v", got, evloop.MaxWait)
	}
	if got := r.rounds(21, serve(t, echo)); got > prompt {
		t.Errorf("Wait(Forever) with an answer coming takes %v", got)
	}
}

// rounds exchanges a byte n times with Wait(Forever) and returns the median
// time of a round.
func (r *rig) rounds(n int, to *evloop.Address) time.Duration {
	r.t.Helper()
	r.openAll(1, to)
	p, s := []byte("x"), &r.slots[0]
	got := measure(n, func() {
		s.data = s.data[:0]
		r.send(0, p)
		for end := time.Now().Add(patience); len(s.data) == 0 && time.Now().Before(end); {
			if err := r.loop.Wait(evloop.Forever); err != nil {
				r.t.Fatal(err)
			}
		}
		if len(s.data) != 1 || s.sending {
			r.t.Fatalf("round of one byte: %d came back, send under way: %v", len(s.data), s.sending)
		}
	})
	r.close(0)
	return got
}

func gathers(t *testing.T, kind evloop.Kind) {
	const n = 64
	quiet(t)
	to := serve(t, echo)
	r := newRig(t, kind, evloop.Options{Slots: n})
	g, ok := r.loop.(evloop.Gatherer)
	if !ok {
		t.Skip("this loop does not gather")
	}
	for _, c := range []struct {
		wait time.Duration
		most int
	}{{2 * time.Millisecond, 32}, {500 * time.Nanosecond, 32}, {time.Millisecond, 0}, {time.Millisecond, 1 << 20}, {0, 0}} {
		g.Gather(c.wait, c.most)
		// A lone answer must not wait for others that never come.
		if got := r.rounds(11, to); got > c.wait+prompt {
			t.Errorf("gather %v, %d: a lone round takes %v", c.wait, c.most, got)
		}
		r.echoAll(n, 20, to)
		if got := measure(11, func() { _ = r.loop.Wait(0) }); got > 5*time.Millisecond {
			t.Errorf("gather %v, %d: Wait(0) takes %v", c.wait, c.most, got)
		}
	}
}

// echoAll keeps n connections busy for so many rounds each.
func (r *rig) echoAll(n, rounds int, to *evloop.Address) {
	r.t.Helper()
	r.openAll(n, to)
	p := pattern(rounds, 10)
	r.on.data = func(slot int32, _ []byte, _ int64) {
		if s := &r.slots[slot]; len(s.data) < rounds {
			r.send(slot, p[len(s.data):len(s.data)+1])
		}
	}
	for i := range n {
		r.send(int32(i), p[:1])
	}
	r.pump("all rounds", func() bool { return r.all(n, func(s *seen) bool { return len(s.data) >= rounds }) })
	r.on = hooks{}
	for i := range n {
		wantBytes(r.t, "echo", r.slots[i].data, p)
		r.close(int32(i))
	}
}

func spins(t *testing.T, kind evloop.Kind) {
	to := serve(t, echo)
	r := newRig(t, kind, evloop.Options{Slots: 4, Spin: 200 * time.Microsecond})
	r.echoAll(1, 500, to)
	r.echoAll(4, 100, to)
	if got := measure(11, func() { _ = r.loop.Wait(0) }); got > 5*time.Millisecond {
		t.Errorf("Wait(0) takes %v", got)
	}
}
