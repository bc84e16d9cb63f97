package report

import (
	"fmt"
	"strings"

	"prony/internal/result"
)

// curves say how throughput grows along each axis of numbers, and whether the
// goals over variants are met.
func (p *printer) curves(e *result.Experiment) {
	for _, c := range e.Curves {
		var steps []string
		for _, at := range c.Points {
			steps = append(steps, fmt.Sprintf("%.3g at %g", at.Efficiency, at.Value))
		}
		name := c.Axis
		if c.Group != "" {
			name += " with " + c.Group
		}
		text := fmt.Sprintf("%s: throughput per unit, relative to the first: %s", name, strings.Join(steps, ", "))
		if c.Knee > 0 {
			text += fmt.Sprintf("; the knee is at about %g", c.Knee)
		}
		p.field("scaling", "%s", text)
		p.law(c.Fit)
	}
	for _, g := range e.Goals {
		mark, colour := "missed", red
		if g.Met {
			mark, colour = "met", green
		}
		p.field("goal", "%s  %s: %s", p.style.paint(colour, mark), g.Text, g.Reason)
	}
}

// law prints the scalability law where it may be used.
func (p *printer) law(f *result.CurveFit) {
	if f == nil || f.Unproven != "" {
		return
	}
	text := fmt.Sprintf("scalability law: contention %.3g%%, coherency %.3g%%", 100*f.Alpha, 100*f.Beta)
	if f.PeakAt > 0 {
		text += fmt.Sprintf(", highest throughput at about %.3g", f.PeakAt)
	}
	p.field("", "%s", text)
}
