package screen

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"prony/internal/result"
)

// wideFrom is the width that has room for two columns of panes.
const wideFrom = 160

// body is the part of the screen below the header.
func (m *model) body(s *state, w, h int) []string {
	if m.help {
		return m.theme.helpLines(m.keys)
	}
	switch m.view {
	case servicesView:
		return m.listing(m.watched(s, w), h)
	case threadsView:
		all := s.of(result.OfThread)
		return m.below(len(all), 1, h, func(from, to int) []string { return m.theme.threads(all[from:to]).lines(m.theme, w) })
	case trialsView:
		per := 1
		if w < remarkFrom && slices.ContainsFunc(s.rows, row.remarked) {
			per = 2
		}
		return m.below(len(s.rows), per, h, func(from, to int) []string {
			return m.theme.remarked(s.newest(from, to), s.baseRate(m.config.Plan), per, w)
		})
	}
	return m.overview(s, w, h)
}

// overview is all panes, as far as there is room.
func (m *model) overview(s *state, w, h int) []string {
	t := m.theme
	load := t.load(s, s.load(m.config.Load))
	if w < wideFrom {
		panes := append([]pane{load}, m.tables(t.listed(t.hosts(s), 9), t.listed(t.services(s), 13))...)
		panes = append(panes, m.findings(s, w, max(h/5, 4)))
		return stack(append(panes, m.done(s, h, max(h/4, 4))...), w, h)
	}
	half := (w - fieldGap) / 2
	left := stack([]pane{load, m.findings(s, half, h/3)}, half, h)
	right := m.tables(t.listed(t.hosts(s), 9), t.listed(t.services(s), 13), t.listed(t.threads(s.of(result.OfThread)), max(h/3, 2)))
	return beside(left, stack(append(right, m.done(s, h, max(h/4, 2))...), w-half-fieldGap, h), half, fieldGap, h)
}

// tables are some panes, without those that are empty beside a single load: on
// that nothing may be watched.
func (m *model) tables(all ...pane) []pane {
	if m.config.Plan != nil {
		return all
	}
	return slices.DeleteFunc(all, func(p pane) bool { return p.empty })
}

// findings is the pane of what fired; the arrows scroll it.
func (m *model) findings(s *state, w, most int) pane {
	t := m.theme
	lines := t.found(s, w)
	none := len(lines) == 0
	if none {
		for _, line := range t.wrapped(m.without(), max(w, 1)) {
			lines = append(lines, t.dim.Render(line))
		}
	}
	draw := func(w, h int) []string {
		shown, at, place := t.scrolled(lines, m.offsets[overview], max(h-1, 1))
		m.offsets[overview] = at
		if none {
			place = ""
		}
		return append([]string{t.findingsHead(s, place, w)}, shown...)
	}
	return pane{least: 2, most: min(max(len(lines), 1)+1, max(most, 2)), draw: draw}
}

// findingsHead is the title, with what the live figures say already.
func (t *theme) findingsHead(s *state, place string, w int) string {
	const title = "FINDINGS"
	room := w - len(title)
	var b strings.Builder
	b.WriteString(t.title.Render(t.cut(title, w)))
	add := func(style lipgloss.Style, text string) {
		if text = t.cut("  "+t.clean(text), max(room, 0)); room > 8 {
			b.WriteString(style.Render(text))
			room -= width(text)
		}
	}
	if place != "" {
		add(t.dim, place)
	}
	if limit := s.limited(); limit != "" {
		add(t.fair, "limited now by: "+limit)
	}
	if noise := s.disturbed(); noise != "" {
		add(t.bad, "noisy: "+noise)
	}
	return b.String()
}

// done is the pane of the trials that are done; a single load has none.
func (m *model) done(s *state, h, most int) []pane {
	if m.config.Plan == nil {
		return nil
	}
	return []pane{m.theme.listed(m.theme.trials(s.newest(0, min(len(s.rows), h)), s.baseRate(m.config.Plan)), most)}
}

// watched is the lines of everything that is watched, as tables.
func (m *model) watched(s *state, w int) []string {
	t := m.theme
	var all []string
	for i, one := range []table{t.hosts(s), t.services(s), t.machines(s), t.pools(s), t.servers(s), t.links(s)} {
		if len(one.rows) == 0 && i > 1 {
			continue
		}
		if len(all) > 0 {
			all = append(all, "")
		}
		all = append(all, one.lines(t, w)...)
		if len(one.rows) == 0 {
			all = append(all, t.dim.Render(none))
		}
	}
	return all
}

// listing shows lines from where the view was scrolled to.
func (m *model) listing(lines []string, h int) []string {
	shown, at, place := m.theme.scrolled(lines, m.offsets[m.view], max(h-1, 1))
	m.offsets[m.view] = at
	if place == "" {
		return shown
	}
	return append(shown[:len(shown):len(shown)], m.theme.dim.Render("lines "+place))
}

// below shows n rows below their head, which stays; each takes some lines. Only
// those that are seen are made: there may be many.
func (m *model) below(n, per, h int, some func(from, to int) []string) []string {
	t, offset := m.theme, &m.offsets[m.view]
	room := max((h-1)/per, 1)
	if n <= room {
		*offset = 0
		lines := some(0, n)
		if n == 0 {
			lines = append(lines, t.dim.Render(none))
		}
		return lines
	}
	room = max((h-2)/per, 1)
	*offset = min(*offset, n-room)
	place := fmt.Sprintf("rows %d to %d of %d", *offset+1, *offset+room, n)
	return append(some(*offset, *offset+room), t.dim.Render(place))
}
