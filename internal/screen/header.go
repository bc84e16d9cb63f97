package screen

import (
	"cmp"
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"prony/internal/unit"
)

// views by the digits that choose them.
const (
	overview = iota
	servicesView
	threadsView
	trialsView
	views
)

func viewNames() [views]string { return [views]string{"overview", "services", "threads", "trials"} }

// header is the lines on top of each view: what runs, where it is, how far, and
// the views.
func (m *model) header(s *state) []string {
	w := m.width
	return []string{m.titleLine(s, w), m.trialLine(s, w), m.progressLine(s, w), m.tabs(s, w)}
}

// titleLine is the experiment with its question, and how the screen is.
func (m *model) titleLine(s *state, w int) string {
	t := m.theme
	status, style := t.dot+" running", t.good
	switch {
	case m.stopping > 0:
		status, style = t.dot+" stopping", t.bad
	case m.frozen != nil:
		status, style = t.dot+" paused, the run goes on", t.fair
	}
	name, question := "load", m.target()
	if p := m.config.Plan; p != nil {
		name, question = cmp.Or(p.Name, "experiment"), p.Question
	}
	room := max(w-width(status)-1, 1)
	title := t.cut("prony  "+t.clean(name), room)
	rest := t.left("  "+t.clean(question), max(room-width(title), 0))
	return t.title.Render(title) + rest + " " + style.Render(status)
}

// target is where a single load goes.
func (m *model) target() string {
	requests := m.config.Load.Requests
	switch {
	case len(requests) == 0:
		return ""
	case len(requests) == 1:
		return requests[0].URL
	}
	return fmt.Sprintf("%s and %d more", requests[0].URL, len(requests)-1)
}

// trialLine is the trial and what is done in it.
func (m *model) trialLine(s *state, w int) string {
	t := m.theme
	phase := t.clean(s.doing())
	if s.trial == nil {
		if phase == "" && m.config.Plan == nil {
			phase = t.clean(describe(m.config.Load))
		}
		return t.dim.Render(t.left(cmp.Or(phase, "prepares"), w))
	}
	digits := len(fmt.Sprint(s.trial.of))
	place := fmt.Sprintf("trial %*d/%d  block %d  ", digits, s.trial.number, s.trial.of, s.trial.trial.Block+1)
	variant := t.cut(t.clean(s.trial.trial.Variant), max(w/2-width(place), 8))
	room := max(w-width(place)-width(variant)-3, 0)
	return t.dim.Render(place) + t.bold.Render(variant) + t.dim.Render("  "+t.left(phase, room))
}

// progressLine is a bar with the share that is done, the time so far and the
// time that is left.
func (m *model) progressLine(s *state, w int) string {
	t := m.theme
	rest, done, ok := s.clock.left(s.now)
	if m.config.Plan == nil {
		rest, done, ok = s.ofLoad(m.config.Load)
	}
	left := "left " + none
	if ok {
		left = "left " + watch(rest)
		if p := m.config.Plan; p != nil && p.Repeat.Detect > 0 {
			left = "left " + watch(rest) + " at most"
		} else if p != nil {
			left = "left about " + watch(rest)
		}
	}
	figure := none
	if ok {
		figure = fmt.Sprintf("%3.0f%%", 100*done)
	}
	text := fmt.Sprintf("  %s  ran %7s  %19s", t.right(figure, 4), watch(s.now.Sub(s.start)), left)
	return t.bar(part{done, t.full, t.rate})(max(w-width(text), 0)) + text
}

// tabs names the views and marks the one that is shown.
func (m *model) tabs(s *state, w int) string {
	t := m.theme
	var b strings.Builder
	used := 0
	add := func(style lipgloss.Style, text string) {
		b.WriteString(style.Render(text))
		used += width(text)
	}
	for i, name := range viewNames() {
		add(t.dim, t.floor)
		if i == m.view {
			add(t.title, fmt.Sprintf("[%d %s]", i+1, name))
		} else {
			add(t.dim, fmt.Sprintf(" %d %s ", i+1, name))
		}
	}
	counts := ""
	if n := len(s.findings); n > 0 && w >= 70 {
		counts = " " + plural(n, "finding") + " "
	}
	b.WriteString(t.dim.Render(strings.Repeat(t.floor, max(w-used-width(counts)-1, 0)) + counts + t.floor))
	return b.String()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return unit.FormatCount(int64(n)) + " " + what + "s"
}
