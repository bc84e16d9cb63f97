package engine

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"prony/internal/schedule"
)

// simQuery is a request at the simulated server.
type simQuery struct {
	number  int64 // of all requests, from 0
	at      int64 // since the start of the load
	slot    int32
	connect int64 // the number of its connection's connect, from 0
	onConn  int64 // its place on the connection, from 0
	bytes   []byte
}

// simFate is what becomes of a request. The zero fate is the usual answer.
type simFate struct {
	answer []byte        // nil: 200, or nothing if the connection ends
	extra  time.Duration // on top of the service
	silent bool
	end    error // closes the connection, after the answer if there is one
}

// simServer is a queue, first come first served, in front of equal servers.
type simServer struct {
	// service draws a service time in nanoseconds; nil: none, and no queue.
	service func() float64
	servers []float64 // when each becomes free; empty: one
	// The server freezes once: what it serves stops, and goes on afterwards.
	freezeAt, freezeFor float64
	// fate decides over each request; nil: all get the usual answer.
	fate func(q simQuery) simFate

	leaves []int64 // departures since the start, when trace is set
	trace  bool
}

// simOK is the usual answer.
var simOK = simAnswer(200, "ok")

// simAnswer is a whole answer on a connection that stays open.
func simAnswer(status int, body string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

// serve tells in what time a request is answered, and how.
func (s *simServer) serve(q simQuery) (int64, simFate) {
	var fate simFate
	if s.fate != nil {
		fate = s.fate(q)
	}
	if fate.silent {
		return 0, fate
	}
	if fate.answer == nil && fate.end == nil {
		fate.answer = simOK
	}
	leave := q.at + int64(fate.extra)
	if s.service != nil {
		leave = int64(math.Round(s.depart(float64(q.at)))) + int64(fate.extra)
	}
	if s.trace {
		s.leaves = append(s.leaves, leave)
	}
	return leave - q.at, fate
}

// depart is Lindley's recursion for the server that becomes free first.
func (s *simServer) depart(at float64) float64 {
	if len(s.servers) == 0 {
		s.servers = []float64{0}
	}
	free := 0
	for i, t := range s.servers {
		if t < s.servers[free] {
			free = i
		}
	}
	begin := max(at, s.servers[free])
	if begin >= s.freezeAt && begin < s.freezeAt+s.freezeFor {
		begin = s.freezeAt + s.freezeFor
	}
	end := begin + s.service()
	if begin < s.freezeAt && end > s.freezeAt {
		end += s.freezeFor
	}
	s.servers[free] = end
	return end
}

// fixed is a constant service time.
func fixed(d time.Duration) func() float64 { return func() float64 { return float64(d) } }

// exponential draws service times with the mean 1/rate from a seed.
func exponential(seed uint64, rate float64) func() float64 {
	r := schedule.SplitMix64(seed)
	return func() float64 { return r.Exp() * 1e9 / rate }
}

func TestSimEventsAreOrdered(t *testing.T) {
	r := schedule.SplitMix64(7)
	var h simEvents
	var want []uint64
	for i := range uint64(2000) {
		at := int64(r.Uint64n(200))
		h.push(simEvent{at: at, order: i})
		want = append(want, uint64(at)<<32|i)
	}
	slices.Sort(want)
	for i := range want {
		if _, ok := h.pop(int64(want[i]>>32) - 1); ok {
			t.Fatalf("event %d came before its time", i)
		}
		e, ok := h.pop(int64(want[i] >> 32))
		if got := uint64(e.at)<<32 | e.order; !ok || got != want[i] {
			t.Fatalf("event %d: got %x, %v, want %x", i, got, ok, want[i])
		}
	}
	if _, ok := h.pop(math.MaxInt64); ok {
		t.Error("more events than were pushed")
	}
}

func TestSimServerFreezes(t *testing.T) {
	tests := []struct {
		name    string
		servers int
		arrive  []float64
		want    []float64
	}{
		{"before", 1, []float64{0, 1}, []float64{4, 8}},
		{"in service", 1, []float64{7}, []float64{21}},
		{"ends as it freezes", 1, []float64{6}, []float64{10}},
		{"during", 1, []float64{12, 13}, []float64{24, 28}},
		{"two servers", 2, []float64{7, 8, 9}, []float64{21, 22, 25}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := simServer{service: fixed(4), freezeAt: 10, freezeFor: 10, servers: make([]float64, tt.servers)}
			for i, at := range tt.arrive {
				if got := s.depart(at); got != tt.want[i] {
					t.Errorf("request at %v left at %v, want %v", at, got, tt.want[i])
				}
			}
		})
	}
}
