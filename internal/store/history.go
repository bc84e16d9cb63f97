package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"prony/internal/result"
	"prony/internal/stats"
)

// Metric is a figure of runs whose history can be told.
type Metric struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"` // "1/s", "us", "ratio", "bytes"
	Higher bool   `json:"higher_is_better"`
	// Margin is the change that matters in practice, as a share of the value
	// before; for a ratio the difference itself (method, section 4.4).
	Margin float64 `json:"margin"`
	column string
}

// Metrics are all of them.
func Metrics() []Metric {
	return []Metric{
		{Name: "rate", Unit: "1/s", Higher: true, Margin: 0.02, column: "rate"},
		{Name: "p50", Unit: "us", Margin: 0.05, column: "p50_us"},
		{Name: "p90", Unit: "us", Margin: 0.05, column: "p90_us"},
		{Name: "p99", Unit: "us", Margin: 0.10, column: "p99_us"},
		{Name: "p99.9", Unit: "us", Margin: 0.10, column: "p999_us"},
		{Name: "max", Unit: "us", Margin: 0.10, column: "max_us"},
		{Name: "errors", Unit: "ratio", Margin: 0.001, column: "errors"},
		{Name: "cpu", Unit: "us", Margin: 0.02, column: "cpu_us"},
		{Name: "memory", Unit: "bytes", Margin: 0.05, column: "rss_bytes"},
		{Name: "generator-cpu", Unit: "us", Margin: 0.02, column: "generator_us"},
	}
}

// MetricOf finds a metric by its name.
func MetricOf(name string) (Metric, error) {
	var names []string
	for _, m := range Metrics() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Metric{}, fmt.Errorf("metric %q: %w (allowed: %s)", name, ErrInput, strings.Join(names, ", "))
}

// change is the relative change, of a ratio the difference. From nothing to
// something is 1.
func (m Metric) change(before, after float64) float64 {
	switch {
	case m.Unit == "ratio":
		return after - before
	case before > 0:
		return after/before - 1
	case after > before:
		return 1
	}
	return 0
}

func (m Metric) differ(before, after float64) bool {
	return math.Abs(m.change(before, after)) >= m.Margin
}

func (m Metric) better(change float64) bool { return (change > 0) == m.Higher }

// Question is what history is asked for.
type Question struct {
	Experiment, Variant string
	Metric              string
	// Limit is how many of the newest runs are looked at. Default 200, at most 500.
	Limit int
	// Any takes runs of different work and machines as if they were comparable.
	Any bool
}

// Bounds of a history.
const (
	historyDefault = 200
	historyMax     = 500
)

// Point is one run in a history.
type Point struct {
	Run     RunID          `json:"run"`
	Started time.Time      `json:"started"`
	Verdict result.Verdict `json:"verdict"`
	Value   float64        `json:"value"`
}

// Level is a stretch of runs between two changes.
type Level struct {
	From   int     `json:"from"` // index of its first point
	Runs   int     `json:"runs"`
	Median float64 `json:"median"`
	// Low and High are the interval of the median with its exact coverage, or the
	// range of the values, and a coverage of 0, for fewer than six runs.
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Coverage float64 `json:"coverage"`
	// Change against the level before, with the p-value of the split; 0 in the first.
	Change float64 `json:"change,omitempty"`
	Better bool    `json:"better,omitempty"`
	P      float64 `json:"p,omitempty"`
}

// Suspicion is about runs at the end that may be a change, and are too few to
// say.
type Suspicion struct {
	Runs   int  `json:"runs"`
	Better bool `json:"better"`
	Needed int  `json:"needed"` // more runs
}

// Judgement is how the newest level stands against the pinned baseline.
type Judgement string

// The judgements.
const (
	Better        Judgement = "better"
	Worse         Judgement = "worse"
	NoneShown     Judgement = "no change shown"
	CannotTell    Judgement = "cannot tell"
	NotComparable Judgement = "not comparable"
)

