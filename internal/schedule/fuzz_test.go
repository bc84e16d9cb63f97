package schedule_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"prony/internal/schedule"
)

// planOf makes a plan from bytes: a seed byte with the process in its lowest bit,
// and then 20 bytes for each segment.
func planOf(data []byte) schedule.Arrivals {
	var a schedule.Arrivals
	if len(data) > 0 {
		a.Process, a.Seed = schedule.Process(data[0]&1), uint64(data[0])
		data = data[1:]
	}
	for ; len(data) >= 20; data = data[20:] {
		a.Segments = append(a.Segments, schedule.Segment{
			From:     math.Float64frombits(binary.LittleEndian.Uint64(data)),
			To:       float64(math.Float32frombits(binary.LittleEndian.Uint32(data[8:]))),
			Duration: time.Duration(binary.LittleEndian.Uint64(data[12:])),
		})
	}
	return a
}

// bytesOf is the inverse of planOf.
func bytesOf(a schedule.Arrivals) []byte {
	data := []byte{byte(a.Seed)&^1 | byte(a.Process)}
	for _, s := range a.Segments {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(s.From))
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(s.To)))
		data = binary.LittleEndian.AppendUint64(data, uint64(s.Duration))
	}
	return data
}

func FuzzSegments(f *testing.F) {
	r := schedule.SplitMix64(21)
	for range 20 {
		f.Add(bytesOf(randomPlan(&r)))
	}
	f.Add(bytesOf(schedule.Rate(1e9)))
	f.Add(bytesOf(poisson(schedule.Rate(1e-300), 0)))
	f.Add(bytesOf(schedule.Ramp(0, 5e-324, math.MaxInt64/2)))
	f.Add(bytesOf(schedule.Ramp(1e9, 0, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		a := planOf(data)
		if a.Validate() != nil {
			return
		}
		whole, part := a.Shard(0, 1), a.Shard(1, 3)
		length, finite := a.Length()
		before := int64(0)
		for i := range 300 {
			at, ok := whole.Next()
			if i%3 == 1 {
				// After 52 days the last digit of a root is more than a nanosecond.
				if partAt, partOK := part.Next(); at-partAt > at>>52 || partAt > at || partOK != ok {
					t.Fatalf("%+v: time %d: got %d, %v in a part, want %d, %v", a, i, partAt, partOK, at, ok)
				}
			}
			if !ok {
				break
			}
			if at < before || finite && at >= int64(length) {
				t.Fatalf("%+v: time %d is %d ns: before %d, or not before the end at %d", a, i, at, before, length)
			}
			before = at
		}
		checkRates(t, a, before)
	})
}

// checkRates checks that the rate function makes sense around a time.
func checkRates(t *testing.T, a schedule.Arrivals, at int64) {
	t.Helper()
	last := 0.0
	untils := []int64{-1, 0, 1, at, at + 1, math.MaxInt64}
	slices.Sort(untils)
	for _, until := range untils {
		if rate := a.RateAt(until); !(rate >= 0 && rate <= schedule.MaxRate*(1+1e-9)) {
			t.Errorf("%+v: rate at %d ns: got %v", a, until, rate)
		}
		got := a.Expected(time.Duration(until))
		if !(got >= 0) || until <= 1 && got > 2 {
			t.Errorf("%+v: expected until %d ns: got %v", a, until, got)
		}
		if got < last-1e-9*last {
			t.Errorf("%+v: expected until %d ns: got %v, less than %v before", a, until, got, last)
		}
		last = got
	}
}
