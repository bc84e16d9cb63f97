package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"prony/internal/hdr"
	"prony/internal/lab"
	"prony/internal/plan"
	"prony/internal/result"
)

// eventsFlag is --events: where programs read how a campaign goes, a JSON object a
// line. prony serve starts experiments with it.
type eventsFlag struct{ out *os.File }

func (f *eventsFlag) register(s *pflag.FlagSet) {
	s.Var(f, "events", "write how it goes as lines of JSON to FILE, or to an open descriptor by its NUMBER")
	_ = s.MarkHidden("events") // it was just made
}

func (f *eventsFlag) String() string { return "" }

// Type names the value in the help.
func (f *eventsFlag) Type() string { return "FILE" }

// Set opens what the value names.
func (f *eventsFlag) Set(text string) (err error) {
	if fd, e := strconv.ParseUint(text, 10, 16); e == nil {
		f.out = os.NewFile(uintptr(fd), "events")
		closeOnExec(uintptr(fd)) // services are not to hold it open
		_, err = f.out.Stat()
		return err
	}
	f.out, err = os.OpenFile(text, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	return err
}

// tee tells programs what people are told, if they want it.
func (f *eventsFlag) tee(c *campaign, people lab.Events) lab.Events {
	if f.out == nil {
		return people
	}
	w := &eventWriter{out: f.out, now: time.Now, left: &remaining{plan: c.plan, now: time.Now}, live: c.live}
	w.write("campaign", campaignEvent{ID: c.kept.ID(), Folder: c.kept.Dir(), Name: c.plan.Name, Trials: len(c.plan.Trials)})
	return w.beside(people)
}

// eventWriter writes lines of JSON. It may be used at the same time.
type eventWriter struct {
	now  func() time.Time
	left *remaining
	live func() []result.Observed

	mu   sync.Mutex // guards the file, so that lines stay whole
	out  *os.File
	gone bool
}

// The events. Times are microseconds, rates per second.
type (
	campaignEvent struct {
		ID     string `json:"id"`
		Folder string `json:"folder"`
		Name   string `json:"name"`
		Trials int    `json:"trials"`
	}
	trialEvent struct {
		Number  int               `json:"number"` // from 1
		Of      int               `json:"of"`
		Block   int               `json:"block"` // from 0
		Variant string            `json:"variant"`
		Values  map[string]string `json:"values,omitempty"`
		Left    string            `json:"left"` // time for it and those behind it, in words
	}
	phaseEvent struct {
		Text string `json:"text"`
	}
	progressEvent struct {
		ElapsedUS int64   `json:"elapsed_us"`
		TotalUS   int64   `json:"total_us"` // 0: the load ends by count
		Warmup    bool    `json:"warmup"`
		Open      int     `json:"open"`
		Asked     int64   `json:"asked"` // so far, in the window
		Completed int64   `json:"completed"`
		Failed    int64   `json:"failed"`
		Rate      float64 `json:"rate"` // of the interval
		LengthUS  float64 `json:"length_us"`
		P50US     float64 `json:"p50_us"`
		P99US     float64 `json:"p99_us"`
		MaxUS     float64 `json:"max_us"`
		LagP99US  float64 `json:"lag_p99_us"`
		// Generator is the share of its cores that it used; null is not known.
		Generator *float64 `json:"generator"`
	}
	// observedEvent is the newest sample of everything that is watched.
	observedEvent struct {
		Observed []sample `json:"observed"`
	}
	sample struct {
		Kind     string                    `json:"kind"`
		Name     string                    `json:"name"`
		Service  string                    `json:"service,omitempty"`
		Instance int                       `json:"instance,omitempty"`
		Host     string                    `json:"host,omitempty"`
		Values   map[result.Metric]float64 `json:"values"` // those that are known
	}
	findingEvent struct {
		Number int `json:"number"` // of the trial
		result.Finding
	}
	finishedEvent struct {
		Number     int            `json:"number"`
		Variant    string         `json:"variant"`
		Verdict    result.Verdict `json:"verdict"`
		Error      string         `json:"error,omitempty"` // why it has no result
		Rate       float64        `json:"rate"`
		P50US      float64        `json:"p50_us"`
		P99US      float64        `json:"p99_us"`
		Failed     int64          `json:"failed"`
		Bottleneck string         `json:"bottleneck,omitempty"`
	}
)

// beside adds the writer to what people are told.
func (w *eventWriter) beside(people lab.Events) lab.Events {
	return lab.Events{
		Trial: func(number, of int, t plan.Trial) {
			w.write("trial", trialEvent{number, of, t.Block, t.Variant, t.Values, w.left.from(number - 1)})
			if people.Trial != nil {
				people.Trial(number, of, t)
			}
		},
		Phase: func(text string) {
			w.write("phase", phaseEvent{text})
			if people.Phase != nil {
				people.Phase(text)
			}
		},
		Progress: func(p result.Progress, busy float64) {
			if !p.Interval.Drain { // what comes late belongs to no rate
				w.write("progress", progressOf(p, busy))
				w.write("observed", observedEvent{samplesOf(w.live())})
			}
			if people.Progress != nil {
				people.Progress(p, busy)
			}
		},
		Finished: func(t result.Trial) {
			w.finished(t)
			if people.Finished != nil {
				people.Finished(t)
			}
		},
	}
}

func progressOf(p result.Progress, busy float64) progressEvent {
	iv := &p.Interval
	e := progressEvent{ElapsedUS: max(p.Elapsed, 0).Microseconds(), TotalUS: p.Total.Microseconds(), Warmup: iv.Warmup, Open: p.Open, Asked: p.Asked,
		Completed: p.Completed, Failed: p.Failed, LengthUS: iv.LengthUS, P50US: iv.Response.P50(), P99US: iv.Response.P99(), MaxUS: iv.Response.Max(),
		LagP99US: iv.Lag.P99()}
	if iv.LengthUS > 0 {
		e.Rate = float64(iv.Completed) / iv.LengthUS * 1e6
	}
	if busy >= 0 {
		e.Generator = &busy
	}
	return e
}

// samplesOf are the last values of what was watched. Interfaces that carried
// nothing are left out: a machine may have dozens.
func samplesOf(all []result.Observed) []sample {
	samples := []sample{}
	for _, o := range all {
		s := sample{Kind: o.Kind, Name: o.Name, Service: o.Service, Instance: o.Instance, Host: o.Host, Values: map[result.Metric]float64{}}
		for m, v := range o.Series {
			if n := len(v); n > 0 && !math.IsNaN(v[n-1]) && !math.IsInf(v[n-1], 0) {
				s.Values[m] = v[n-1]
			}
		}
		if o.Kind != result.OfInterface || s.Values[result.BytesIn]+s.Values[result.BytesOut] > 0 {
			samples = append(samples, s)
		}
	}
	return samples
}

// finished tells the findings of a trial that matter, and how it ended.
func (w *eventWriter) finished(t result.Trial) {
	for _, f := range t.Validity.Findings {
		if f.Severity != result.Info {
			w.write("finding", findingEvent{t.Number, f})
		}
	}
	e := finishedEvent{Number: t.Number, Variant: t.Variant, Verdict: t.Validity.Verdict, Error: t.Error, Rate: t.Load.Rate, Failed: t.Load.Requests.Failed}
	if h := t.Load.Latency.Response; !h.Empty() {
		e.P50US, e.P99US = float64(h.Value(hdr.Percent(50)))/1000, float64(h.Value(hdr.Percent(99)))/1000
	}
	if t.Bottleneck != nil {
		e.Bottleneck = t.Bottleneck.Message
	}
	w.write("finished", e)
}

// write writes one event. A reader that has gone wanted the campaign for itself:
// then it is interrupted, as by a person. Other failures cost the events, not the
// measurement.
func (w *eventWriter) write(name string, data any) {
	line, err := eventLine(name, w.now(), data)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || w.gone {
		return
	}
	if _, err = w.out.Write(line); err == nil {
		return
	}
	w.gone = true
	if errors.Is(err, syscall.EPIPE) {
		interruptSelf()
	}
}

// eventLine is an object with the name and the moment before the data.
func eventLine(name string, at time.Time, data any) ([]byte, error) {
	rest, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("encode the event %s: %w", name, err)
	}
	head := fmt.Appendf(nil, `{"event":%q,"at":%q`, name, at.UTC().Format(time.RFC3339Nano))
	if len(rest) > len("{}") {
		head = append(head, ',')
	}
	return append(append(head, rest[1:]...), '\n'), nil
}

func interruptSelf() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Signal(os.Interrupt) // where there are no signals, the campaign goes on to its end
	}
}