// Against is the comparison with the pinned baseline: medians over runs, a
// permutation test of ranks at 1 %, and the metric's margin.
type Against struct {
	Judgement Judgement `json:"judgement"`
	Reason    string    `json:"reason,omitempty"`
	Baseline  Level     `json:"baseline"`
	Runs      int       `json:"runs"` // of the newest level that are not in the baseline
	Median    float64   `json:"median"`
	Change    float64   `json:"change"`
	P         float64   `json:"p,omitempty"`
}

// History is how a metric went over the runs of one variant, oldest first.
type History struct {
	Experiment string  `json:"experiment"`
	Variant    string  `json:"variant,omitempty"`
	Metric     Metric  `json:"metric"`
	Points     []Point `json:"points"`
	// Levels cover all points. The last is where the metric stands now; it moves
	// only when a change is shown by enough runs.
	Levels    []Level    `json:"levels"`
	Suspicion *Suspicion `json:"suspicion,omitempty"`
	Against   *Against   `json:"against,omitempty"`
	// LeftOut counts the runs that are in no statistic, by the reason.
	LeftOut map[string]int `json:"left_out,omitempty"`
}

// sample is a run with the metric.
type sample struct {
	candidate
	Point
	value *float64
}

// History follows a metric over the runs of a variant that can be compared with
// the newest: the same work, machine and version, and no invalid result. How
// changes are found is told at the head of change.go. It fails with
// [ErrNotFound] if there is no run at all.
func (s *Store) History(ctx context.Context, q Question) (History, error) {
	m, err := MetricOf(q.Metric)
	if err != nil {
		return History{}, err
	}
	q.Experiment, q.Variant = brief(q.Experiment), brief(q.Variant)
	h := History{Experiment: q.Experiment, Variant: q.Variant, Metric: m, LeftOut: map[string]int{}}
	err = s.inView(ctx, func(tx *sql.Tx) error {
		limit := historyDefault
		if q.Limit > 0 {
			limit = min(q.Limit, historyMax)
		}
		all, err := samples(ctx, tx, m, `r.experiment = $1 AND r.variant = $2 ORDER BY r.started DESC, r.id DESC LIMIT $3`, q.Experiment, q.Variant, limit)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return ErrNotFound
		}
		base, err := samples(ctx, tx, m, `r.id IN (SELECT b.run_id FROM baselines b WHERE b.experiment = $1 AND b.variant = $2) ORDER BY r.started, r.id`, q.Experiment, q.Variant)
		if err != nil {
			return err
		}
		h.fill(all, base, q.Any)
		return nil
	})
	if err != nil {
		return History{}, fmt.Errorf("history of %s: %w", title(q.Experiment, q.Variant), err)
	}
	return h, nil
}

func samples(ctx context.Context, q querier, m Metric, where string, args ...any) ([]sample, error) {
	return collect(ctx, q, func(rows *sql.Rows) (sample, error) {
		var p sample
		var started int64
		err := rows.Scan(&p.id, &p.experiment, &p.variant, &p.workload, &p.machine, &p.verdict, &p.error, &started, &p.value)
		p.Point = Point{Run: p.id, Started: timeOf(started), Verdict: result.Verdict(p.verdict)}
		if p.value != nil {
			p.Value = *p.value
		}
		return p, err
	}, `SELECT r.id, r.experiment, r.variant, r.workload, r.machine, r.verdict, r.error, r.started, r.`+m.column+` FROM runs r WHERE `+where, args...)
}

