package screen

import (
	"fmt"
	"math"
	"strings"

	"charm.land/lipgloss/v2"

	"prony/internal/plan"
	"prony/internal/unit"
)

// field is a number with its name.
type field struct {
	name  string
	value cell
}

// Widths of a field, and of the gap behind it.
const (
	fieldName  = 9
	fieldValue = 8
	fieldGap   = 3
)

// load is the pane of the load: numbers of the last interval, and charts.
func (t *theme) load(s *state, l plan.Load) pane {
	draw := func(w, h int) []string {
		lines := []string{t.loadHead(s, l, w)}
		lines = append(lines, t.fields(t.figures(s), w)...)
		if plot := h - len(lines); plot >= 3 {
			lines = append(lines, t.charts(s, w, plot)...)
		}
		return lines
	}
	return pane{least: 8, draw: draw}
}

// loadHead names the load, and says which part of it runs.
func (t *theme) loadHead(s *state, l plan.Load, w int) string {
	stage, style := "waits for its first interval", t.dim
	switch {
	case s.lastAt.IsZero():
	case s.last.drain:
		stage, style = "draining", t.fair
	case s.last.warm:
		stage, style = "warm-up", t.fair
	default:
		stage, style = "measuring", t.good
	}
	name := t.left("LOAD", 6)
	about := t.clean(describe(l))
	if s.trial != nil {
		about = t.clean(strings.Join(append(asked(l), about), ", "))
	}
	return t.title.Render(name) + t.dim.Render(t.left(about, max(w-width(name)-width(stage)-1, 0))) + " " + style.Render(stage)
}

// asked names what is requested: "GET gateway/"; of several the first.
func asked(l plan.Load) []string {
	if len(l.Requests) == 0 {
		return nil
	}
	q := l.Requests[0]
	where := q.URL
	if q.Service != "" {
		_, rest, _ := strings.Cut(q.URL, "://")
		_, path, _ := strings.Cut(rest, "/")
		where = q.Service + "/" + path
	}
	if n := len(l.Requests) - 1; n > 0 {
		where += fmt.Sprintf(" and %d more", n)
	}
	return []string{strings.TrimSpace(q.Method + " " + where)}
}

// describe is the load model in a line.
func describe(l plan.Load) string {
	var parts []string
	if l.Name != "" {
		parts = append(parts, l.Name)
	}
	if l.Model != "" {
		parts = append(parts, string(l.Model)+" model")
	}
	if l.Connections > 0 {
		parts = append(parts, plural(l.Connections, "connection"))
	}
	if l.Threads > 0 {
		parts = append(parts, plural(l.Threads, "thread"))
	}
	if l.Duration > 0 {
		parts = append(parts, "for "+unit.FormatDuration(l.Duration))
	} else if l.Count > 0 {
		parts = append(parts, plural(int(l.Count), "request"))
	}
	return strings.Join(parts, ", ")
}

// figures are the numbers of the newest interval, and the counts so far.
func (t *theme) figures(s *state) []field {
	p, known := s.last, !s.lastAt.IsZero()
	say := func(style lipgloss.Style, text string) cell {
		if !known {
			text = none
		}
		return t.figure(style, text)
	}
	alarm := func(bad bool) lipgloss.Style {
		if bad {
			return t.bad
		}
		return t.plain
	}
	failed := math.NaN()
	if all := p.completed + p.fail; all > 0 {
		failed = float64(p.fail) / float64(all)
	} else if known {
		failed = 0
	}
	return []field{{"requests", say(t.bold, si(p.rate)+"/s")}, {"p50", say(t.middle, t.span(p.p50))}, {"p99", say(t.tail, t.span(p.p99))},
		{"max", say(t.plain, t.span(p.most))}, {"in flight", say(t.plain, whole(p.flight))}, {"open", say(t.plain, whole(int64(p.open)))},
		{"errors", say(alarm(p.fail > 0), whole(p.fail))}, {"failed", say(alarm(p.fail > 0), share(failed))},
		{"lag p99", say(t.plain, t.span(p.lag))}, {"received", say(t.plain, si(p.received)+"B/s")},
		{"errors/s", say(alarm(p.errors > 0), si(p.errors))}, {"generator", t.generator(p, known)}}
}

// generator is how busy it is: a number and, where there is room, a bar.
func (t *theme) generator(p point, known bool) cell {
	if !known || p.busy < 0 {
		return t.number(none)
	}
	text := t.figure(t.graded(p.busy), share(p.busy))
	return func(w int) string {
		if w < 16 {
			return text(w)
		}
		return text(6) + " " + t.gauge(p.busy)(w-7)
	}
}

// fields puts numbers into columns, as many a line as fit: 4, 6 or 12.
func (t *theme) fields(all []field, w int) []string {
	per := 4
	switch {
	case w < 4*(fieldName+fieldValue)+3*fieldGap:
		per = max(w/(fieldName+fieldValue+fieldGap), 1)
	case w >= 12*(fieldName+fieldValue+fieldGap):
		per = 12
	case w >= 6*(fieldName+fieldValue)+5*fieldGap:
		per = 6
	}
	var lines []string
	for len(all) > 0 {
		n := min(per, len(all))
		var b strings.Builder
		for i, f := range all[:n] {
			if i > 0 {
				b.WriteString(spaces(fieldGap))
			}
			b.WriteString(t.dim.Render(t.left(f.name, fieldName)) + f.value(fieldValue))
		}
		lines = append(lines, b.String())
		all = all[n:]
	}
	return lines
}

// charts draws the rate and the times, side by side where that leaves room for
// both, else one above the other where the height does.
func (t *theme) charts(s *state, w, h int) []string {
	from, to := s.span()
	p := picture{theme: t, points: s.points, from: from, to: to}
	plot := func(w, h int) *picture {
		q := p
		q.w, q.h = w-labelWidth-1, h
		return &q
	}
	rate := fmt.Sprintf("%srequests/s", spaces(labelWidth+1))
	times := fmt.Sprintf("%sresponse time (log), p99 over p50", spaces(labelWidth+1))
	titled := func(title string, w, h int, draw func(*picture) []string) []string {
		if h < 6 { // no room for a title
			return draw(plot(w, max(h-1, 1)))
		}
		return append([]string{t.dim.Render(t.left(title, w))}, draw(plot(w, h-2))...)
	}
	switch half := (w - fieldGap) / 2; {
	case w < 40:
		return titled(rate, max(w, labelWidth+2), h, (*picture).rates)
	case h >= 18 && w < 150:
		return append(titled(rate, w, h/2, (*picture).rates), titled(times, w, h-h/2, (*picture).times)...)
	default:
		return beside(titled(rate, half, h, (*picture).rates), titled(times, half, h, (*picture).times), half, fieldGap, h)
	}
}
