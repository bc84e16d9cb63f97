package result

import (
	"encoding/json"
	"math"
)

// Kinds of things that are watched.
const (
	OfHost      = "host"      // a whole machine
	OfInterface = "interface" // a network interface of a host
	OfGenerator = "generator" // the process that makes the load
	OfService   = "service"   // the process tree and the cgroup of an instance
	OfThread    = "thread"    // the threads of one name of an instance
	OfJVM       = "jvm"       // the virtual machine of an instance
	OfPool      = "pool"      // the threads of a pool of a virtual machine
	OfServer    = "server"    // what a web server counts of itself
	OfExported  = "exported"  // metrics of an endpoint that a service names
)

// Observed is one thing that was watched through a trial: its series, all with
// the same times. Counters of the system have become rates; see [Metric].
type Observed struct {
	Kind string `json:"kind"`
	// Name is the host's ("" is this one), the service's, or that of a part of
	// it: the interface, the threads' common name.
	Name     string `json:"name"`
	Service  string `json:"service,omitempty"` // that it belongs to
	Instance int    `json:"instance,omitempty"`
	Host     string `json:"host,omitempty"` // it runs on; "" is this machine
	// Facts do not change: limits, versions, speed of the link.
	Facts map[string]string `json:"facts,omitempty"`
	// AtUS is the end of each sample, microseconds from the start of the load's
	// window; negative before it. LengthUS is how long each sample is.
	AtUS     []float64 `json:"at_us"`
	LengthUS []float64 `json:"length_us"`
	// Series has a value for each sample; NaN where it was not known.
	Series map[Metric]Values `json:"series"`
	// Totals are what was counted from the window's start to its end.
	Totals map[Metric]float64 `json:"totals,omitempty"`
	// Unknown says why figures are missing that one would expect.
	Unknown map[string]string `json:"unknown,omitempty"`
}

// Values is a series. NaN is null in JSON.
type Values []float64

// MarshalJSON writes numbers with four significant digits: more would be noise.
func (v Values) MarshalJSON() ([]byte, error) {
	short := make([]*float64, len(v))
	for i, x := range v {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			y := fourDigits(x)
			short[i] = &y
		}
	}
	return json.Marshal(short)
}

func fourDigits(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(x))))
	if math.IsInf(scale, 0) || scale == 0 {
		return x
	}
	return math.Round(x*scale) / scale
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Values) UnmarshalJSON(b []byte) error {
	var short []*float64
	if err := json.Unmarshal(b, &short); err != nil {
		return err
	}
	*v = make(Values, len(short))
	for i, x := range short {
		(*v)[i] = math.NaN()
		if x != nil {
			(*v)[i] = *x
		}
	}
	return nil
}

// Window returns the samples of a metric that lie inside the measured window of
// the given length (microseconds), without those that are not known.
func (o *Observed) Window(m Metric, windowUS float64) Values {
	var in Values
	for i, x := range o.Series[m] {
		if i >= len(o.AtUS) || math.IsNaN(x) {
			continue
		}
		// A sample counts where most of it lies.
		middle := o.AtUS[i] - o.LengthUS[i]/2
		if middle >= 0 && middle <= windowUS {
			in = append(in, x)
		}
	}
	return in
}

// Has reports whether a metric was ever known.
func (o *Observed) Has(m Metric) bool {
	for _, x := range o.Series[m] {
		if !math.IsNaN(x) {
			return true
		}
	}
	return false
}

// Mean is the mean of the values; NaN of none.
func (v Values) Mean() float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// Max is the largest value; NaN of none.
func (v Values) Max() float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	most := v[0]
	for _, x := range v {
		most = max(most, x)
	}
	return most
}

// Share is how many of the values, 0 to 1, are at least the limit; NaN of none.
func (v Values) Share(limit float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	n := 0
	for _, x := range v {
		if x >= limit {
			n++
		}
	}
	return float64(n) / float64(len(v))
}
