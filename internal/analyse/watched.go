package analyse

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"prony/internal/plan"
	"prony/internal/result"
)

// unwatched is why the rules about targets, hosts and the path did not run when
// nothing looked at any of them.
const unwatched = "nothing watched them"

// here is how this machine is called.
const here = "this machine"

// things are the watched things of a kind, in the order of the result.
func (v view) things(kind string) []*result.Observed {
	var all []*result.Observed
	for i := range v.r.Observed {
		if v.r.Observed[i].Kind == kind {
			all = append(all, &v.r.Observed[i])
		}
	}
	return all
}

// in are the known values of a metric inside the window, to be read only. It is
// [result.Observed.Window] without a copy where all are known, since many rules
// look at an hour of ten services; and a value without a time, which a damaged
// file may hold, is not known.
func (v view) in(o *result.Observed, m result.Metric) result.Values {
	series := o.Series[m]
	n := min(len(series), len(o.AtUS), len(o.LengthUS))
	inside := func(i int) bool {
		middle := o.AtUS[i] - o.LengthUS[i]/2
		return middle >= 0 && middle <= v.l.DurationUS && !math.IsNaN(series[i])
	}
	from := 0
	for from < n && !inside(from) {
		from++
	}
	until := from
	for until < n && inside(until) {
		until++
	}
	known := series[from:until:until]
	for i := until; i < n; i++ {
		if inside(i) {
			known = append(known, series[i])
		}
	}
	return known
}

// mean is the mean of a metric over the window; ok is false if it is not known.
func (v view) mean(o *result.Observed, m result.Metric) (x float64, ok bool) {
	if o == nil {
		return 0, false
	}
	values := v.in(o, m)
	if len(values) == 0 {
		return 0, false
	}
	return values.Mean(), true
}

// peak is its largest value in the window; ok is false if it is not known.
func (v view) peak(o *result.Observed, m result.Metric) (x float64, ok bool) {
	if o == nil {
		return 0, false
	}
	values := v.in(o, m)
	if len(values) == 0 {
		return 0, false
	}
	return values.Max(), true
}

// total is what a rate counted over the window: the counter itself, or the sum
// of its samples where only those are known.
func (v view) total(o *result.Observed, m result.Metric) (n float64, ok bool) {
	if o == nil {
		return 0, false
	}
	if n, ok = o.Totals[m]; ok && !math.IsNaN(n) {
		return n, true
	}
	n, ok = 0, false
	for i, x := range o.Series[m] {
		if i >= len(o.AtUS) || i >= len(o.LengthUS) || math.IsNaN(x) {
			continue
		}
		if middle := o.AtUS[i] - o.LengthUS[i]/2; middle >= 0 && middle <= v.l.DurationUS {
			n, ok = n+x*o.LengthUS[i]/1e6, true
		}
	}
	return n, ok
}

// serviceOf is the name of the service that a thing belongs to.
func serviceOf(o *result.Observed) string { return cmp.Or(o.Service, o.Name) }

// place says what a watched thing is, for people.
func place(o *result.Observed) string {
	switch o.Kind {
	case result.OfHost:
		return machine(o.Name)
	case result.OfInterface:
		if o.Host == "" {
			return o.Name
		}
		return o.Host + "/" + o.Name
	case result.OfGenerator:
		return plan.Generator
	}
	return instance(serviceOf(o), o.Instance)
}

func machine(host string) string { return cmp.Or(host, here) }

func instance(service string, n int) string { return fmt.Sprintf("%s[%d]", service, n) }

// host is what was watched of a machine; nil if nothing was.
func (v view) host(name string) *result.Observed {
	for _, o := range v.things(result.OfHost) {
		if o.Name == name {
			return o
		}
	}
	return nil
}

// hostCPUs is the number of cores of a machine, by its environment or by what
// its watcher counted; 0 if it is not known.
func (v view) hostCPUs(name string) float64 {
	n := v.r.Hosts[name].CPUs
	if name == "" {
		n = v.r.Environment.CPUs
	}
	if n > 0 {
		return float64(n)
	}
	counted, _ := v.peak(v.host(name), "cpus_count")
	return counted
}

// targetHosts are the machines on which a watched service runs, each once.
func (v view) targetHosts() []*result.Observed {
	var all []*result.Observed
	for _, o := range v.things(result.OfHost) {
		if v.serves(o.Name) {
			all = append(all, o)
		}
	}
	return all
}

// serves reports whether some service of the run is on the host.
func (v view) serves(host string) bool {
	on := func(s result.Service) bool { return s.Host == host }
	watched := func(o *result.Observed) bool { return o.Host == host }
	return slices.ContainsFunc(v.r.Services, on) || slices.ContainsFunc(v.things(result.OfService), watched)
}

// costs is what the run says of the instance that a thing belongs to; nil if
// nothing.
func (v view) costs(o *result.Observed) *result.Service {
	for i := range v.r.Services {
		if s := &v.r.Services[i]; s.Name == serviceOf(o) && s.Instance == o.Instance {
			return s
		}
	}
	return nil
}

// planService is a planned service by its name; nil if the plan has none.
func (v view) planService(name string) *plan.Service {
	if v.r.Plan == nil {
		return nil
	}
	for i := range v.r.Plan.Services {
		if s := &v.r.Plan.Services[i]; s.Name == name {
			return s
		}
	}
	return nil
}

// allowed is how many cores an instance may use: by its quota, its cores, the
// division of its host, or as many as the host has. 0 is not known.
func (v view) allowed(o *result.Observed) float64 {
	most := v.hostCPUs(o.Host)
	for _, l := range v.limitsOf(o) {
		if l.CPUs > 0 {
			most = lesser(most, l.CPUs)
		}
		if len(l.Cores) > 0 {
			most = lesser(most, float64(len(l.Cores)))
		}
	}
	if v.r.Plan == nil {
		return most
	}
	for _, d := range v.r.Plan.Cores {
		for _, s := range d.Shares {
			if d.Host == o.Host && d.Disjoint && s.Who == serviceOf(o) && len(s.Cores) > 0 {
				most = lesser(most, float64(len(s.Cores)))
			}
		}
	}
	return most
}

// limitsOf are the limits of an instance: as its control group has them, as
// applied and as asked.
func (v view) limitsOf(o *result.Observed) []plan.Limits {
	var all []plan.Limits
	if quota, err := strconv.ParseFloat(o.Facts["cpu_quota_cores"], 64); err == nil && quota > 0 {
		all = append(all, plan.Limits{CPUs: quota})
	}
	if memory, err := strconv.ParseInt(o.Facts["memory_limit_bytes"], 10, 64); err == nil && memory > 0 {
		all = append(all, plan.Limits{Memory: memory})
	}
	if s := v.costs(o); s != nil {
		all = append(all, s.Limits)
	}
	if p := v.planService(serviceOf(o)); p != nil {
		all = append(all, p.Limits)
	}
	return all
}

// lesser is the smaller of two bounds, of which the first may be unknown (0).
func lesser(a, b float64) float64 {
	if a <= 0 {
		return b
	}
	return min(a, b)
}

// quota is the CPU quota of an instance in cores; 0 for none.
func (v view) quota(o *result.Observed) float64 {
	for _, l := range v.limitsOf(o) {
		if l.CPUs > 0 {
			return l.CPUs
		}
	}
	return 0
}

// variation is the coefficient of variation of values; 0 of fewer than two.
func variation(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	mean := result.Values(values).Mean()
	var squares float64
	for _, x := range values {
		squares += (x - mean) * (x - mean)
	}
	return ratio(math.Sqrt(squares/float64(len(values)-1)), math.Abs(mean))
}
