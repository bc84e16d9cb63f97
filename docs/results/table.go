package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"prony/internal/result"
	"prony/internal/stats"
	"prony/internal/unit"
)

// ours is what was measured of an experiment: a row for each variant, the
// services, verdicts with their reasons, and what was used up.
func (b *Book) ours(name string) (string, error) {
	s, err := b.summary(name)
	if err != nil {
		return "", err
	}
	var t strings.Builder
	if s.Note != "" {
		fmt.Fprintf(&t, "On this machine: %s. ", s.Note)
	}
	fmt.Fprintf(&t, "Taken %s, `experiments/%s.yaml`.\n\n", s.Day, s.Name)
	if n := s.usable(); n < len(s.Trials) {
		fmt.Fprintf(&t, "**%d of %d trials can be used**; the figures of the others count for nothing and are shown for the record.\n\n", n, len(s.Trials))
	}
	t.WriteString("| variant | trials | requests/s | × base | p50 | p99 | failed | verdict |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n")
	for _, v := range s.Variants {
		s.row(&t, v)
	}
	t.WriteString("\n| variant | service | CPU for a request | memory | held back | counted by itself |\n| --- | --- | ---: | ---: | ---: | ---: |\n")
	for _, v := range s.Variants {
		s.services(&t, v)
	}
	s.reasons(&t)
	return t.String(), nil
}

// usable is how many trials are not invalid.
func (s Summary) usable() (n int) {
	for _, t := range s.Trials {
		if t.Error == "" && t.Verdict != result.Invalid {
			n++
		}
	}
	return n
}

// row writes the figures of a variant.
func (s Summary) row(t *strings.Builder, variant string) {
	trials, of := s.counting(variant)
	if len(trials) == 0 {
		fmt.Fprintf(t, "| %s | 0 | no result | | | | | |\n", label(variant))
		return
	}
	base, _ := s.counting(s.Baseline)
	times := "–"
	if len(base) > 0 {
		times = fmt.Sprintf("%.2f", stats.Median(over(trials, rateOf))/stats.Median(over(base, rateOf)))
	}
	n := fmt.Sprint(len(trials))
	var failed int64
	verdict := result.Valid
	if of > len(trials) {
		n, verdict = fmt.Sprintf("%d of %d", len(trials), of), result.Suspect
	}
	for _, x := range trials {
		failed += x.Failed
		verdict = result.Worse(verdict, x.Verdict)
	}
	median := func(of func(Trial) float64) string {
		if m := stats.Median(over(trials, of)); m > 0 {
			return span(m)
		}
		return "–" // another program did not print it
	}
	fmt.Fprintf(t, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", label(variant), n, ranged(over(trials, rateOf), whole), times,
		median(func(x Trial) float64 { return x.P50 }), median(func(x Trial) float64 { return x.P99 }), unit.FormatCount(failed), verdict)
}

// label is a variant's name in a cell.
func label(variant string) string { return "`" + cell(variant) + "`" }

// services writes what each service of a variant cost, and the generator.
func (s Summary) services(t *strings.Builder, variant string) {
	trials, _ := s.counting(variant)
	if len(trials) == 0 {
		return
	}
	for _, x := range trials[0].Services {
		of := func(get func(Service) float64) []float64 {
			return over(trials, func(y Trial) float64 { return get(y.service(x.Name)) })
		}
		cost := of(func(y Service) float64 { return y.CPU })
		if stats.Median(cost) < 0.5 {
			continue // it was not asked
		}
		name := x.Name
		if x.Instances > 1 {
			name = fmt.Sprintf("%d × %s", x.Instances, x.Name)
		}
		counted := "–"
		if c := stats.Median(of(func(y Service) float64 { return y.Counted })); c > 0 {
			counted = unit.FormatPercent(c)
		}
		fmt.Fprintf(t, "| %s | %s | %s | %s | %s | %s |\n", label(variant), name, ranged(cost, micros),
			unit.FormatSize(stats.Median(of(func(y Service) float64 { return float64(y.Memory) }))),
			unit.FormatPercent(stats.Median(of(func(y Service) float64 { return y.Throttled }))), counted)
	}
	fmt.Fprintf(t, "| %s | generator | %s | | | |\n", label(variant), ranged(over(trials, func(y Trial) float64 { return y.Generator }), micros))
}

// reasons says what was used up, and why trials are suspect or invalid.
func (s Summary) reasons(t *strings.Builder) {
	t.WriteString("\nWhy not double:\n\n")
	for _, v := range s.Variants {
		trials, _ := s.counting(v)
		count := map[string]int{}
		best := ""
		for _, x := range trials {
			if x.Limit != "" {
				count[x.Limit]++
			}
			if count[x.Limit] > count[best] {
				best = x.Limit
			}
		}
		if best != "" {
			fmt.Fprintf(t, "- %s: %s\n", label(v), best)
		}
	}
	if len(s.Findings) == 0 {
		return
	}
	t.WriteString("\nWhat lowered verdicts (the first message of each rule):\n\n")
	for _, rule := range slices.Sorted(maps.Keys(s.Findings)) {
		n := 0
		for _, x := range s.Trials {
			if slices.Contains(x.Rules, rule) {
				n++
			}
		}
		fmt.Fprintf(t, "- %s, %d of %d trials: %s\n", rule, n, len(s.Trials), s.Findings[rule])
	}
}

// machine names the machine that an experiment was measured on.
func (b *Book) machine(name string) (string, error) {
	s, err := b.summary(name)
	m := s.Machine
	return fmt.Sprintf("%d cores (%s, a virtual machine), %s, Linux %s, %s", m.CPUs, m.CPU, unit.FormatSize(float64(m.Memory)), m.Kernel, m.System), err
}

// census counts the trials of all experiments, and those that can be used.
func (b *Book) census() string {
	all, good := 0, 0
	for _, s := range b.summaries {
		all += len(s.Trials)
		good += s.usable()
	}
	return fmt.Sprintf("%d of %d trials here can be used", good, all)
}
