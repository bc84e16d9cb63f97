package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"prony/internal/hdr"
	"prony/internal/result"
)

// OpenMetrics writes the figures of each trial in the text format of OpenMetrics
// 1.0: response, service and lag as histograms with le buckets, their
// percentiles as summaries, the rest as gauges, since a result is a state and no
// counter that goes on. Base units: seconds, bytes, shares 0 to 1. Each sample
// has the time at which its load began, in whole seconds, so that results can be
// filled into a Prometheus (promtool tsdb create-blocks-from openmetrics). A
// trial without a result has only its verdict. It fails when writing does.
func OpenMetrics(w io.Writer, d Document) error {
	trials, _, err := d.trials()
	if err != nil {
		return err
	}
	o := &exposition{w: w}
	for i := range trials {
		for l := range loadsOf(&trials[i]) {
			o.sets = append(o.sets, sampleSet(&d, &trials[i], l))
		}
	}
	o.dated()
	o.gauges()
	for _, f := range distributions() {
		o.histogram(f)
		o.summary(f)
	}
	o.line("# EOF")
	if o.err != nil {
		return fmt.Errorf("write OpenMetrics: %w", o.err)
	}
	return nil
}

// set is a load with the labels and the time of its samples.
type set struct {
	t      *result.Trial
	l      *result.Load
	labels string
	at     string
}

func sampleSet(d *Document, t *result.Trial, l *result.Load) set {
	id := ""
	if d.Experiment != nil {
		id = d.Experiment.ID
	}
	s := set{t: t, l: l, labels: labels("experiment", id, "variant", t.Variant, "trial", strconv.Itoa(t.Number), "load", l.Name)}
	switch {
	case l.StartedUS > 0:
		s.at = strconv.FormatInt(l.StartedUS/1e6, 10)
	case !t.Started.IsZero():
		s.at = strconv.FormatInt(t.Started.Unix(), 10)
	}
	return s
}

// dated gives samples of loads that never began the time of the first that did.
func (o *exposition) dated() {
	first := "0"
	for _, s := range o.sets {
		if s.at != "" {
			first = s.at
			break
		}
	}
	for i := range o.sets {
		if o.sets[i].at == "" {
			o.sets[i].at = first
		}
	}
}

// labels writes pairs of names and values; empty values are left out, since
// they mean no label.
func labels(pairs ...string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	var all []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := clean(pairs[i+1]); value != "" {
			all = append(all, pairs[i]+`="`+escape.Replace(value)+`"`)
		}
	}
	return strings.Join(all, ",")
}

// exposition writes families and keeps the first error.
type exposition struct {
	w    io.Writer
	sets []set
	err  error
}

func (o *exposition) line(format string, args ...any) {
	if o.err == nil {
		_, o.err = fmt.Fprintf(o.w, format+"\n", args...)
	}
}

// family begins one: its type, its unit, what it is.
func (o *exposition) family(name, kind, unit, help string) {
	o.line("# HELP %s %s", name, help)
	o.line("# TYPE %s %s", name, kind)
	if unit != "" {
		o.line("# UNIT %s %s", name, unit)
	}
}

func (o *exposition) sample(name string, s set, more, value string) {
	all := s.labels
	if more != "" {
		all = strings.TrimPrefix(all+","+more, ",")
	}
	o.line("%s{%s} %s %s", name, all, value, s.at)
}

