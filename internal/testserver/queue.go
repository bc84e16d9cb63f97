package testserver

import (
	"math"
	"time"
)

// FIFO computes when requests leave a single server that serves them first
// come, first served (Lindley's recursion): a request starts when it has
// arrived and its predecessor has left, and leaves a service time later. It
// reads no clock; [Server] drives one, and a simulation can.
type FIFO struct {
	exponential bool
	service     float64 // mean, ns
	random      splitMix
	free        float64 // when the server is free again, ns
}

// NewFIFO returns an idle queue. The service times are the same each time for
// the same q: with Exponential, number i is -ln(1-u_i)/Rate, u_i being the top
// 53 bits of the i-th output of SplitMix64(Seed). It panics if the rate is not
// positive.
func NewFIFO(q Queue) *FIFO {
	if !(q.Rate > 0) {
		panic("test server: queue rate is not positive")
	}
	return &FIFO{exponential: q.Exponential, service: 1e9 / q.Rate, random: splitMix(q.Seed)}
}

// Depart returns the departure of a request that arrives at the given time.
// Arrivals must not go back in time.
func (f *FIFO) Depart(arrival time.Duration) time.Duration {
	service := f.service
	if f.exponential {
		service *= -math.Log1p(-f.random.uniform())
	}
	f.free = max(f.free, float64(arrival)) + service
	return time.Duration(math.Round(f.free))
}

// splitMix is the SplitMix64 generator (Steele, Lea and Flood, OOPSLA 2014);
// the value is its state.
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uniform returns a number in [0, 1).
func (s *splitMix) uniform() float64 { return float64(s.next()>>11) * 0x1p-53 }

// errorPlan decides which requests of the default path fail.
type errorPlan struct {
	share  float64
	seeded bool
	random splitMix
}

func newErrorPlan(share float64, seed uint64) *errorPlan {
	return &errorPlan{share: share, seeded: seed != 0, random: splitMix(seed)}
}

// fails tells whether request number k, from 1, fails. Without a seed exactly
// floor(n·share) of the first n requests do.
func (p *errorPlan) fails(k int64) bool {
	if p.seeded {
		return p.random.uniform() < p.share
	}
	const rounding = 1e-9 // 0.29·100 is a little less than 29
	upTo := func(n int64) float64 { return math.Floor(float64(n)*p.share + rounding) }
	return upTo(k) > upTo(k-1)
}

// arrival is what the server decides about a request when its last byte has
// come.
type arrival struct {
	real   time.Duration // since the server's start
	at     time.Duration // the same on the clock that stands still in a freeze
	depart time.Duration // server time at which the answer is due
	fails  bool          // the default path answers with the error
}

// arrive stamps a request. Only those of the default path enter the queue.
func (s *Server) arrive(ordinary bool) arrival {
	s.line.Lock()
	defer s.line.Unlock()
	s.seen++
	if stall := s.config.Stall; stall.For > 0 && s.seen == max(1, stall.AtRequest) {
		s.clock.plan(stall.After, stall.For)
	}
	a := arrival{real: s.clock.real(), at: s.clock.now()}
	a.depart = a.at
	if !ordinary {
		return a
	}
	s.served++
	a.fails = s.errors.fails(s.served)
	switch {
	case s.queue != nil:
		a.depart = s.queue.Depart(a.at)
	case a.fails:
		a.depart += s.config.ErrorDelay
	default:
		a.depart += s.config.Delay
	}
	return a
}
