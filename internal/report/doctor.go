package report

import (
	"io"

	"prony/internal/doctor"
)

// Examination writes what a look at a machine found: complaints with their
// reasons and remedies below them.
func Examination(w io.Writer, all []doctor.Check, style Style) error {
	p := &printer{w: w, style: style}
	marks := map[doctor.State][2]string{doctor.Good: {"✓", green}, doctor.Warn: {"!", yellow}, doctor.Bad: {"✗", red}, doctor.Unknown: {"?", dim}}
	p.line("")
	for _, c := range all {
		mark := marks[c.State]
		for i, line := range wrap(c.Found, p.style.text()-6) {
			if i == 0 {
				p.line("  %s %-15s %s", style.paint(mark[1], mark[0]), c.Name, line)
				continue
			}
			p.line("    %-15s %s", "", line)
		}
		if c.State != doctor.Warn && c.State != doctor.Bad {
			continue
		}
		for _, line := range wrap(c.Why, p.style.text()-6) {
			p.line("    %-15s %s", "", line)
		}
		p.line("    %-15s %s", "", style.paint(bold, c.Remedy))
	}
	p.line("")
	p.field("in all", "%s", map[doctor.State]string{doctor.Good: "fit to measure", doctor.Warn: "usable; results say where they may suffer",
		doctor.Bad: "not fit: numbers from here would be wrong"}[doctor.Worst(all)])
	return p.err
}