// number writes a value as OpenMetrics has it.
func number(x float64) string {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "+Inf"
	case math.IsInf(x, -1):
		return "-Inf"
	case x == math.Trunc(x) && math.Abs(x) < 1e15:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// gauge is a family of one figure a load.
type gauge struct {
	name, unit, help string
	of               func(*set) (x float64, known bool)
}

func always(f func(*set) float64) func(*set) (float64, bool) {
	return func(s *set) (float64, bool) { return f(s), s.t.Error == "" }
}

func gauges() []gauge {
	return []gauge{
		{"prony_window_seconds", "seconds", "Length of the measured window.", always(func(s *set) float64 { return s.l.DurationUS / 1e6 })},
		{"prony_requests_per_second", "", "Completions inside the window, divided by its length.", always(func(s *set) float64 { return s.l.Rate })},
		{"prony_offered_requests_per_second", "", "What the timetable of an open load asked for.", func(s *set) (float64, bool) {
			if s.l.OfferedRate == nil || s.t.Error != "" {
				return 0, false
			}
			return *s.l.OfferedRate, true
		}},
		{"prony_capacity_requests_per_second", "", "The highest rate at which all goals held.", func(s *set) (float64, bool) {
			if s.t.Capacity == nil {
				return 0, false
			}
			return s.t.Capacity.Rate, true
		}},
		{"prony_received_bytes", "bytes", "Bytes received, with those of the drain.", always(func(s *set) float64 { return float64(s.l.BytesIn) })},
		{"prony_in_flight_requests", "", "Time average of the requests in flight.", always(func(s *set) float64 { return s.l.InFlight })},
		{"prony_generator_cpu_seconds", "seconds", "CPU time of the load generator.", always(func(s *set) float64 { return s.t.Generator.CPUUS / 1e6 })},
		{"prony_generator_peak_busy_ratio", "ratio", "CPU use of the generator in its busiest second, as a share of its cores.", always(func(s *set) float64 { return s.t.Generator.PeakBusy })},
	}
}

func (o *exposition) gauges() {
	o.family("prony_verdict", "gauge", "", "1 for the verdict on the trial: valid, suspect, invalid, or that it has no result.")
	for _, s := range o.sets {
		verdict := string(s.t.Validity.Verdict)
		switch {
		case s.t.Error != "":
			verdict = "no result"
		case verdict == "":
			verdict = "not judged"
		}
		o.sample("prony_verdict", s, labels("verdict", verdict), "1.0")
	}
	for _, g := range gauges() {
		o.family(g.name, "gauge", g.unit, g.help)
		for i := range o.sets {
			if x, known := g.of(&o.sets[i]); known {
				o.sample(g.name, o.sets[i], "", number(x))
			}
		}
	}
	o.outcomes()
	o.services()
}

// outcomes are the books: every planned request has exactly one.
func (o *exposition) outcomes() {
	o.family("prony_requests", "gauge", "", "Planned requests by their outcome; each has exactly one.")
	for _, s := range o.sets {
		if s.t.Error != "" {
			continue
		}
		q := s.l.Requests
		for _, one := range []struct {
			name string
			n    int64
		}{{"completed", q.Completed}, {"failed", q.Failed}, {"cut_off", q.CutOff}, {"unsent", q.Unsent}} {
			o.sample("prony_requests", s, labels("outcome", one.name), number(float64(one.n)))
		}
	}
	o.family("prony_failures", "gauge", "", "Failed requests and connections by their kind.")
	for _, s := range o.sets {
		for _, kind := range sortedNames(s.l.Failures) {
			o.sample("prony_failures", s, labels("kind", kind), number(float64(s.l.Failures[kind])))
		}
	}
	o.family("prony_expectation_met", "gauge", "", "1 for an expectation that was met, 0 for one that was missed.")
	for _, s := range o.sets {
		if s.l != &s.t.Load {
			continue
		}
		said := map[string]bool{}
		for _, e := range s.t.Expect {
			if said[clean(e.Text)] {
				continue
			}
			said[clean(e.Text)] = true
			met := 0.0
			if e.Met {
				met = 1
			}
			o.sample("prony_expectation_met", s, labels("expectation", e.Text), number(met))
		}
	}
}

func (o *exposition) services() {
	for _, f := range []struct {
		name, unit, help string
		of               func(result.Service) float64
	}{
		{"prony_service_cpu_seconds", "seconds", "CPU time of an instance from the start of the window until the load has ended.", func(s result.Service) float64 { return s.CPUUS / 1e6 }},
		{"prony_service_memory_bytes", "bytes", "Largest resident set of an instance.", func(s result.Service) float64 { return float64(s.MaxRSSBytes) }},
		{"prony_service_throttled_ratio", "ratio", "Share of the quota's periods in which an instance was held back.", func(s result.Service) float64 { return s.ThrottledRatio }},
	} {
		o.family(f.name, "gauge", f.unit, f.help)
		for _, s := range o.sets {
			if s.l != &s.t.Load {
				continue
			}
			for _, one := range s.t.Services {
				o.sample(f.name, s, labels("service", one.Name, "instance", strconv.Itoa(one.Instance)), number(f.of(one)))
			}
		}
	}
}

// distribution is one of the histograms of a load.
type distribution struct {
	name, help string
	of         func(*result.Load) result.Histogram
}

func distributions() []distribution {
	return []distribution{
		{"response", "from the intended start to the last byte, of good answers", func(l *result.Load) result.Histogram { return l.Latency.Response }},
		{"service", "from the send to the last byte, of good answers", func(l *result.Load) result.Histogram { return l.Latency.Service }},
		{"lag", "from the intended start to the send", func(l *result.Load) result.Histogram { return l.Latency.Lag }},
		{"failed", "of failed requests", func(l *result.Load) result.Histogram { return l.Latency.Failed }},
	}
}

// bounds of the buckets in nanoseconds: 1, 2.5 and 5 in each decade from 10 µs
// to 100 s.
func bounds() (all []int64) {
	for decade := int64(10_000); decade <= 100_000_000_000; decade *= 10 {
		all = append(all, decade)
		if decade < 100_000_000_000 {
			all = append(all, decade*5/2, decade*5)
		}
	}
	return all
}

// histogram writes one with le buckets. A value counts in a bucket when the
// whole cell of the histogram that holds it lies in there.
func (o *exposition) histogram(f distribution) {
	name := "prony_" + f.name + "_time_seconds"
	o.family(name, "histogram", "seconds", "Times "+f.help+".")
	for _, s := range o.sets {
		h := f.of(s.l)
		if h.Empty() {
			continue
		}
		limits := bounds()
		counts := make([]int64, len(limits))
		for cell, n := range h.Cells() {
			for i, limit := range limits {
				if min(cell.Highest, h.Max()) <= limit {
					counts[i] += n
				}
			}
		}
		for i, limit := range limits {
			o.sample(name+"_bucket", s, `le="`+number(float64(limit)/1e9)+`"`, whole(counts[i]))
		}
		o.sample(name+"_bucket", s, `le="+Inf"`, whole(h.Count()))
		o.sample(name+"_count", s, "", whole(h.Count()))
		o.sample(name+"_sum", s, "", number(h.Sum()/1e9))
	}
}

// summary writes the percentiles that rest on a sample, and the extremes.
func (o *exposition) summary(f distribution) {
	name := "prony_" + f.name + "_quantiles_seconds"
	o.family(name, "summary", "seconds", "Percentiles of times "+f.help+", by nearest rank; quantile 1 is the largest time.")
	for _, s := range o.sets {
		h := f.of(s.l)
		if h.Empty() {
			continue
		}
		for _, q := range []hdr.Quantile{hdr.P50, hdr.P75, hdr.P90, hdr.P99, hdr.P999, hdr.P9999, hdr.P100} {
			if q < hdr.P100 && q.Beyond(h.Count()) < 1 {
				continue
			}
			share := number(float64(q) / 1e6)
			o.sample(name, s, `quantile="`+share+`"`, number(float64(h.Value(q))/1e9))
		}
		o.sample(name+"_count", s, "", whole(h.Count()))
		o.sample(name+"_sum", s, "", number(h.Sum()/1e9))
	}
}