// fill works out a history from runs, newest first, and those of a baseline.
func (h *History) fill(all, base []sample, anything bool) {
	newest := slices.IndexFunc(all, func(p sample) bool { return p.usable() == nil && p.value != nil })
	for i, p := range all {
		if reason := leftOut(p, all, newest, anything); reason != "" {
			h.LeftOut[reason]++
			continue
		}
		h.Points = append(h.Points, all[i].Point)
	}
	slices.Reverse(h.Points)
	if len(h.Points) == 0 {
		return
	}
	values := valuesOf(h.Points)
	spans, p := segments(values, h.Metric.differ)
	for i, s := range spans {
		l := levelOf(values[s.from:s.to])
		l.From = s.from
		if i > 0 {
			l.Change = h.Metric.change(h.Levels[i-1].Median, l.Median)
			l.P, l.Better = p[i], h.Metric.better(l.Change)
		}
		h.Levels = append(h.Levels, l)
	}
	last := spans[len(spans)-1]
	// One run outside the range of n others happens by chance in 2 of n + 1 cases:
	// that is not worth a word.
	if n, up := trailing(values[last.from:]); n > 1 {
		h.Suspicion = &Suspicion{Runs: n, Better: up == h.Metric.Higher, Needed: BaselineRuns - n}
	}
	h.against(base, all[newest], h.Points[last.from:], anything)
}

// leftOut says why a run is in no statistic.
func leftOut(p sample, all []sample, newest int, anything bool) string {
	switch {
	case p.error != "":
		return "no result"
	case p.usable() != nil:
		return "invalid"
	case p.value == nil:
		return "not measured"
	case anything:
		return ""
	case p.workload != all[newest].workload:
		return "other work"
	case p.machine != all[newest].machine:
		return "other machine or version"
	}
	return ""
}

func valuesOf(points []Point) []float64 {
	values := make([]float64, len(points))
	for i, p := range points {
		values[i] = p.Value
	}
	return values
}

func levelOf(values []float64) Level {
	i := stats.MedianInterval(values)
	return Level{Runs: len(values), Median: stats.Median(values), Low: i.Low, High: i.High, Coverage: i.Coverage}
}

// against compares the newest level with a baseline.
func (h *History) against(base []sample, newest sample, now []Point, anything bool) {
	if len(base) == 0 {
		return
	}
	var before []float64
	in := map[RunID]bool{}
	for _, b := range base {
		in[b.id] = true
		if b.value != nil {
			before = append(before, *b.value)
		}
	}
	now = slices.DeleteFunc(slices.Clone(now), func(p Point) bool { return in[p.Run] })
	after := valuesOf(now)
	a := &Against{Baseline: levelOf(before), Runs: len(after), Median: stats.Median(after)}
	h.Against = a
	switch err := base[0].like(newest.candidate); {
	case err != nil && !anything:
		a.Judgement, a.Reason = NotComparable, err.Error()
		return
	case len(before) < BaselineRuns || len(after) < BaselineRuns:
		a.Judgement = CannotTell
		a.Reason = fmt.Sprintf("%d runs in the baseline and %d since at this level, want %d of each", len(before), len(after), BaselineRuns)
		return
	}
	a.Change, a.P = h.Metric.change(a.Baseline.Median, a.Median), chanceOfTwo(before, after)
	switch {
	case a.P > changeLevel || !h.Metric.differ(a.Baseline.Median, a.Median):
		a.Judgement = NoneShown
	case h.Metric.better(a.Change):
		a.Judgement = Better
	default:
		a.Judgement = Worse
	}
}

// Subject is a variant of an experiment that runs are kept of.
type Subject struct {
	Experiment string `json:"experiment"`
	Variant    string `json:"variant,omitempty"`
	Runs       int64  `json:"runs"`
}

// Subjects are all of them, those with the newest runs first; of one experiment,
// if it is named.
func (s *Store) Subjects(ctx context.Context, experiment string) ([]Subject, error) {
	var c conditions
	if experiment != "" {
		c.add("r.experiment = ?", brief(experiment))
	}
	all, err := collect(ctx, s.read, func(rows *sql.Rows) (t Subject, err error) { return t, rows.Scan(&t.Experiment, &t.Variant, &t.Runs) },
		`SELECT r.experiment, r.variant, COUNT(*) FROM runs r`+c.where()+` GROUP BY r.experiment, r.variant ORDER BY MAX(r.started) DESC, r.experiment, r.variant`, c.args...)
	if err != nil {
		return nil, fmt.Errorf("list experiments: %w", err)
	}
	return all, nil
}
