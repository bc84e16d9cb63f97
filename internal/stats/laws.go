package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// above is the probability that a standard normal value is larger than x.
func above(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }

// z is the quantile of the normal law that leaves the given share above it.
func z(share float64) float64 { return mathext.NormalQuantile(1 - share) }

// studentT leaves the given share above it, below one half, in Student's law of
// nu degrees of freedom: I_x(ν/2, ½) with x = ν/(ν+t²) is the share in both
// tails.
func studentT(nu, share float64) float64 {
	x := mathext.InvRegIncBeta(nu/2, 0.5, 2*share)
	return math.Sqrt(nu * (1/x - 1))
}

// betaQuantile is the quantile p of the beta law.
func betaQuantile(a, b, p float64) float64 { return mathext.InvRegIncBeta(a, b, p) }

// atMost is P(X ≤ k) for X binomial (n, p).
func atMost(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p)
}
