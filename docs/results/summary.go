package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"prony/internal/hdr"
	"prony/internal/result"
)

// Summary is what is kept of an experiment. Times are microseconds.
type Summary struct {
	Name     string   `json:"name"`
	Question string   `json:"question"`
	Note     string   `json:"note,omitempty"`
	Day      string   `json:"day"`
	Machine  Machine  `json:"machine"`
	Scale    float64  `json:"scale"`
	Baseline string   `json:"baseline"`
	Variants []string `json:"variants"`
	Trials   []Trial  `json:"trials"`
	// Findings over several trials, and those that made trials suspect or invalid:
	// one message for each rule.
	Findings map[string]string `json:"findings,omitempty"`
}

// Machine is where it was measured.
type Machine struct {
	Kernel string `json:"kernel"`
	CPU    string `json:"cpu"`
	CPUs   int    `json:"cpus"`
	Memory int64  `json:"memory_bytes"`
	System string `json:"system"`
}

// Trial is one measurement.
type Trial struct {
	Block   int            `json:"block"`
	Variant string         `json:"variant"`
	Error   string         `json:"error,omitempty"`
	Verdict result.Verdict `json:"verdict,omitempty"`
	// Rules that made it suspect or invalid.
	Rules []string `json:"rules,omitempty"`
	// Compiling is the share of its CPU that a just-in-time compiler used, of the
	// service in which that is most; 0 of none that the rule speaks of.
	Compiling float64 `json:"compiling,omitempty"`
	Limit     string  `json:"limit,omitempty"` // what was used up
	// Rate of all loads of the trial together, requests a second.
	Rate        float64   `json:"rate"`
	Loads       []float64 `json:"loads,omitempty"` // of each, if there are several
	Connections int       `json:"connections"`
	Seconds     float64   `json:"seconds"`
	Mean        float64   `json:"mean_us"`
	P50         float64   `json:"p50_us"`
	P99         float64   `json:"p99_us"`
	Completed   int64     `json:"completed"`
	Failed      int64     `json:"failed"`
	// Generator is the CPU of the generator for each request.
	Generator float64 `json:"generator_us"`
	// Busy is how many cores the generator used, on average.
	Busy     float64   `json:"generator_cores,omitempty"`
	Services []Service `json:"services"`
}

// Service is a service, all instances together.
type Service struct {
	Name      string  `json:"name"`
	Instances int     `json:"instances"`
	CPU       float64 `json:"cpu_us"` // for each request of the load
	Memory    int64   `json:"memory_bytes"`
	// Throttled is the share of the quota's periods, of the instance that was
	// held back most.
	Throttled float64 `json:"throttled"`
	// Counted is the share of the window's requests that its own counter shows;
	// 0 if it has none.
	Counted float64 `json:"counted,omitempty"`
	// Accepted is how many connections it took for each request, by its own counter.
	Accepted float64 `json:"accepted,omitempty"`
	Version  string  `json:"version,omitempty"`
}

// keep writes the summary of an experiment's JSON to data/.
func keep(root, file, note string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var e result.Experiment
	if err := json.Unmarshal(text, &e); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	if e.Plan == nil || len(e.Trials) == 0 {
		return fmt.Errorf("read %s: no trials in it", file)
	}
	s := summarise(&e, note)
	name := filepath.Join(root, "docs", "results", "data", s.Name+".json")
	return os.WriteFile(name, s.encode(), 0o644)
}

// encode writes a trial a line, so that a change can be read.
func (s Summary) encode() []byte {
	trials := s.Trials
	s.Trials = nil
	head, _ := json.MarshalIndent(s, "", " ") // strings and numbers: it cannot fail
	var b bytes.Buffer
	before, after, _ := bytes.Cut(head, []byte(`"trials": null`))
	b.Write(before)
	b.WriteString(`"trials": [`)
	for i, t := range trials {
		line, _ := json.Marshal(t)
		b.WriteString(map[bool]string{true: "\n  ", false: ",\n  "}[i == 0])
		b.Write(line)
	}
	b.WriteString("\n ]")
	b.Write(after)
	b.WriteByte('\n')
	return b.Bytes()
}

func summarise(e *result.Experiment, note string) Summary {
	s := Summary{Name: e.Plan.Name, Question: e.Plan.Question, Note: note, Scale: e.Plan.Scale, Baseline: e.Plan.Baseline, Findings: map[string]string{}}
	for _, v := range e.Plan.Variants {
		s.Variants = append(s.Variants, v.Name)
	}
	for _, f := range e.Findings {
		s.told(f)
	}
	for _, t := range e.Trials {
		if t.Error == "" {
			s.Day = t.Started.UTC().Format(time.DateOnly)
			s.Machine = machine(t.Environment)
		}
		for _, f := range t.Validity.Findings {
			s.told(f)
		}
		s.Trials = append(s.Trials, trial(t))
	}
	return s
}

