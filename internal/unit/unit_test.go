package unit_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"prony/internal/unit"
)

// parsed is one text and what it means; want is NaN for texts that must be
// refused, and then err is part of the message.
type parsed struct {
	text string
	want float64
	err  string
}

// refused is a text that must not parse.
func refused(text, err string) parsed { return parsed{text, math.NaN(), err} }

// checkParse runs a table through a parser.
func checkParse(t *testing.T, parse func(string) (float64, error), hint string, table []parsed) {
	t.Helper()
	for _, tt := range table {
		t.Run(tt.text, func(t *testing.T) {
			got, err := parse(tt.text)
			if !math.IsNaN(tt.want) {
				if err != nil || got != tt.want {
					t.Errorf("got %v, %v, want %v", got, err, tt.want)
				}
				return
			}
			if err == nil {
				t.Fatalf("got %v, want an error with %q", got, tt.err)
			}
			if msg := err.Error(); !strings.Contains(msg, tt.err) || !strings.Contains(msg, hint) {
				t.Errorf("got %q, want %q and the hint %q", msg, tt.err, hint)
			}
		})
	}
}

func TestParseDuration(t *testing.T) {
	parse := func(s string) (float64, error) {
		d, err := unit.ParseDuration(s)
		return float64(d), err
	}
	checkParse(t, parse, "write 500ms, 10s, 1m30s or 30 (seconds)", []parsed{
		{"10s", 10e9, ""},
		{"1m30s", 90e9, ""},
		{"500ms", 500e6, ""},
		{"1.5s", 1.5e9, ""},
		{"2h", 7200e9, ""},
		{"250us", 250e3, ""},
		{"250µs", 250e3, ""},
		{"250μs", 250e3, ""},
		{"7ns", 7, ""},
		{"30", 30e9, ""},
		{"0.5", 500e6, ""},
		{".5", 500e6, ""},
		{"0", 0, ""},
		{" 10s ", 10e9, ""},
		{"9223372036", 9223372036e9, ""},
		refused("", "empty"),
		refused("  ", "empty"),
		refused("-5s", "negative"),
		refused("-5", "negative"),
		refused("+5s", "not a number"),
		refused("s", "not a number"),
		refused(".", "not a number"),
		refused("1.2.3s", "not a number"),
		refused("NaN", "not a number"),
		refused("inf", "not a number"),
		refused("1e3", "not understood"),
		refused("0x10", "not understood"),
		refused("1m30", "not understood"),
		refused("10 parsecs", "not understood"),
		refused("5d", "not understood"),
		refused("9223372037", "too long"),
		refused("2562048h", "too long"),
		refused(strings.Repeat("9", 100), "too many digits"),
	})
}

func TestParseRate(t *testing.T) {
	checkParse(t, unit.ParseRate, "write 5", []parsed{
		{"5000", 5000, ""},
		{"5000/s", 5000, ""},
		{"300/m", 5, ""},
		{"300/min", 5, ""},
		{"2k/s", 2000, ""},
		{"2K", 2000, ""},
		{"0.5/s", 0.5, ""},
		{"1.2M/s", 1.2e6, ""},
		{"10/h", 10.0 / 3600, ""},
		{"1/m", 1.0 / 60, ""},
		{"0", 0, ""},
		{" 5 k / s ", 5000, ""},
		refused("", "empty"),
		refused("/s", "empty"),
		refused("-1/s", "negative"),
		refused("5m", "m is ambiguous"),
		refused("5m/s", "m is ambiguous"),
		refused("5x/s", `unknown multiple "x"`),
		refused("5/", "unknown time unit"),
		refused("5/d", "unknown time unit"),
		refused("5/s/s", "unknown time unit"),
		refused("1e3/s", `unknown multiple "e3"`),
		refused("NaN", "not a number"),
	})
}

