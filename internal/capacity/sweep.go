package capacity

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"prony/internal/stats"
)

// SweepConfig says which numbers of connections to try. The zero value is the
// default of the method, section 5.2.
type SweepConfig struct {
	// Connections in rising order. Default 1, 2, 4, … 128.
	Connections []int
	// Repeats of each number. Default 5.
	Repeats int
	// Trial and Settle as in a search. Default 10 s and 2 s.
	Trial, Settle time.Duration
	// Coarse leaves out the numbers between those around the maximum.
	Coarse bool
	// Seed of the order within repeats.
	Seed uint64
}

// Limits of a sweep: it stops when the rate is below a share of the highest at
// two numbers in a row, or too many requests fail.
const (
	sweepRepeats = 5
	fallenShare  = 0.9
	fallenInARow = 2
	errorsMost   = 0.01
)

// SweepTrial is what to run next, in the closed model.
type SweepTrial struct {
	Connections int           `json:"connections"`
	Repeat      int           `json:"repeat"` // from 0
	Settle      time.Duration `json:"settle_ns"`
	Duration    time.Duration `json:"duration_ns"`
}

// SweepOutcome is how it went.
type SweepOutcome struct {
	Rate   float64 // answers per second
	Errors float64 // share of the requests that failed, 0 to 1
	// MeanUS is the mean response time in microseconds.
	MeanUS float64
	// Invalid says why the generator was not fit; the values do not count then.
	Invalid string
}

// SweepPoint is one number of connections with its repeats.
type SweepPoint struct {
	Connections int       `json:"connections"`
	Rates       []float64 `json:"rates"`
	Median      float64   `json:"median"`
	MeanUS      float64   `json:"mean_us"` // median over the repeats
	Invalid     int       `json:"invalid,omitempty"`
	// Errors is the highest share of failed requests. A number with more than 1 %
	// is neither tried again nor the best.
	Errors float64 `json:"errors,omitempty"`
}

// SweepReport is the curve so far.
type SweepReport struct {
	Points []SweepPoint `json:"points"` // by connections
	// Best is the number with the highest median rate, Most that rate.
	Best int     `json:"best"`
	Most float64 `json:"most"`
	// Stopped says why larger numbers were not tried: "rate fell", "errors" or
	// nothing.
	Stopped string `json:"stopped,omitempty"`
	// Knee is where the asymptotes meet, two digits; 0 unless one connection was
	// measured.
	Knee float64 `json:"knee,omitempty"`
}

// Sweep finds how throughput grows with the number of connections. The first
// repeat rises, since it finds out where to stop, and goes on around its
// maximum; the others take the same numbers in an order drawn anew each time.
type Sweep struct {
	c       SweepConfig
	random  *rand.Rand
	queue   []int
	repeat  int
	rising  bool
	fallen  int
	high    float64
	stopped string
	points  map[int]*SweepPoint
	means   map[int][]float64
}

// NewSweep starts a sweep.
func NewSweep(c SweepConfig) *Sweep {
	if len(c.Connections) == 0 {
		c.Connections = []int{1, 2, 4, 8, 16, 32, 64, 128}
	}
	if c.Repeats == 0 {
		c.Repeats = sweepRepeats
	}
	if c.Trial == 0 {
		c.Trial = 10 * time.Second
	}
	if c.Settle == 0 {
		c.Settle = 2 * time.Second
	}
	return &Sweep{c: c, random: rand.New(rand.NewPCG(c.Seed, 0x5eed)), queue: slices.Clone(c.Connections), rising: true,
		points: map[int]*SweepPoint{}, means: map[int][]float64{}}
}

// Next is the trial to run; not ok when the sweep is over.
func (s *Sweep) Next() (t SweepTrial, ok bool) {
	if len(s.queue) == 0 {
		return SweepTrial{}, false
	}
	return SweepTrial{Connections: s.queue[0], Repeat: s.repeat, Settle: s.c.Settle, Duration: s.c.Trial}, true
}

// Record takes the outcome of the trial that Next gave. It fails when the sweep
// is over.
func (s *Sweep) Record(o SweepOutcome) error {
	t, ok := s.Next()
	if !ok {
		return errors.New("record a trial: the sweep is over")
	}
	n := t.Connections
	s.queue = s.queue[1:]
	s.add(n, o)
	if s.rising && s.over(o) {
		s.queue = nil
	}
	if s.rising && len(s.queue) == 0 {
		s.rising, s.queue = false, s.finer()
	}
	if len(s.queue) == 0 && s.repeat+1 < s.c.Repeats {
		s.repeat++
		s.queue = s.shuffled()
	}
	return nil
}

func (s *Sweep) add(n int, o SweepOutcome) {
	if s.points[n] == nil {
		s.points[n] = &SweepPoint{Connections: n, Rates: []float64{}}
	}
	if o.Invalid != "" {
		s.points[n].Invalid++
		return
	}
	s.points[n].Errors = max(s.points[n].Errors, o.Errors)
	s.points[n].Rates = append(s.points[n].Rates, o.Rate)
	s.means[n] = append(s.means[n], o.MeanUS)
}

// over holds an outcome of the rising repeat against the rule to stop.
func (s *Sweep) over(o SweepOutcome) bool {
	if o.Invalid != "" {
		return false
	}
	if o.Errors > errorsMost {
		s.stopped = "errors"
		return true
	}
	s.high = max(s.high, o.Rate)
	if o.Rate >= fallenShare*s.high {
		s.fallen = 0
		return false
	}
	if s.fallen++; s.fallen < fallenInARow {
		return false
	}
	s.stopped = "rate fell"
	return true
}

// finer are the numbers between the best and its neighbours.
func (s *Sweep) finer() []int {
	if s.c.Coarse {
		return nil
	}
	r := s.Report()
	i := slices.IndexFunc(r.Points, func(p SweepPoint) bool { return p.Connections == r.Best })
	var between []int
	for _, k := range []int{i - 1, i + 1} {
		if i < 0 || k < 0 || k >= len(r.Points) {
			continue
		}
		n := int(math.Round(math.Sqrt(float64(r.Best) * float64(r.Points[k].Connections))))
		if s.points[n] == nil {
			between = append(between, n)
		}
	}
	return between
}

// shuffled are all numbers in a new order.
func (s *Sweep) shuffled() []int {
	var all []int
	for _, p := range s.Report().Points {
		if p.Errors <= errorsMost {
			all = append(all, p.Connections)
		}
	}
	s.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// Report is the curve of medians so far.
func (s *Sweep) Report() SweepReport {
	r := SweepReport{Stopped: s.stopped, Points: []SweepPoint{}}
	for n, p := range s.points {
		q := *p
		q.Rates = slices.Clone(p.Rates)
		q.Median, q.MeanUS = stats.Median(p.Rates), stats.Median(s.means[n])
		r.Points = append(r.Points, q)
	}
	slices.SortFunc(r.Points, func(a, b SweepPoint) int { return a.Connections - b.Connections })
	for _, p := range r.Points {
		if p.Errors <= errorsMost && p.Median > r.Most {
			r.Best, r.Most = p.Connections, p.Median
		}
	}
	if one := s.points[1]; one != nil && len(one.Rates) > 0 {
		r.Knee = TwoDigits(Asymptote(r.Most, stats.Median(s.means[1])/1e6, 0))
	}
	return r
}
