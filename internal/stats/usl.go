package stats

import "math"

// USL is the universal scalability law (Gunther, 2007):
// X(N) = γN / (1 + α(N-1) + βN(N-1)).
type USL struct {
	Gamma float64 `json:"gamma"` // throughput of one, per second
	Alpha float64 `json:"alpha"` // contention: the share that is serial, 0 to 1
	Beta  float64 `json:"beta"`  // coherency: the cost of each pair that must agree
}

// At is the throughput at load n.
func (u USL) At(n float64) float64 { return u.Gamma * n / u.below(n) }

func (u USL) below(n float64) float64 { return 1 + u.Alpha*(n-1) + u.Beta*n*(n-1) }

// Peak is the load of the highest throughput, √((1-α)/β), and that throughput.
// Without coherency there is no peak: then n is +Inf and the rate the limit γ/α,
// +Inf again where nothing contends.
func (u USL) Peak() (n, rate float64) {
	if u.Beta <= 0 {
		return math.Inf(1), u.Gamma / u.Alpha
	}
	n = math.Sqrt((1 - u.Alpha) / u.Beta)
	return n, u.At(n)
}

// WholePeak is the whole load of the highest throughput, and that throughput;
// 0 where there is no peak.
func (u USL) WholePeak() (n int, rate float64) {
	peak, _ := u.Peak()
	if math.IsInf(peak, 0) || peak > 1e15 {
		return 0, 0
	}
	low, high := max(math.Floor(peak), 1), max(math.Ceil(peak), 1)
	if u.At(high) > u.At(low) {
		low = high
	}
	return int(low), u.At(low)
}

// gradient is the derivative of the throughput by γ, α and β.
func (u USL) gradient(n float64) [3]float64 {
	d := u.below(n)
	x := u.Gamma * n / d
	return [3]float64{n / d, -x * (n - 1) / d, -x * n * (n - 1) / d}
}

// Efficiency is X(k) over k times X(1).
func Efficiency(x1, xk, k float64) float64 { return xk / (k * x1) }

// KarpFlatt is the serial fraction that a speedup X(k)/X(1) stands for:
// (1/S - 1/k)/(1 - 1/k) (Karp and Flatt, 1990). If it stays the same over k, a
// part is serial; if it grows, there is overhead of contention or coherency.
// NaN for k = 1.
func KarpFlatt(speedup, k float64) float64 {
	if k == 1 {
		return math.NaN()
	}
	return (1/speedup - 1/k) / (1 - 1/k)
}
