package hdr_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	oracle "github.com/HdrHistogram/hdrhistogram-go"

	"prony/internal/hdr"
)

// logStart is when the logs of these tests begin.
func logStart() time.Time { return time.UnixMilli(1_441_812_279_474) }

// entry is an interval to write and to expect back.
type entry struct {
	tag           string
	start, length time.Duration
	h             *hdr.Histogram
}

// entries are the intervals of a small log.
func entries() []entry {
	const ms = 1_000_000
	return []entry{
		{"", 0, time.Second, of(hdr.Config{}, 1*ms, 2*ms, 3*ms)},
		{"ok", time.Second, 1001 * time.Millisecond, of(hdr.Config{}, 769_130_000)},
		{"failed", 2500 * time.Millisecond, time.Second, hdr.MustNew(hdr.Config{})},
	}
}

// writeLog writes the entries.
func writeLog(t *testing.T, list []entry) string {
	t.Helper()
	var b bytes.Buffer
	w := hdr.NewLogWriter(&b, logStart())
	for _, e := range list {
		if err := w.Interval(e.tag, e.start, e.length, e.h); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestLogText(t *testing.T) {
	lines := strings.Split(writeLog(t, entries()), "\n")
	want := []string{
		"#[Histogram log format version 1.3]",
		"#[StartTime: 1441812279.474 (seconds since epoch), 2015-09-09T15:24:39Z]",
		"#[BaseTime: 1441812279.474 (seconds since epoch)]",
		`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`,
		"0.000,1.000,3.000,",
		"Tag=ok,1.000,1.001,769.130,",
		"Tag=failed,2.500,1.000,0.000,",
		"",
	}
	if len(lines) != len(want) {
		t.Fatalf("got %d lines, want %d: %q", len(lines), len(want), lines)
	}
	for i, w := range want {
		got := lines[i]
		if i >= 4 && i < 7 {
			got = got[:strings.LastIndex(got, ",")+1] // zlib's output is not ours to fix
		}
		if got != w {
			t.Errorf("line %d: got %q, want %q", i+1, got, w)
		}
	}
}

func TestLogRoundTrip(t *testing.T) {
	i, want := 0, entries()
	for got, err := range hdr.ReadLog(strings.NewReader(writeLog(t, want))) {
		if err != nil {
			t.Fatal(err)
		}
		e := want[i]
		i++
		if got.Tag != e.tag || !got.Start.Equal(logStart().Add(e.start)) || got.Length != e.length {
			t.Errorf("interval %d: got %q %v %v, want %q %v %v",
				i, got.Tag, got.Start, got.Length, e.tag, logStart().Add(e.start), e.length)
		}
		sameCells(t, got.Histogram, e.h)
	}
	if i != len(want) {
		t.Errorf("got %d intervals, want %d", i, len(want))
	}
}

func TestOracleReadsOurLog(t *testing.T) {
	want := entries()
	r := oracle.NewHistogramLogReader(strings.NewReader(writeLog(t, want)))
	for _, e := range want {
		got, err := r.NextIntervalHistogram()
		if err != nil || got == nil {
			t.Fatalf("got %v, %v", got, err)
		}
		start := logStart().Add(e.start).UnixMilli()
		if got.Tag() != e.tag || got.TotalCount() != e.h.Count() || got.StartTimeMs()-start > 1 || start-got.StartTimeMs() > 1 {
			t.Errorf("got %q %d values at %d, want %q %d at %d",
				got.Tag(), got.TotalCount(), got.StartTimeMs(), e.tag, e.h.Count(), start)
		}
	}
	if got, err := r.NextIntervalHistogram(); got != nil || err != nil {
		t.Errorf("after the end: got %v, %v", got, err)
	}
}

func TestOursReadsOracleLog(t *testing.T) {
	var b bytes.Buffer
	w := oracle.NewHistogramLogWriter(&b)
	h := oracle.New(1, 3_600_000_000, 3)
	h.SetTag("theirs")
	h.SetStartTimeMs(logStart().UnixMilli())
	h.SetEndTimeMs(logStart().UnixMilli() + 2000)
	if err := h.RecordValues(10_000, 7); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		w.OutputLogFormatVersion(), w.OutputComment("made by another library"),
		w.OutputStartTime(logStart().UnixMilli()), w.OutputLegend(), w.OutputIntervalHistogram(h),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for got, err := range hdr.ReadLog(&b) {
		n++
		if err != nil {
			t.Fatal(err)
		}
		if got.Tag != "theirs" || got.Length != 2*time.Second || got.Start.Sub(logStart()).Abs() > time.Millisecond {
			t.Errorf("got %q %v %v", got.Tag, got.Start, got.Length)
		}
		want := hdr.MustNew(micros())
		want.RecordN(10_000, 7)
		sameCells(t, got.Histogram, want)
	}
	if n != 1 {
		t.Errorf("got %d intervals, want 1", n)
	}
}

// TestLogShortInterval has what is left of a run behind its window, which may be
// microseconds.
func TestLogShortInterval(t *testing.T) {
	short := []entry{{"", time.Second, 300 * time.Microsecond, of(hdr.Config{}, 1000)}}
	for got, err := range hdr.ReadLog(strings.NewReader(writeLog(t, short))) {
		if err != nil || got.Length != time.Millisecond {
			t.Errorf("an interval of 300µs is read as %v, %v: want 1ms, for a reader divides by it", got.Length, err)
		}
	}
}

func TestLogTimes(t *testing.T) {
	text := kat11Base64
	for _, tt := range []struct {
		name, header string
		stamp        string
		want         int64 // ms since 1970
	}{
		{"absolute without header", "", "1441812279.474", 1_441_812_279_474},
		{"relative to the start", "#[StartTime: 1441812279.474 (seconds since epoch), Wed]\n", "0.127", 1_441_812_279_601},
		{"absolute with start", "#[StartTime: 1441812279.474 (seconds since epoch), Wed]\n", "1441812279.601", 1_441_812_279_601},
		{"relative to the base", "#[StartTime: 5.0 (seconds since epoch), x]\n#[BaseTime: 1000.5 (seconds since epoch)]\n", "0.25", 1_000_750},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for got, err := range hdr.ReadLog(strings.NewReader(tt.header + tt.stamp + ",1.0,2.0," + text + "\r\n")) {
				if err != nil {
					t.Fatal(err)
				}
				if got.Start.UnixMilli() != tt.want {
					t.Errorf("got %d, want %d", got.Start.UnixMilli(), tt.want)
				}
			}
		})
	}
}

