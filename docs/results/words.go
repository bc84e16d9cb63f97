package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"prony/internal/result"
	"prony/internal/stats"
	"prony/internal/unit"
)

// judged lists what the audit says against some published results; what it says
// of several in the same words stands once.
func (b *Book) judged(ids ...string) (string, error) {
	var heads, texts []string
	for _, id := range ids {
		j, ok := b.result(id)
		if !ok {
			return "", fmt.Errorf("no published result %s", id)
		}
		for _, f := range j.Validity.Findings {
			text := fmt.Sprintf("**%s** %s: %s", f.Severity, f.ID, f.Message)
			if i := slices.Index(texts, text); i >= 0 {
				heads[i] += ", " + id
			} else if lowers(f) {
				heads, texts = append(heads, id), append(texts, text)
			}
		}
	}
	var t strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&t, "- %s %s\n", heads[i], text)
	}
	return t.String(), nil
}

func findings(t *strings.Builder, id string, v result.Validity) {
	for _, f := range v.Findings {
		if lowers(f) {
			fmt.Fprintf(t, "- %s **%s** %s: %s\n", id, f.Severity, f.ID, f.Message)
		}
	}
}

// pairs lists what the audit says against comparisons of published results that
// begin with the text.
func (b *Book) pairs(prefix string) string {
	var t strings.Builder
	for _, p := range b.audit.Pairs {
		if strings.HasPrefix(p.A, prefix) || strings.HasPrefix(p.B, prefix) {
			findings(&t, p.A+" and "+p.B, p.Validity)
		}
	}
	return t.String()
}

// claims lists the published conclusions about results that begin with the text,
// and what the audit says to them.
func (b *Book) claims(prefix string) string {
	var t strings.Builder
	for _, c := range b.audit.Claims {
		if !strings.HasPrefix(c.Text, prefix) {
			continue
		}
		fmt.Fprintf(&t, "- \"%s\": %s\n", c.Text, c.Validity.Verdict)
		for _, f := range c.Validity.Findings {
			if lowers(f) {
				fmt.Fprintf(&t, "  - %s: %s\n", f.ID, f.Message)
			}
		}
	}
	return t.String()
}

// has reports whether an experiment was measured.
func (b *Book) has(name string) bool {
	_, ok := b.summaries[name]
	return ok
}

func (b *Book) summary(name string) (Summary, error) {
	s, ok := b.summaries[name]
	if !ok {
		return s, fmt.Errorf("no summary data/%s.json", name)
	}
	return s, nil
}

// counting are the trials of a variant that count: without the invalid ones,
// unless there are no others.
func (s Summary) counting(variant string) (good []Trial, of int) {
	var all []Trial
	for _, t := range s.Trials {
		if t.Variant == variant && t.Error == "" {
			all = append(all, t)
		}
	}
	for _, t := range all {
		if t.Verdict != result.Invalid {
			good = append(good, t)
		}
	}
	if len(good) == 0 {
		good = all
	}
	return good, len(all)
}