func TestParseCount(t *testing.T) {
	parse := func(s string) (float64, error) {
		n, err := unit.ParseCount(s)
		return float64(n), err
	}
	checkParse(t, parse, "write 500000, 10k or 1.5M", []parsed{
		{"500000", 500_000, ""},
		{"10k", 10_000, ""},
		{"10K", 10_000, ""},
		{"1.5M", 1_500_000, ""},
		{"1.5m", 1_500_000, ""},
		{"2G", 2e9, ""},
		{"3t", 3e12, ""},
		{"0.001k", 1, ""},
		{"5.0", 5, ""},
		{"3,776,123", 3_776_123, ""},
		{"0", 0, ""},
		refused("", "empty"),
		refused("-3", "negative"),
		refused("1.5", "not a whole number"),
		refused("0.0015k", "not a whole number"),
		refused("1,5", "groups of three"),
		refused("1234,567", "groups of three"),
		refused("1,000k", "groups of three"),
		refused(",123", "groups of three"),
		refused("1,000.5k,", "groups of three"),
		refused("9223372036854775808", "too large"),
		refused("9300000T", "too large"),
		refused("10 apples", `unknown multiple "apples"`),
	})
	if got, err := unit.ParseCount("9223372036854775807"); got != math.MaxInt64 {
		t.Errorf("largest: got %d, %v", got, err)
	}
}

func TestParseSize(t *testing.T) {
	parse := func(s string) (float64, error) {
		n, err := unit.ParseSize(s)
		return float64(n), err
	}
	checkParse(t, parse, "write 512, 64k, 10MB or 400MiB", []parsed{
		{"512", 512, ""},
		{"512B", 512, ""},
		{"64k", 64_000, ""},
		{"64kB", 64_000, ""},
		{"64Ki", 65_536, ""},
		{"64KiB", 65_536, ""},
		{"400Mi", 400 << 20, ""},
		{"400 mib", 400 << 20, ""},
		{"4GiB", 4 << 30, ""},
		{"10MB", 10e6, ""},
		{"1.5GiB", 1.5 * (1 << 30), ""},
		{"2TiB", 2 << 40, ""},
		{"3T", 3e12, ""},
		{"1.1GiB", 1_181_116_006, ""},
		{"0.3KiB", 307, ""},
		{"0", 0, ""},
		refused("", "empty"),
		refused("-1k", "negative"),
		refused("1.5", "a part of a byte"),
		refused("1.5B", "a part of a byte"),
		refused("5bits", `unknown unit "bits"`),
		refused("5i", `unknown unit "i"`),
		refused("9000000TiB", "too large"),
	})
}

func TestParsePercent(t *testing.T) {
	checkParse(t, unit.ParsePercent, "write 0.1% or 5%", []parsed{
		{"0.1%", 0.001, ""},
		{"5 %", 0.05, ""},
		{"99.9%", 0.999, ""},
		{"0%", 0, ""},
		{"100%", 1, ""},
		{"150%", 1.5, ""},
		refused("0.1", "the % sign is missing"),
		refused("", "empty"),
		refused("%", "not a number"),
		refused("-1%", "negative"),
		refused("5%%", `unknown unit "%%"`),
		refused("5 percent", `unknown unit "percent"`),
	})
}

func TestParseCPUs(t *testing.T) {
	checkParse(t, unit.ParseCPUs, "write 4, 0.2 or 200m", []parsed{
		{"0.2", 0.2, ""},
		{"200m", 0.2, ""},
		{"4", 4, ""},
		{"1500 m", 1.5, ""},
		refused("0", "none"),
		refused("0m", "none"),
		refused("", "empty"),
		refused("-1", "negative"),
		refused("2M", `unknown unit "M"`),
		refused("all", "not a number"),
	})
}

func TestErrorsAreBounded(t *testing.T) {
	_, err := unit.ParseDuration(strings.Repeat("long ", 10_000))
	if err == nil || len(err.Error()) > 200 {
		t.Errorf("got an error of %d bytes", len(err.Error()))
	}
}