// told keeps the first message of each rule that lowered a verdict.
func (s *Summary) told(f result.Finding) {
	if s.Findings[f.Rule] == "" && lowers(f) {
		s.Findings[f.Rule] = f.Message
	}
}

func lowers(f result.Finding) bool {
	return f.Severity == result.SuspectLevel || f.Severity == result.InvalidLevel
}

// machine leaves out what names the place and not the speed.
func machine(e result.Environment) Machine {
	kernel, _, _ := strings.Cut(e.Kernel, "-")
	return Machine{Kernel: kernel, CPU: e.CPUModel, CPUs: e.CPUs, Memory: e.Memory, System: e.Facts["distribution"]}
}

func trial(t result.Trial) Trial {
	s := Trial{Block: t.Block, Variant: t.Variant, Error: t.Error, Verdict: t.Validity.Verdict, Generator: short(t.Generator.CPUUSPerRequest), Busy: short(t.Generator.MeanBusy * t.Generator.CPUs)}
	if t.Error != "" {
		return s
	}
	for _, f := range t.Validity.Findings {
		if lowers(f) && !slices.Contains(s.Rules, f.Rule) {
			s.Rules = append(s.Rules, f.Rule)
		}
		if f.Rule == "compiling" {
			s.Compiling = short(max(s.Compiling, f.Evidence["share"]))
		}
	}
	if t.Bottleneck != nil {
		s.Limit = t.Bottleneck.Message
	}
	loads := append([]result.Load{t.Load}, t.Also...)
	for _, l := range loads {
		s.add(l, len(loads) > 1)
	}
	s.latency(t.Load)
	s.Services = services(t)
	return s
}

// add takes a load into the sums.
func (s *Trial) add(l result.Load, several bool) {
	s.Rate = short(s.Rate + l.Rate)
	if several {
		s.Loads = append(s.Loads, short(l.Rate))
	}
	s.Connections += l.Connections.Asked
	s.Completed += l.Requests.Completed
	s.Failed += l.Requests.Failed
	s.Seconds = short(l.DurationUS / 1e6)
}

// latency is that of the first load: of several, all have the same target or
// the same kind of target. Another program's is what it printed.
func (s *Trial) latency(l result.Load) {
	h := l.Latency.Response
	if h.Empty() {
		s.Mean, s.P50, s.P99 = short(l.Printed["mean"]), short(l.Printed["p50"]), short(l.Printed["p99"])
		return
	}
	s.Mean = short(h.Mean() / float64(time.Microsecond))
	s.P50 = short(float64(h.Value(hdr.P50)) / float64(time.Microsecond))
	s.P99 = short(float64(h.Value(hdr.P99)) / float64(time.Microsecond))
}

// services joins the instances of each service.
func services(t result.Trial) []Service {
	var all []Service
	for _, x := range t.Services {
		i := slices.IndexFunc(all, func(s Service) bool { return s.Name == x.Name })
		if i < 0 {
			i = len(all)
			all = append(all, Service{Name: x.Name})
		}
		s := &all[i]
		s.Instances++
		s.CPU = short(s.CPU + x.CPUUSPerRequest)
		s.Memory += x.MaxRSSBytes
		s.Throttled = short(max(s.Throttled, x.ThrottledRatio))
		s.Version = x.Version
	}
	for i := range all {
		count(&all[i], t)
	}
	return all
}

// count compares a service's own counter with what the load saw in its window;
// where only the gateway counts, from the start of the load, with all of it.
func count(s *Service, t result.Trial) {
	var requests, accepted float64
	for _, o := range t.Observed {
		if o.Kind == result.OfServer && o.Service == s.Name {
			requests += known(o.Totals["requests_rate"])
			accepted += known(o.Totals["accepts_rate"])
		}
	}
	seen := t.Load.Requests.InWindow
	for _, l := range t.Also {
		seen += l.Requests.InWindow
	}
	if requests > 0 && seen > 0 {
		s.Counted, s.Accepted = short(requests/float64(seen)), short(accepted/requests)
		return
	}
	var got int64
	for _, x := range t.Services {
		if x.Name == s.Name && x.Requests != nil {
			got += *x.Requests
		}
	}
	q := t.Load.Requests
	if sent := q.Completed + q.Failed + q.WarmupCompleted; got > 0 && sent > 0 {
		s.Counted = short(float64(got) / float64(sent))
	}
}

func known(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}

// short keeps four digits: more would be noise.
func short(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}
