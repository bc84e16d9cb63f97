package schedule_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"

	"prony/internal/schedule"
)

// slowDivide is x·1e9/rate rounded half up, in exact arithmetic.
func slowDivide(x, rate float64) *big.Int {
	q := new(big.Rat).SetFloat64(x)
	q.Mul(q, big.NewRat(1e9, 1))
	q.Quo(q, new(big.Rat).SetFloat64(rate))
	return slowRound(q)
}

// slowRound rounds half up: ⌊(2·numerator + denominator) / (2·denominator)⌋.
func slowRound(q *big.Rat) *big.Int {
	n := new(big.Int).Lsh(q.Num(), 1)
	n.Add(n, q.Denom())
	return n.Div(n, new(big.Int).Lsh(q.Denom(), 1)) // Euclidean, so it is the floor
}

func TestFlatTimesAreRoundedExactly(t *testing.T) {
	r := schedule.SplitMix64(11)
	check := func(x, rate float64) {
		t.Helper()
		want := slowDivide(x, rate)
		if forever := big.NewInt(1 << 62); want.Cmp(forever) > 0 {
			want = forever
		}
		if got := schedule.DivideNanos(x, rate); got != want.Int64() {
			t.Errorf("%v at %v/s: got %d ns, want %d ns", x, rate, got, want)
		}
	}
	for range 20_000 {
		x := float64(r.Uint64n(1 << (1 + r.Uint64n(53))))
		check(x, float64(1+r.Uint64n(1e9)))
		check(x, math.Exp(20*r.Float64()))
		check(x+r.Float64(), math.Exp(20*r.Float64()-10))
		check(x, 2e9/float64(1+r.Uint64n(1e6))) // near a half of a nanosecond again and again
	}
	check(0, 5)
	check(2, 0x1p-31)
	check(1<<40, 0x1p-31)
}

func TestRoundHalfUp(t *testing.T) {
	r := schedule.SplitMix64(12)
	check := func(x float64) {
		t.Helper()
		if got, want := schedule.RoundHalfUp(x), slowRound(new(big.Rat).SetFloat64(x)); got != want.Int64() {
			t.Errorf("%v: got %d, want %d", x, got, want)
		}
	}
	for _, x := range []float64{0, 0.5, 0.49999999999999994, -0.5, -1e-20, 2.5, 1<<52 + 1, 1<<52 + 0.5, 1<<53 + 2, 1 << 62} {
		check(x)
	}
	for range 20_000 {
		x := math.Exp(42 * r.Float64())
		check(x)
		check(math.Floor(x) + 0.5)
	}
	if got := schedule.RoundHalfUp(1e30); got != 1<<62 {
		t.Errorf("1e30: got %d, want saturation", got)
	}
}

func TestMinusLog(t *testing.T) {
	check := func(v float64) {
		t.Helper()
		got, want := schedule.MinusLog(v), -math.Log(v)
		if !(got >= 0) || math.Abs(got-want) > 0x1p-51*max(1, want) {
			t.Errorf("-ln %v: got %v, want %v", v, got, want)
		}
	}
	r := schedule.SplitMix64(13)
	for i := range 53 {
		v := math.Ldexp(1, -i)
		check(v)
		check(math.Nextafter(v, 0))
		check(math.Nextafter(v, 1))
	}
	for i := range 1 << 12 {
		slice := 0.5 + float64(i)/(1<<13)
		check(slice)
		check(math.Nextafter(slice, 0))
	}
	for range 200_000 {
		check(1 - r.Float64())
	}
	if got := schedule.MinusLog(1); got != 0 {
		t.Errorf("-ln 1: got %v, want 0", got)
	}
}

// slowRamp solves slope·t²/2 + a·t = i in 200 bits, for a ramp from a to b, both
// per second, in d. It returns nanoseconds.
func slowRamp(i int64, a, b float64, d time.Duration) float64 {
	f := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	seconds := new(big.Float).Quo(f(float64(d)), f(1e9))
	slope := new(big.Float).Sub(f(b), f(a))
	slope.Quo(slope, seconds)
	root := new(big.Float).Mul(f(a), f(a))
	root.Add(root, new(big.Float).Mul(f(2*float64(i)), slope))
	if root.Sign() < 0 {
		return math.NaN()
	}
	root.Sqrt(root)
	root.Sub(root, f(a)).Quo(root, slope)
	nanos, _ := root.Mul(root, f(1e9)).Float64()
	return nanos
}

func TestRampTimesAreExactToTheNanosecond(t *testing.T) {
	for _, tc := range []struct {
		a, b float64
		d    time.Duration
	}{
		{0, 1000, 10 * time.Second},
		{1000, 0, 10 * time.Second},
		{0, 1e5, 24 * time.Hour},
		{1e5, 0, 24 * time.Hour},
		{1e5, 1e-3, 10 * time.Minute},
		{0.1, 0.3, 7777777777777},
		{1000, 1000.000001, time.Hour},
		{1000.000001, 1000, time.Hour},
		{123456.7, 98765.4, 33 * time.Second},
	} {
		t.Run(fmt.Sprintf("%v to %v in %v", tc.a, tc.b, tc.d), func(t *testing.T) {
			ramp := schedule.Ramp(tc.a, tc.b, tc.d)
			total, ok := ramp.Count(tc.d)
			if !ok {
				t.Fatal("no count")
			}
			const samples = 500
			for k := range min(samples, total) {
				i := total - 1 - k*(total-1)/samples
				at, _ := ramp.Shard(int(i), int(i)+1).Next()
				near(t, fmt.Sprintf("time %d of %d, ns", i, total), float64(at), slowRamp(i, tc.a, tc.b, tc.d), 0.6)
			}
		})
	}
}

func TestCountIsTheNumberOfTimes(t *testing.T) {
	r := schedule.SplitMix64(14)
	for i := range 200 {
		a := randomPlan(&r)
		a.Process = schedule.Constant
		if a.Validate() != nil {
			continue
		}
		times := plan(a, math.MaxInt)
		length, _ := a.Length()
		untils := []time.Duration{-1, 0, 1, length - 1, length, length + 1, math.MaxInt64, time.Duration(r.Uint64n(uint64(length)))}
		if n := len(times); n > 0 {
			at := time.Duration(times[r.Uint64n(uint64(n))])
			untils = append(untils, at-1, at, at+1)
		}
		for _, until := range untils {
			want := int64(0)
			for _, at := range times {
				if at < int64(until) {
					want++
				}
			}
			if got, ok := a.Count(until); !ok || got != want {
				t.Errorf("plan %d until %v: got %d, %v, want %d", i, until, got, ok, want)
			}
			near(t, "Expected against Count", a.Expected(until), float64(want), 1.000001)
		}
	}
}

func TestCountOfLongPlansIsExact(t *testing.T) {
	r := schedule.SplitMix64(15)
	for range 2000 {
		a := schedule.Rate(1e8 + 9e8*r.Float64())
		if r.Uint64n(2) == 0 {
			a = schedule.Ramp(a.Segments[0].From, 9e8*r.Float64(), 1<<50)
		}
		until := int64(r.Uint64n(1 << 50))
		n, _ := a.Count(time.Duration(until))
		last, _ := a.Shard(int(n-1), int(n)).Next()
		next, _ := a.Shard(int(n), int(n+1)).Next()
		if last >= until || next < until {
			t.Errorf("%+v until %d ns: got %d, but time %d is %d ns and the one after %d ns", a.Segments, until, n, n-1, last, next)
		}
	}
}
