package main

import (
	"fmt"
	"math"
	"slices"
)

// spread is the median of a few values with their extremes.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	N      int     `json:"n"`
}

// spreadOf summarises values; none gives the zero spread.
func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	v := slices.Sorted(slices.Values(values))
	mid := len(v) / 2
	median := v[mid]
	if len(v)%2 == 0 {
		median = (v[mid-1] + v[mid]) / 2
	}
	return spread{Median: median, Min: v[0], Max: v[len(v)-1], N: len(v)}
}

// ratio prints a spread of ratios: "1.43 (1.40–1.48)".
func (s spread) ratio() string {
	switch {
	case s.N == 0:
		return "–"
	case s.N == 1:
		return fmt.Sprintf("%.2f", s.Median)
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Median, s.Min, s.Max)
}

// perRound divides the figures of two generators, round by round; a round
// that one of them lacks is left out.
func perRound(variant, reference []sample, figure func(sample) float64) []float64 {
	var all []float64
	for _, v := range variant {
		for _, r := range reference {
			if q := figure(v) / figure(r); v.Round == r.Round && !math.IsNaN(q) && !math.IsInf(q, 0) {
				all = append(all, q)
			}
		}
	}
	return all
}

// over collects a figure of all samples.
func over(all []sample, figure func(sample) float64) []float64 {
	values := make([]float64, len(all))
	for i, s := range all {
		values[i] = figure(s)
	}
	return values
}
