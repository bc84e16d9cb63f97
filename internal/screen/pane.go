package screen

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
)

// pane is a part of a view. It is drawn into at most as many lines as it is
// given.
type pane struct {
	least, most int // lines; most 0: as many as there are
	empty       bool
	draw        func(width, height int) []string
}

// stack puts panes below each other. Each gets its least first, in order; then
// what is left goes to those that have a most, and the rest to the others.
func stack(panes []pane, w, h int) []string {
	heights := make([]int, len(panes))
	left, between := h, 0
	if h >= 30 {
		between = 1
		left -= len(panes) - 1
	}
	give := func(i, upTo int) {
		more := min(max(upTo-heights[i], 0), left)
		heights[i] += more
		left -= more
	}
	for i, p := range panes {
		give(i, p.least)
	}
	for i, p := range panes {
		give(i, p.most)
	}
	for i, p := range panes {
		if p.most == 0 {
			give(i, h)
		}
	}
	var all []string
	for i, p := range panes {
		if heights[i] < min(p.least, 2) {
			continue
		}
		if len(all) > 0 && between > 0 {
			all = append(all, "")
		}
		lines := p.draw(w, heights[i])
		all = append(all, lines[:min(len(lines), heights[i])]...)
		all = append(all, make([]string, max(heights[i]-len(lines), 0))...)
	}
	return all
}

// beside puts two columns of lines next to each other.
func beside(left, right []string, leftWidth, between, h int) []string {
	all := make([]string, 0, h)
	for i := range h {
		var l, r string
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		all = append(all, l+spaces(leftWidth-lipgloss.Width(l)+between)+r)
	}
	return all
}

// fit makes exactly h lines of at most w columns: nothing may wrap or scroll.
func fit(lines []string, w, h int) string {
	var b strings.Builder
	for i := range h {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i >= len(lines) {
			continue
		}
		line := lines[i]
		if lipgloss.Width(line) > w {
			line = lipgloss.NewStyle().MaxWidth(w).Render(line)
		}
		b.WriteString(line)
	}
	return b.String()
}

// listed is a pane of a table. Where it has no room for all rows, its name says
// how many more there are.
func (t *theme) listed(all table, most int) pane {
	draw := func(w, h int) []string {
		if more := len(all.rows) + 1 - h; more > 0 && h > 1 && all.columns[0].grow > 0 {
			all.columns[0].title += fmt.Sprintf(" +%d", more)
			all.rows = all.rows[:h-1]
		}
		lines := all.lines(t, w)
		if len(all.rows) == 0 {
			lines = append(lines, t.dim.Render(none))
		}
		return lines
	}
	return pane{least: 2, most: min(max(len(all.rows), 1)+1, most), empty: len(all.rows) == 0, draw: draw}
}

// scrolled is some of the lines, from an offset on, with what it could be and
// where that is; "" if all of them are there.
func (t *theme) scrolled(lines []string, offset, h int) (shown []string, at int, place string) {
	if len(lines) <= h {
		return lines, 0, ""
	}
	at = min(max(offset, 0), len(lines)-h)
	return lines[at : at+h], at, fmt.Sprintf("%d to %d of %d", at+1, at+h, len(lines))
}
