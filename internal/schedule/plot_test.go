package schedule_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prony/internal/schedule"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestPlots shows whole plans as pictures, so that a change of pacing is seen as
// a changed picture. Look at the difference before you accept it by -update.
func TestPlots(t *testing.T) {
	const s = time.Second
	segment := func(from, to float64, d time.Duration) schedule.Segment {
		return schedule.Segment{From: from, To: to, Duration: d}
	}
	for _, tc := range []struct {
		name, title string
		plan        schedule.Arrivals
	}{
		{"constant", "constant, 20/s", schedule.Rate(20)},
		{"poisson", "poisson, 20/s, seed 42", poisson(schedule.Rate(20), 42)},
		{"ramp", "constant, 0 to 40/s in 10 s", schedule.Ramp(0, 40, 10*s)},
		{"falling", "constant, 40 to 0/s in 10 s", schedule.Ramp(40, 0, 10*s)},
		{"poisson-ramp", "poisson, 0 to 40/s in 10 s, seed 42", poisson(schedule.Ramp(0, 40, 10*s), 42)},
		{"steps", "constant, 10, 20, 0, 40/s for 2 s each", schedule.Steps(2*s, 10, 20, 0, 40)},
		{"bursts", "constant, 4/s with 40/s in the third and the seventh second", schedule.Arrivals{Segments: []schedule.Segment{
			segment(4, 4, 2*s), segment(40, 40, s), segment(4, 4, 3*s), segment(40, 40, s), segment(4, 4, 3*s)}}},
		{"trapezoid", "constant, 0 to 40/s in 3 s, there for 4 s, 40 to 0/s in 3 s", schedule.Arrivals{Segments: []schedule.Segment{
			segment(0, 40, 3*s), segment(40, 40, 4*s), segment(40, 0, 3*s)}}},
		{"replay", "replay, three clusters", schedule.Replay([]int64{0, 1e6, 2e6, 3e6, 4000e6, 4001e6, 4050e6, 9000e6, 9000e6, 9900e6})},
	} {
		t.Run(tc.name, func(t *testing.T) {
			golden(t, tc.name, tc.title+"\n\n"+plot(tc.plan))
		})
	}
}

// plot draws the first ten seconds of a plan: a row for each half second, with
// an i in each column of 10 ms that holds an arrival, a digit where more share
// it, and the count against what the rate function expects.
func plot(a schedule.Arrivals) string {
	const row, rows, columns = 500 * time.Millisecond, 20, 50
	var counts [rows][columns]int
	table := a.Shard(0, 1)
	for at, ok := table.Next(); ok && at < int64(rows*row); at, ok = table.Next() {
		counts[at/int64(row)][at%int64(row)/int64(row/columns)]++
	}
	var b strings.Builder
	for i, cells := range counts {
		from := time.Duration(i) * row
		sum := 0
		fmt.Fprintf(&b, "%4.1f s |", from.Seconds())
		for _, n := range cells {
			b.WriteByte(glyph(n))
			sum += n
		}
		fmt.Fprintf(&b, "| %2d of %.2f\n", sum, a.Expected(from+row)-a.Expected(from))
	}
	return b.String()
}

// glyph is the character for n arrivals.
func glyph(n int) byte {
	switch {
	case n == 0:
		return ' '
	case n == 1:
		return 'i'
	}
	return byte('0' + min(n, 9))
}

// golden compares got with the file of that name, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}