// variant are the trials of the only variant whose name contains all the words.
func (b *Book) variant(name, words string) ([]Trial, error) {
	s, err := b.summary(name)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, v := range s.Variants {
		parts := strings.Fields(v)
		if !slices.ContainsFunc(strings.Fields(words), func(w string) bool { return !slices.Contains(parts, w) }) {
			found = append(found, v)
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%s: %d variants with %q, want 1: %q", name, len(found), words, s.Variants)
	}
	trials, _ := s.counting(found[0])
	if len(trials) == 0 {
		return nil, fmt.Errorf("%s: no trial of %s", name, found[0])
	}
	return trials, nil
}

// coldFrom is the share of a service's CPU from which on what its compiler uses
// is more than an error of its cost.
const coldFrom = 0.25

// counts reports whether a text may conclude something from some variants of an
// experiment: it was measured, some trial of each is not invalid, and of those
// that count not even half, on which a median would rest, were of virtual machines
// that were cold.
func (b *Book) counts(name string, words ...string) (bool, error) {
	if !b.has(name) {
		return false, nil
	}
	for _, w := range words {
		trials, err := b.variant(name, w)
		if err != nil {
			return false, err
		}
		invalid := slices.ContainsFunc(trials, func(t Trial) bool { return t.Verdict == result.Invalid })
		if invalid || stats.Median(over(trials, func(t Trial) float64 { return t.Compiling })) > coldFrom {
			return false, nil
		}
	}
	return true, nil
}

// over is a figure of each trial.
func over(trials []Trial, of func(Trial) float64) []float64 {
	var all []float64
	for _, t := range trials {
		all = append(all, of(t))
	}
	return all
}

// ranged is the median with the range, or with the interval where the trials
// are enough for 95%.
func ranged(values []float64, show func(float64) string) string {
	if len(values) == 1 {
		return show(values[0])
	}
	i := stats.MedianInterval(values)
	if i.Coverage == 0 {
		return fmt.Sprintf("%s (%s–%s)", show(stats.Median(values)), show(i.Low), show(i.High))
	}
	return fmt.Sprintf("%s [%s–%s]", show(stats.Median(values)), show(i.Low), show(i.High))
}

// marked puts a dagger behind a figure of trials that are invalid: it is shown
// for the record, and the page says so.
func marked(text string, trials ...Trial) string {
	if slices.ContainsFunc(trials, func(t Trial) bool { return t.Verdict == result.Invalid }) {
		return text + " †"
	}
	return text
}

func rateOf(t Trial) float64 { return t.Rate }

func whole(x float64) string {
	return unit.FormatCount(int64(x + 0.5))
}

func micros(x float64) string {
	if x >= 1000 {
		return fmt.Sprintf("%.2g ms", x/1000)
	}
	return fmt.Sprintf("%.3g µs", x)
}

func span(us float64) string {
	return unit.FormatDuration(time.Duration(us * float64(time.Microsecond)))
}

// rate is the median rate of a variant.
func (b *Book) rate(name, words string) (string, error) {
	trials, err := b.variant(name, words)
	return marked(whole(stats.Median(over(trials, rateOf))), trials...), err
}

// p99 is the median p99 of a variant.
func (b *Book) p99(name, words string) (string, error) {
	return b.latency(name, words, func(t Trial) float64 { return t.P99 })
}

// p50 is the median of the medians of a variant.
func (b *Book) p50(name, words string) (string, error) {
	return b.latency(name, words, func(t Trial) float64 { return t.P50 })
}

func (b *Book) latency(name, words string, of func(Trial) float64) (string, error) {
	trials, err := b.variant(name, words)
	if err != nil {
		return "", err
	}
	middle := stats.Median(over(trials, of))
	if middle == 0 {
		return marked("–", trials...), nil // another program did not print it
	}
	return marked(span(middle), trials...), nil
}

// times is how many times the rate of the first the second has: the median and
// the range over the blocks that hold both.
func (b *Book) times(name, first, second string) (string, error) {
	return b.ratio(name, first, second, rateOf)
}

// costs is how many times the CPU for a request of the service the second has.
func (b *Book) costs(name, service, first, second string) (string, error) {
	return b.ratio(name, first, second, func(t Trial) float64 { return t.service(service).CPU })
}

func (b *Book) ratio(name, first, second string, of func(Trial) float64) (string, error) {
	x, err := b.variant(name, first)
	if err != nil {
		return "", err
	}
	y, err := b.variant(name, second)
	if err != nil {
		return "", err
	}
	var ratios []float64
	for _, a := range x {
		for _, c := range y {
			if a.Block == c.Block && of(a) > 0 {
				ratios = append(ratios, of(c)/of(a))
			}
		}
	}
	if len(ratios) == 0 {
		ratios = append(ratios, stats.Median(over(y, of))/stats.Median(over(x, of)))
	}
	return marked(ranged(ratios, func(v float64) string { return fmt.Sprintf("%.2f", v) }), append(x, y...)...), nil
}

func (t Trial) service(name string) Service {
	for _, s := range t.Services {
		if s.Name == name {
			return s
		}
	}
	return Service{}
}

// cpu is the CPU for a request of a service in a variant.
func (b *Book) cpu(name, service, words string) (string, error) {
	trials, err := b.variant(name, words)
	return marked(ranged(over(trials, func(t Trial) float64 { return t.service(service).CPU }), micros), trials...), err
}

// compiling is the largest share of its CPU that a compiler used in the trials
// that count.
func (b *Book) compiling(name string) (string, error) {
	s, err := b.summary(name)
	most := 0.0
	for _, v := range s.Variants {
		trials, _ := s.counting(v)
		for _, t := range trials {
			most = max(most, t.Compiling)
		}
	}
	return unit.FormatPercent(most), err
}

// effort is the CPU of the generator for a request in a variant.
func (b *Book) effort(name, words string) (string, error) {
	trials, err := b.variant(name, words)
	return marked(ranged(over(trials, func(t Trial) float64 { return t.Generator }), micros), trials...), err
}

// busy is how many cores the generator used in a variant.
func (b *Book) busy(name, words string) (string, error) {
	trials, err := b.variant(name, words)
	return marked(ranged(over(trials, func(t Trial) float64 { return t.Busy }), func(x float64) string { return fmt.Sprintf("%.2f", x) }), trials...), err
}

// note is what was changed against the file.
func (b *Book) note(name string) (string, error) {
	s, err := b.summary(name)
	return s.Note, err
}
