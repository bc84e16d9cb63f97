package report

import (
	"fmt"
	"io"

	"prony/internal/compare"
	"prony/internal/unit"
)

// Noise writes the noise floor of a lab.
func Noise(w io.Writer, f *compare.Floor, style Style) error {
	p := &printer{w: w, style: style}
	p.line("")
	p.line("%s", style.paint(bold, fmt.Sprintf("  %-18s %6s %12s %24s  %s", "metric", "blocks", "run to run", "smallest change it shows", "against itself")))
	for _, m := range f.Metrics {
		p.line("  %-18s %6d %12s %24s  %s", short(m.Metric, 18), m.Pairs, unit.FormatPercent(m.CV), unit.FormatPercent(m.Floor), m.Verdict)
	}
	p.line("")
	if f.Sound {
		p.field("noise", "nothing was found to differ; a change below the smallest one that is shown cannot be told from none")
	} else {
		p.field("noise", "%s", style.paint(red, "not to be trusted: "+f.Why))
	}
	return p.err
}
