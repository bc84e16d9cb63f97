package stats

import (
	"errors"
	"math"
	"slices"
)

// Weights of the residuals of a fit.
type Weights string

const (
	// AutoWeights takes relative residuals when the throughput spans more than a
	// factor of 5, since the noise of runs is proportional to it.
	AutoWeights Weights = ""
	Absolute    Weights = "absolute"
	Relative    Weights = "relative"
)

// Point is a measured throughput at a load, from one run.
type Point struct{ N, X float64 }

// Fit is a USL with what is known about it. Weights matter: print them.
type Fit struct {
	USL
	// Errors are the standard errors of γ, α and β; 0 of one that a bound holds,
	// or where there are too few points.
	Errors  [3]float64
	Weights Weights
	// Linear is the start: least squares of N/X on (1, N-1, N(N-1)).
	Linear USL
	// Bound names the parameters that are held at zero, "alpha" or "beta": the
	// fit was made again without them.
	Bound []string
	// Largest is the largest load that was measured. Nothing is to be said
	// beyond twice that.
	Largest float64
	// Unproven says why the fit must not be used to predict; "" if it may.
	Unproven string
}

const (
	loadsLeast     = 6
	weightSpread   = 5
	beyondHalfPeak = 2
	extrapolateMax = 2
	stepsMax       = 500
)

// FitUSL fits the law to points. Only one thing may scale in them, and those
// that the generator or another resource limited must be left out. It fails
// with fewer than 3 loads or a throughput that is not above zero.
func FitUSL(points []Point, weights Weights) (Fit, error) {
	loads := map[float64]bool{}
	lowest, highest := math.Inf(1), 0.0
	f := Fit{Weights: weights}
	for _, p := range points {
		if !(p.N > 0) || !(p.X > 0) || math.IsInf(p.N+p.X, 1) {
			return Fit{}, errors.New("fit the scalability law: loads and throughputs must be above zero")
		}
		loads[p.N] = true
		lowest, highest, f.Largest = min(lowest, p.X), max(highest, p.X), max(f.Largest, p.N)
	}
	if len(loads) < 3 {
		return Fit{}, errors.New("fit the scalability law: it takes 3 different loads")
	}
	if weights == AutoWeights {
		f.Weights = Absolute
		if highest > weightSpread*lowest {
			f.Weights = Relative
		}
	}
	f.Linear = linearUSL(points)
	f.solve(points)
	f.prove(loads)
	return f, nil
}

// linearUSL is the least squares solution of N/X = a + b(N-1) + cN(N-1), with
// γ = 1/a, α = b/a and β = c/a.
func linearUSL(points []Point) USL {
	var m [3][3]float64
	var v [3]float64
	for _, p := range points {
		row := [3]float64{1, p.N - 1, p.N * (p.N - 1)}
		for i := range 3 {
			for j := range 3 {
				m[i][j] += row[i] * row[j]
			}
			v[i] += row[i] * p.N / p.X
		}
	}
	c, ok := solve3(m, v)
	if !ok || !(c[0] > 0) {
		best := slices.MaxFunc(points, func(a, b Point) int { return compareFloat(a.X/a.N, b.X/b.N) })
		return USL{Gamma: best.X / best.N}
	}
	return USL{1 / c[0], c[1] / c[0], c[2] / c[0]}
}

func compareFloat(a, b float64) int { return int(sign(a - b)) }

// solve runs the fit, and again without a parameter that ends at its bound.
func (f *Fit) solve(points []Point) {
	free := [3]bool{true, true, true}
	f.USL = bounded(f.Linear)
	for {
		f.descend(points, free)
		i := slices.Index([]bool{free[1] && f.Alpha <= 0, free[2] && f.Beta <= 0}, true)
		if i < 0 {
			break
		}
		free[i+1] = false
		f.Bound = append(f.Bound, []string{"alpha", "beta"}[i])
	}
	f.deviations(points, free)
}

// bounded keeps γ > 0, 0 ≤ α < 1 and β ≥ 0.
func bounded(u USL) USL {
	return USL{max(u.Gamma, math.SmallestNonzeroFloat64), min(max(u.Alpha, 0), 1-1e-12), max(u.Beta, 0)}
}

