package engine

import (
	"math"
	"math/big"
	"testing"
	"time"

	"prony/internal/hdr"
	"prony/internal/plan"
)

// mm1 is the response time of M/M/1, exponential with rate μ−λ: a quantile, or
// the mean for q < 0. Times in units of 1/μ, so ρ = λ.
func mm1(rho, q float64) float64 {
	if q < 0 {
		return 1 / (1 - rho)
	}
	return -math.Log1p(-q) / (1 - rho)
}

// dm1 is that of D/M/1, exponential with rate 1−σ, where σ solves
// σ = exp(−(1−σ)/ρ).
func dm1(rho, q float64) float64 {
	sigma := dm1Root(rho)
	if q < 0 {
		return 1 / (1 - sigma)
	}
	return -math.Log1p(-q) / (1 - sigma)
}

func dm1Root(rho float64) float64 {
	sigma := 0.5
	for range 1000 {
		sigma = math.Exp(-(1 - sigma) / rho)
	}
	return sigma
}

// md1 is that of M/D/1. The mean is Pollaczek-Khinchine's; a quantile inverts
// md1Wait, since R = W + 1.
func md1(rho, q float64) float64 {
	if q < 0 {
		return 1 + rho/(2*(1-rho))
	}
	low, high := 0.0, 32.0
	for range 40 {
		if mid := (low + high) / 2; md1Wait(rho, mid) < q {
			low = mid
		} else {
			high = mid
		}
	}
	return 1 + high
}

// md1Wait is P(W <= t) = (1−ρ) Σ e^{−ρ(k−t)} (ρ(k−t))^k / k!, k up to ⌊t⌋
// (Erlang, 1909). The terms alternate and are far larger than their sum, hence
// the wide arithmetic.
func md1Wait(rho, t float64) float64 {
	sum := wide(0)
	for k := 0.0; k <= math.Floor(t); k++ {
		x := wide(k)
		x.Sub(x, wide(t)).Mul(x, wide(rho))
		term := bigExp(wide(0).Neg(x))
		for i := 1.0; i <= k; i++ {
			term.Mul(term, x).Quo(term, wide(i))
		}
		sum.Add(sum, term)
	}
	p, _ := sum.Float64()
	return (1 - rho) * p
}

// wide is a number with 250 bits, some 75 digits.
func wide(v float64) *big.Float { return big.NewFloat(v).SetPrec(250) }

// bigExp is e^x by its series, for x from 0 to some dozens.
func bigExp(x *big.Float) *big.Float {
	sum, term := wide(1), wide(1)
	for i := 1.0; term.Sign() != 0 && term.MantExp(nil) > -250; i++ {
		term.Mul(term, x).Quo(term, wide(i))
		sum.Add(sum, term)
	}
	return sum
}

// erlangC is the probability to wait in M/M/c with offered load a, from
// Erlang B by its recursion, and the mean response in service times.
func erlangC(c int, a float64) (wait, response float64) {
	b := 1.0
	for k := 1; k <= c; k++ {
		b = a * b / (float64(k) + a*b)
	}
	wait = b / (1 - a/float64(c)*(1-b))
	return wait, 1 + wait/(float64(c)-a)
}

func TestKAT49ClosedForms(t *testing.T) {
	forms := map[string]func(rho, q float64) float64{"MM1": mm1, "MD1": md1, "DM1": dm1}
	for _, row := range simQueues {
		t.Run(row.name, func(t *testing.T) {
			form, rho := forms[row.name[:3]], row.rate/1000
			for i, q := range [5]float64{-1, 0.5, 0.9, 0.99, 0.999} {
				if got := form(rho, q); math.Abs(got-row.theory[i]) > 5.1e-5 {
					t.Errorf("q %v: got %.6f, want %.4f", q, got, row.theory[i])
				}
			}
		})
	}
	near(t, "σ at 0.5", dm1Root(0.5), 0.203188, 3e-6)
	near(t, "σ at 0.8", dm1Root(0.8), 0.628630, 1e-6)
}

// TestKAT49SimulationFollowsTheory ties the two tables together: a million
// requests lie near the closed forms, the tail of a loaded queue least.
func TestKAT49SimulationFollowsTheory(t *testing.T) {
	for _, row := range simQueues {
		for i, tolerance := range [5]float64{0.005, 0.005, 0.005, 0.025, 0.06} {
			near(t, row.name, row.observed[i], row.theory[i], tolerance)
		}
	}
}

func TestKAT49ErlangC(t *testing.T) {
	tests := []struct {
		servers              int
		load, wait, response float64
	}{{4, 2, 0.173913, 1.086957}, {4, 3.2, 0.596432, 1.745541}, {8, 6.4, 0.457645, 1.286028}}
	for _, tt := range tests {
		wait, response := erlangC(tt.servers, tt.load)
		near(t, "P(wait)", wait, tt.wait, 3e-6)
		near(t, "response", response, tt.response, 1e-6)
	}
}

// TestKAT49ManyServers: M/M/4 through the engine has the mean of Erlang C.
func TestKAT49ManyServers(t *testing.T) {
	n := newSim(t)
	n.server = simServer{service: exponential(43, 250), servers: make([]float64, 4)}
	res := n.run(func(l *plan.Load) {
		l.Arrivals, l.Warmup, l.Duration = poissonAt(800), 10*time.Second, 300*time.Second
	})
	_, want := erlangC(4, 3.2)
	near(t, "mean in service times", res.Latency.Response.Mean()/4e6, want, 0.02)
	if res.Latency.Service.Value(hdr.P50) > res.Latency.Response.Value(hdr.P50) {
		t.Error("service times above response times")
	}
}