func TestLogBadLines(t *testing.T) {
	good := "0.1,1.0,2.0," + kat11Base64
	text := strings.Join([]string{
		good,
		"Tag=unfinished",
		"x,1.0,2.0," + kat11Base64,
		"-1,1.0,2.0," + kat11Base64,
		"0.1,1e99,2.0," + kat11Base64,
		"0.1,NaN,2.0," + kat11Base64,
		"0.1,1.0,2.0,HISTFAAA",
		"#[StartTime: soon]",
		"",
		good,
	}, "\n")
	var got []string
	for interval, err := range hdr.ReadLog(strings.NewReader(text)) {
		if err != nil {
			got = append(got, strings.TrimPrefix(err.Error(), "read histogram log: "))
		} else {
			got = append(got, interval.Start.UTC().Format("05.0"))
		}
	}
	want := []string{
		"00.1",
		"line 2: 1 fields, want start, length, maximum and histogram",
		`line 3: number "x": invalid syntax`,
		`line 4: number "-1" is out of range`,
		`line 5: number "1e99" is out of range`,
		`line 6: number "NaN" is out of range`,
		"line 7: decode histogram: 6 bytes are too few for a header",
		`line 8: number "soon]": invalid syntax`,
		"00.1",
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func TestLogStreamErrors(t *testing.T) {
	broken := errors.New("disk gone")
	var last error
	n := 0
	for _, err := range hdr.ReadLog(io.MultiReader(strings.NewReader(writeLog(t, entries())), iotest.ErrReader(broken))) {
		n++
		last = err
	}
	if n != 4 || !errors.Is(last, broken) {
		t.Errorf("got %d results and %v, want 3 intervals and %v", n, last, broken)
	}
	for range hdr.ReadLog(strings.NewReader(writeLog(t, entries()))) {
		break // stopping early must not panic
	}
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestLogWriterErrors(t *testing.T) {
	h := hdr.MustNew(micros())
	full := errors.New("disk full")
	for _, tt := range []struct {
		name, tag     string
		start, length time.Duration
		begin         time.Time
		w             io.Writer
		want          string
	}{
		{"comma", "a,b", 0, 0, logStart(), io.Discard, "comma, space or line break"},
		{"leading space", " a", 0, 0, logStart(), io.Discard, "comma, space or line break"},
		{"line break", "a\n", 0, 0, logStart(), io.Discard, "comma, space or line break"},
		{"negative start", "a", -1, 0, logStart(), io.Discard, "negative"},
		{"negative length", "a", 0, -1, logStart(), io.Discard, "negative"},
		{"unset start", "a", 0, 0, time.Time{}, io.Discard, "before 1970"},
		{"writer", "a", 0, 0, logStart(), failing{full}, "disk full"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := hdr.NewLogWriter(tt.w, tt.begin).Interval(tt.tag, tt.start, tt.length, h)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// FuzzReadLog: hostile text gives errors or intervals within bounds.
func FuzzReadLog(f *testing.F) {
	f.Add("#[StartTime: 5.0 (seconds since epoch), x]\nTag=a,0.1,1.0,2.0," + kat11Base64)
	f.Add("Tag=,\n#[BaseTime:\n,,,\n0,0,0,")
	f.Fuzz(func(t *testing.T, text string) {
		for interval, err := range hdr.ReadLog(strings.NewReader(text)) {
			if err == nil && (interval.Histogram == nil || interval.Length < 0) {
				t.Errorf("got %+v without an error", interval)
			}
		}
	})
}
