package screen

import (
	"math"
	"strings"

	"charm.land/lipgloss/v2"
)

// column is a column of a table. Its width does not depend on what is in it, so
// that nothing jumps.
type column struct {
	title string
	short string // title where that has no room
	width int    // least
	grow  int    // share of the columns that are left
	most  int    // 0: no bound
	right bool
	from  int // least width of the table that shows it
}

// cell draws itself, exactly as wide as it is told.
type cell func(width int) string

// table is what most panes are: a head and rows of cells.
type table struct {
	columns []column
	rows    [][]cell
}

// label is a text, from the left.
func (t *theme) label(style lipgloss.Style, s string) cell {
	s = t.clean(s)
	return func(w int) string { return style.Render(t.left(s, w)) }
}

// figure is a number, from the right.
func (t *theme) figure(style lipgloss.Style, s string) cell {
	return func(w int) string {
		if s == none {
			return t.dim.Render(t.right(s, w))
		}
		return style.Render(t.right(s, w))
	}
}

// number is a figure without a colour.
func (t *theme) number(s string) cell { return t.figure(t.plain, s) }

// part is a piece of a bar.
type part struct {
	share float64
	mark  string
	style lipgloss.Style
}

// bar is a stacked bar; all of it is a share of 1.
func (t *theme) bar(parts ...part) cell {
	return func(w int) string {
		var b strings.Builder
		sum, drawn := 0.0, 0
		for _, p := range parts {
			if p.share > 0 { // not NaN
				sum += p.share
			}
			to := min(int(math.Round(sum*float64(w))), w)
			if to > drawn {
				b.WriteString(p.style.Render(strings.Repeat(p.mark, to-drawn)))
				drawn = to
			}
		}
		return b.String() + t.dim.Render(strings.Repeat(t.empty, max(w-drawn, 0)))
	}
}

// gauge is a bar of one share, in the colour of how much it is.
func (t *theme) gauge(ratio float64) cell { return t.bar(part{ratio, t.full, t.graded(ratio)}) }

// gap is between two columns.
func gap(w int) int {
	if w < 100 {
		return 1
	}
	return 2
}

// fitted are the columns that a width shows, with their widths: from the front
// as many as have room, and what is left is given to those that grow.
func (t table) fitted(w int) (shown []int, widths []int) {
	left := w
	for i, c := range t.columns {
		need := c.width
		if len(shown) > 0 {
			need += gap(w)
		}
		if w < c.from || need > left && len(shown) > 0 {
			continue
		}
		left -= need
		shown, widths = append(shown, i), append(widths, min(c.width, w))
	}
	for given := true; given && left > 0; {
		given = false
		for k, i := range shown {
			c := t.columns[i]
			more := min(c.grow, left)
			if c.most > 0 {
				more = min(more, c.most-widths[k])
			}
			if more > 0 {
				widths[k] += more
				left -= more
				given = true
			}
		}
	}
	return shown, widths
}

func (c column) heading(th *theme, w int) string {
	title := c.title
	if c.short != "" && width(title) > w {
		title = c.short
	}
	if c.right {
		return th.right(title, w)
	}
	return th.left(title, w)
}

// lines draws the table: its head, then the rows.
func (t table) lines(th *theme, w int) []string {
	shown, widths := t.fitted(w)
	between := spaces(gap(w))
	var head strings.Builder
	for k, i := range shown {
		c := t.columns[i]
		style := th.dim
		if k == 0 {
			style = th.title
		} else {
			head.WriteString(between)
		}
		head.WriteString(style.Render(c.heading(th, widths[k])))
	}
	all := []string{head.String()}
	for _, row := range t.rows {
		var b strings.Builder
		for k, i := range shown {
			if k > 0 {
				b.WriteString(between)
			}
			if i < len(row) && row[i] != nil {
				b.WriteString(row[i](widths[k]))
			} else {
				b.WriteString(spaces(widths[k]))
			}
		}
		all = append(all, b.String())
	}
	return all
}
