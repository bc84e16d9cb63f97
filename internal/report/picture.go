package report

import (
	"math"
	"strings"
	"time"

	"prony/internal/hdr"
	"prony/internal/unit"
)

const (
	pictureRows  = 14
	pictureWidth = 50
)

// picture draws a latency histogram with bars over steps of 1, 2 and 5.
func (p *printer) picture(h *hdr.Histogram) {
	if h == nil || h.Count() == 0 {
		return
	}
	p.line("")
	p.line("  %s", p.style.paint(bold, "Response time"))
	width := pictureWidth
	if p.style.narrow() {
		width = min(width, max(p.style.Width-26, 10))
	}
	steps := steps(h.Value(1), h.Max())
	counts := make([]int64, len(steps))
	for cell, n := range h.Cells() {
		counts[below(steps, cell.Highest)] += n
	}
	var most int64
	for _, n := range counts {
		most = max(most, n)
	}
	for i, n := range counts {
		share := float64(n) / float64(h.Count())
		text := unit.FormatPercent(share)
		if n == 0 {
			text = ""
		}
		p.line("  ≤ %8s %-*s %s", unit.FormatDuration(time.Duration(steps[i])), width, bar(float64(n)/float64(most), width), text)
	}
}

// below is the first step that is not less than v.
func below(steps []int64, v int64) int {
	for i, s := range steps {
		if v <= s {
			return i
		}
	}
	return len(steps) - 1
}

// steps are round upper bounds from low to high, at most pictureRows of them:
// the factors are 1, 2, 5 in each decade, or whole decades over a wide range.
func steps(low, high int64) []int64 {
	all := climb(low, high, []float64{1, 1.5, 2, 3, 5, 7})
	if len(all) > pictureRows {
		all = climb(low, high, []float64{1, 2, 5})
	}
	if len(all) > pictureRows {
		all = climb(low, high, []float64{1})
	}
	return all
}

func climb(low, high int64, factors []float64) []int64 {
	decade := math.Pow(10, math.Floor(math.Log10(math.Max(float64(low), 1))))
	var all []int64
	for {
		for _, f := range factors {
			v := int64(math.Round(decade * f))
			if v < low {
				continue
			}
			all = append(all, v)
			if v >= high {
				return all
			}
		}
		decade *= 10
	}
}

var eighths = []rune(" ▏▎▍▌▋▊▉")

// bar draws a share of the width in eighths of a letter, at least one for
// anything above nothing.
func bar(share float64, width int) string {
	n := int(math.Round(share * float64(width*8)))
	if share > 0 {
		n = max(n, 1)
	}
	s := strings.Repeat("█", n/8)
	if n%8 > 0 {
		s += string(eighths[n%8])
	}
	return s
}
