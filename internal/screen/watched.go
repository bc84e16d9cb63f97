package screen

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"prony/internal/result"
)

// thisHost is what the host without a name is called.
const thisHost = "this host"

// cpusOnline is how many cores a host has; a metric beside those of package
// result.
const cpusOnline result.Metric = "cpus_count"

// now is the newest value of a metric; NaN where it is not known.
func now(o *result.Observed, m result.Metric) float64 {
	if o == nil {
		return math.NaN()
	}
	series := o.Series[m]
	if len(series) == 0 {
		return math.NaN()
	}
	return series[len(series)-1]
}

// fact is a number among the facts; NaN where there is none.
func fact(o *result.Observed, name string) float64 {
	v, err := strconv.ParseFloat(o.Facts[name], 64)
	if err != nil || v <= 0 {
		return math.NaN()
	}
	return v
}

// first is the first of some values that is known.
func first(values ...float64) float64 {
	for _, v := range values {
		if !math.IsNaN(v) {
			return v
		}
	}
	return math.NaN()
}

// of lists what is watched of a kind, in an order that stays.
func (s *state) of(kind string) []*result.Observed {
	var all []*result.Observed
	live := s.watched()
	for i := range live {
		if live[i].Kind == kind {
			all = append(all, &live[i])
		}
	}
	slices.SortStableFunc(all, func(a, b *result.Observed) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(owner(a), owner(b)), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// owner is the service that something is, or belongs to.
func owner(o *result.Observed) string { return cmp.Or(o.Service, o.Name) }

// hostName is the host's for people.
func hostName(name string) string { return cmp.Or(name, thisHost) }

// partOf is what is watched of a kind of a service's instance; nil for none.
func (s *state) partOf(kind string, service *result.Observed) *result.Observed {
	live := s.watched()
	for i := range live {
		o := &live[i]
		if o.Kind == kind && owner(o) == owner(service) && o.Instance == service.Instance && o.Host == service.Host {
			return o
		}
	}
	return nil
}

// traffic is what all interfaces of a host carry, bytes per second.
func (s *state) traffic(host string) (in, out float64) {
	in, out = math.NaN(), math.NaN()
	live := s.watched()
	for i := range live {
		o := &live[i]
		if o.Kind != result.OfInterface || o.Host != host {
			continue
		}
		if v := now(o, result.BytesIn); !math.IsNaN(v) {
			in = v + first(in, 0)
		}
		if v := now(o, result.BytesOut); !math.IsNaN(v) {
			out = v + first(out, 0)
		}
	}
	return in, out
}