func TestErrorText(t *testing.T) {
	_, err := unit.ParseDuration("ten")
	want := `duration "ten": not a number; write 500ms, 10s, 1m30s or 30 (seconds)`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestFormatDuration(t *testing.T) {
	for _, tt := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0s"},
		{1, "1ns"},
		{812, "812ns"},
		{999, "999ns"},
		{1000, "1µs"},
		{12_345, "12.3µs"},
		{999_499, "999µs"},
		{999_500, "1ms"},
		{4_567_890, "4.57ms"},
		{10 * time.Millisecond, "10ms"},
		{500 * time.Millisecond, "500ms"},
		{999_949_999, "1s"},
		{1_234_567_890, "1.23s"},
		{1500 * time.Millisecond, "1.5s"},
		{59_940 * time.Millisecond, "59.9s"},
		{59_960 * time.Millisecond, "1m"},
		{time.Minute, "1m"},
		{90 * time.Second, "1m30s"},
		{90*time.Second + 499*time.Millisecond, "1m30s"},
		{59*time.Minute + 59*time.Second, "59m59s"},
		{59*time.Minute + 59*time.Second + 600*time.Millisecond, "1h"},
		{2*time.Hour + 5*time.Minute, "2h5m"},
		{2*time.Hour + 4*time.Minute + 31*time.Second, "2h5m"},
		{100 * time.Hour, "100h"},
		{-1500 * time.Microsecond, "-1.5ms"},
		{math.MaxInt64, "2562047h47m"},
		{math.MinInt64, "-2562047h47m"},
	} {
		if got := unit.FormatDuration(tt.d); got != tt.want {
			t.Errorf("%d ns: got %q, want %q", int64(tt.d), got, tt.want)
		}
	}
}

func TestFormatSI(t *testing.T) {
	for _, tt := range []struct {
		v    float64
		want string
	}{
		{0, "0"},
		{math.Copysign(0, -1), "0"},
		{0.52, "0.52"},
		{0.5204, "0.52"},
		{0.001, "0.001"},
		{0.0001234, "0.000123"},
		{1e-7, "1e-07"},
		{1, "1"},
		{812, "812"},
		{812.4, "812"},
		{999.4, "999"},
		{999.6, "1k"},
		{62_893, "62.9k"},
		{1_234_567, "1.23M"},
		{2e9, "2G"},
		{7.77e12, "7.77T"},
		{1e15, "1e+15"},
		{-62_893, "-62.9k"},
		{math.NaN(), "NaN"},
		{math.Inf(1), "+Inf"},
		{math.MaxFloat64, "1.8e+308"},
	} {
		if got := unit.FormatSI(tt.v); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.v, got, tt.want)
		}
	}
	if got, want := unit.FormatRate(62_893), "62.9k/s"; got != want {
		t.Errorf("rate: got %q, want %q", got, want)
	}
}

func TestFormatCount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 65_535: "65,535", 123_456: "123,456",
		3_776_123: "3,776,123", -1000: "-1,000", -999: "-999",
		math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := unit.FormatCount(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

func TestFormatSize(t *testing.T) {
	for _, tt := range []struct {
		bytes float64
		want  string
	}{
		{0, "0 B"},
		{6, "6 B"},
		{6.25, "6.2 B"},
		{1023, "1023 B"},
		{1023.97, "1 KiB"},
		{1024, "1 KiB"},
		{12_595, "12.3 KiB"},
		{1<<20 - 1, "1 MiB"},
		{741.9 * (1 << 20), "741.9 MiB"},
		{1.5 * (1 << 30), "1.5 GiB"},
		{1 << 40, "1 TiB"},
		{1 << 50, "1 PiB"},
		{1 << 60, "1 EiB"},
		{-2048, "-2 KiB"},
	} {
		if got := unit.FormatSize(tt.bytes); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.bytes, got, tt.want)
		}
	}
}

func TestFormatPercent(t *testing.T) {
	for _, tt := range []struct {
		ratio float64
		want  string
	}{
		{0, "0%"},
		{0.00012, "0.012%"},
		{0.001, "0.1%"},
		{0.07, "7%"},
		{0.4567, "45.7%"},
		{0.999, "99.9%"},
		{0.9994, "99.9%"},
		{0.9996, "99.96%"},
		{0.99999, "99.999%"},
		{0.9999999, "99.99999%"},
		{1 - 1e-12, ">99.999999%"},
		{1, "100%"},
		{1.5, "150%"},
		{1e-8, "0.000001%"},
		{1e-12, "<0.000001%"},
		{math.SmallestNonzeroFloat64, "<0.000001%"},
		{-0.031, "-3.1%"},
		{math.NaN(), "NaN%"},
	} {
		if got := unit.FormatPercent(tt.ratio); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.ratio, got, tt.want)
		}
	}
}