// descend is the method of Levenberg and Marquardt: a Newton step of the normal
// equations, damped in the scale of each parameter until it helps.
func (f *Fit) descend(points []Point, free [3]bool) {
	damping := 1e-3
	cost := f.cost(f.USL, points)
	for range stepsMax {
		m, v := f.normal(points, free)
		for i := range 3 {
			m[i][i] *= 1 + damping
			if m[i][i] == 0 {
				m[i][i] = 1
			}
		}
		step, ok := solve3(m, v)
		next := bounded(USL{f.Gamma + step[0], f.Alpha + step[1], f.Beta + step[2]})
		c := f.cost(next, points)
		if !ok || !(c < cost) {
			if damping *= 10; damping > 1e16 {
				return
			}
			continue
		}
		done := cost-c <= 1e-15*cost
		f.USL, cost, damping = next, c, max(damping/10, 1e-15)
		if done && damping <= 1e-6 {
			return
		}
	}
}

func (f *Fit) scale(p Point) float64 {
	if f.Weights == Relative {
		return 1 / p.X
	}
	return 1
}

func (f *Fit) cost(u USL, points []Point) float64 {
	sum := 0.0
	for _, p := range points {
		r := (u.At(p.N) - p.X) * f.scale(p)
		sum += r * r
	}
	return sum
}

// normal are the normal equations JᵀJ·step = -Jᵀr; parameters that are not free
// have zeros.
func (f *Fit) normal(points []Point, free [3]bool) (m [3][3]float64, v [3]float64) {
	for _, p := range points {
		w := f.scale(p)
		g := f.gradient(p.N)
		r := (f.At(p.N) - p.X) * w
		for i := range 3 {
			g[i] *= w
			if !free[i] {
				g[i] = 0
			}
		}
		for i := range 3 {
			v[i] -= g[i] * r
			for j := range 3 {
				m[i][j] += g[i] * g[j]
			}
		}
	}
	return m, v
}

// deviations are the standard errors: √(s²·(JᵀJ)⁻¹).
func (f *Fit) deviations(points []Point, free [3]bool) {
	m, _ := f.normal(points, free)
	parameters := 0
	for i := range 3 {
		if free[i] {
			parameters++
		} else {
			m[i][i] = 1
		}
	}
	if len(points) <= parameters {
		return
	}
	variance := f.cost(f.USL, points) / float64(len(points)-parameters)
	for i := range 3 {
		unit := [3]float64{}
		unit[i] = 1
		if column, ok := solve3(m, unit); ok && free[i] {
			f.Errors[i] = math.Sqrt(max(variance*column[i], 0))
		}
	}
}

// prove holds the loads against what a prediction needs.
func (f *Fit) prove(loads map[float64]bool) {
	peak, _ := f.Peak()
	beyond := 0
	for n := range loads {
		if n > peak/2 {
			beyond++
		}
	}
	switch {
	case len(loads) < loadsLeast:
		f.Unproven = "fewer than 6 different loads"
	case f.Beta > 0 && beyond < beyondHalfPeak:
		f.Unproven = "fewer than two loads lie beyond half the peak"
	}
}

// Predicts reports whether the fit may be asked for the throughput at a load: it
// is proven, and the load is at most twice the largest that was measured.
func (f *Fit) Predicts(n float64) bool { return f.Unproven == "" && n <= extrapolateMax*f.Largest }

// solve3 solves m·x = v by elimination, after scaling rows and columns by the
// diagonal, since γ and β differ by many orders of magnitude.
func solve3(m [3][3]float64, v [3]float64) (x [3]float64, ok bool) {
	var s [3]float64
	for i := range 3 {
		if s[i] = math.Sqrt(math.Abs(m[i][i])); s[i] == 0 {
			return x, false
		}
	}
	for i := range 3 {
		v[i] /= s[i]
		for j := range 3 {
			m[i][j] /= s[i] * s[j]
		}
	}
	for c := range 3 {
		p := c
		for r := c + 1; r < 3; r++ {
			if math.Abs(m[r][c]) > math.Abs(m[p][c]) {
				p = r
			}
		}
		m[c], m[p], v[c], v[p] = m[p], m[c], v[p], v[c]
		if math.Abs(m[c][c]) < 1e-14 {
			return x, false
		}
		for r := c + 1; r < 3; r++ {
			k := m[r][c] / m[c][c]
			for j := c; j < 3; j++ {
				m[r][j] -= k * m[c][j]
			}
			v[r] -= k * v[c]
		}
	}
	for c := 2; c >= 0; c-- {
		x[c] = v[c]
		for j := c + 1; j < 3; j++ {
			x[c] -= m[c][j] * x[j]
		}
		x[c] /= m[c][c]
	}
	for i := range 3 {
		x[i] /= s[i]
	}
	return x, true
}
