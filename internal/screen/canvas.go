package screen

import "time"

// canvas is dots in two layers, drawn as braille: two dots wide and four tall in
// each cell (Unicode, Braille Patterns); in ASCII one dot a cell.
type canvas struct {
	wide, tall int // dots
	perX, perY int // dots of a cell
	dots       [2][]bool
}

func newCanvas(w, h int, ascii bool) *canvas {
	c := &canvas{perX: 2, perY: 4}
	if ascii {
		c.perX, c.perY = 1, 1
	}
	c.wide, c.tall = w*c.perX, h*c.perY
	for i := range c.dots {
		c.dots[i] = make([]bool, c.wide*c.tall)
	}
	return c
}

// set marks a dot; y counts from below.
func (c *canvas) set(layer, x, y int) {
	if x >= 0 && x < c.wide && y >= 0 && y < c.tall {
		c.dots[layer][y*c.wide+x] = true
	}
}

// line goes from one dot to another, to the right or upright, without holes.
func (c *canvas) line(layer, x1, y1, x2, y2 int) {
	last := y1
	for x := x1; x <= x2; x++ {
		y := y2
		if x2 > x1 {
			y = y1 + (y2-y1)*(x-x1)/(x2-x1)
		}
		c.set(layer, x, y)
		for last < y-1 {
			last++
			c.set(layer, x, last)
		}
		for last > y+1 {
			last--
			c.set(layer, x, last)
		}
		last = y
	}
}

// letter is that of a cell, and the upper layer that is in it; row counts from
// below.
func (c *canvas) letter(column, row int) (letter string, layer int) {
	// Bits of a pattern, from below, left and right.
	bits := [4][2]rune{{0x40, 0x80}, {0x04, 0x20}, {0x02, 0x10}, {0x01, 0x08}}
	pattern := rune(0)
	for l := range c.dots {
		for dy := range c.perY {
			for dx := range c.perX {
				if c.dots[l][(row*c.perY+dy)*c.wide+column*c.perX+dx] {
					pattern |= bits[dy][dx]
					layer = l
				}
			}
		}
	}
	switch {
	case pattern == 0:
		return " ", layer
	case c.perX == 1:
		return string(".*"[layer]), layer
	}
	return string(0x2800 + pattern), layer
}

func secondsOf(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
