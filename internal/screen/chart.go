package screen

import (
	"math"
	"strings"

	"charm.land/lipgloss/v2"
)

// labelWidth is that of the numbers at the side of a chart.
const labelWidth = 6

// picture is a chart under way: points over a span of seconds, drawn into some
// cells.
type picture struct {
	*theme
	points   []point
	from, to float64
	w, h     int // cells of the plot, without labels and floor
}

// place is where a moment falls among n steps.
func (p *picture) place(at float64, n int) int {
	x := (at - p.from) / (p.to - p.from) * float64(n)
	if math.IsNaN(x) {
		return 0
	}
	return int(min(max(math.Round(x), 0), float64(n)))
}

// warmUntil is the first column behind the warm-up.
func (p *picture) warmUntil() int {
	until := 0
	for _, q := range p.points {
		if q.warm {
			until = p.place(q.at, p.w)
		}
	}
	return until
}

// rates draws the answers per second as columns.
func (p *picture) rates() []string {
	columns, top := p.heights()
	warm := p.warmUntil()
	var all []string
	for row := p.h - 1; row >= 0; row-- {
		var b run
		for x, v := range columns {
			style := &p.theme.rate
			if x < warm {
				style = &p.theme.warm
			}
			eighths := 0
			if v > 0 {
				eighths = max(int(math.Round(v/top*float64(8*p.h))), 1)
			}
			b.add(style, p.levels[min(max(eighths-8*row, 0), 8)])
		}
		label := ""
		switch {
		case len(p.points) == 0:
		case row == p.h-1:
			label = si(top)
		case row == 0:
			label = "0"
		}
		all = append(all, p.labelled(label, b.end()))
	}
	return append(all, p.bottom(warm))
}

// heights is the mean rate in each column, and the top of the scale.
func (p *picture) heights() (columns []float64, top float64) {
	columns, counts := make([]float64, p.w), make([]float64, p.w)
	most := 0.0
	for _, q := range p.points {
		first := p.place(q.at-q.length, p.w)
		for x := first; x < max(p.place(q.at, p.w), first+1) && x < p.w; x++ {
			columns[x] += q.rate
			counts[x]++
		}
		most = max(most, q.rate)
	}
	for x, n := range counts {
		columns[x] /= max(n, 1)
	}
	return columns, ceiling(most)
}

// times draws p50 and p99 of the response as lines over a logarithmic scale.
func (p *picture) times() []string {
	low, high := p.bounds()
	c := newCanvas(p.w, p.h, p.ascii)
	height := func(us float64) int {
		share := (math.Log(us) - math.Log(low)) / (math.Log(high) - math.Log(low))
		return int(math.Round(min(max(share, 0), 1) * float64(c.tall-1)))
	}
	for layer, value := range []func(point) float64{func(q point) float64 { return q.p50 }, func(q point) float64 { return q.p99 }} {
		lastX, lastY := -1, 0
		for _, q := range p.points {
			v := value(q)
			if !(v > 0) || math.IsInf(v, 0) {
				lastX = -1
				continue
			}
			x, y := p.place(q.at, c.wide-1), height(v)
			if lastX < 0 {
				lastX, lastY = p.place(q.at-q.length, c.wide-1), y
			}
			c.line(layer, lastX, lastY, x, y)
			lastX, lastY = x, y
		}
	}
	warm := p.warmUntil()
	var all []string
	for row := p.h - 1; row >= 0; row-- {
		label := ""
		switch {
		case len(p.points) == 0:
		case row == p.h-1:
			label = p.span(high)
		case row == 0:
			label = p.span(low)
		case p.h >= 5 && row == p.h/2: // of a logarithmic scale one looks for the middle
			label = p.span(low * math.Pow(high/low, (float64(row)+0.5)/float64(p.h)))
		}
		all = append(all, p.labelled(label, p.drawn(c, row, warm)))
	}
	return append(all, p.bottom(warm))
}

// drawn is a row of the canvas in colours.
func (p *picture) drawn(c *canvas, row, warm int) string {
	var b run
	for x := range p.w {
		letter, layer := c.letter(x, row)
		style := &p.theme.middle
		switch {
		case x < warm:
			style = &p.theme.warm
		case layer > 0:
			style = &p.theme.tail
		}
		b.add(style, letter)
	}
	return b.end()
}

// bounds are those of the scale of times, at least a factor of ten apart.
func (p *picture) bounds() (low, high float64) {
	low, high = math.Inf(1), 0
	for _, q := range p.points {
		if q.p50 > 0 {
			low = min(low, q.p50)
		}
		high = max(high, q.p99)
	}
	if math.IsInf(low, 1) || !(high > 0) || math.IsInf(high, 1) {
		return 1, 10
	}
	return around(low, max(1.25*high, 10*low)) // with room above the tail
}

// ceiling is a round number not below v, so that the scale of rates rarely
// changes.
func ceiling(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8} {
		if v <= step*power*1.0001 {
			return step * power
		}
	}
	return 10 * power
}

// around is 1, 2 or 5 times a power of ten, the nearest not above low and not
// below high.
func around(low, high float64) (below, above float64) {
	step := func(v float64, enough func(float64) bool) float64 {
		power := math.Pow(10, math.Floor(math.Log10(v)))
		found := power
		for _, s := range []float64{1, 2, 5, 10} {
			if enough(s * power) {
				return s * power
			}
			found = s * power
		}
		return found
	}
	above = step(high, func(v float64) bool { return v*1.0001 >= high })
	below = 1 / step(1/low, func(v float64) bool { return v*1.0001 >= 1/low })
	return below, above
}

func (p *picture) labelled(label, line string) string {
	return p.dim.Render(p.right(label, labelWidth)+p.side) + line
}

// bottom is the floor, with the warm-up marked and the length at its end.
func (p *picture) bottom(warm int) string {
	floor := strings.Repeat(p.floor, p.w-warm)
	if warm > 0 {
		name := ""
		if warm > 9 {
			name = "warm-up"
		}
		rest := max(warm-1-len(name), 0)
		floor = strings.Repeat(p.warmFloor, rest/2) + name + strings.Repeat(p.warmFloor, rest-rest/2) + p.tick + floor
	}
	length := " " + watch(secondsOf(p.to-p.from))
	if len(p.points) > 0 && width(floor)-warm > 2*len(length) {
		floor = strings.TrimSuffix(floor, strings.Repeat(p.floor, len(length))) + length
	}
	return p.dim.Render(spaces(labelWidth) + p.corner + floor)
}

// run joins letters of one style, so that a line has few changes of it.
type run struct {
	line, piece strings.Builder
	style       *lipgloss.Style
}

func (r *run) add(style *lipgloss.Style, letter string) {
	if style != r.style {
		r.flush()
		r.style = style
	}
	r.piece.WriteString(letter)
}

func (r *run) flush() {
	if r.piece.Len() > 0 {
		r.line.WriteString(r.style.Render(r.piece.String()))
		r.piece.Reset()
	}
}

func (r *run) end() string {
	r.flush()
	return r.line.String()
}
