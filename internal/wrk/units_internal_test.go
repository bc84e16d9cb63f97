package wrk

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestFormatTime(t *testing.T) {
	tests := []struct {
		us   float64
		want string
	}{
		{0, "0.00us"}, {809, "809.00us"}, {849.99, "849.99us"}, {850, "0.85ms"}, {1005, "1.00ms"}, {1015, "1.01ms"},
		{2675, "2.67ms"}, {12345, "12.35ms"}, {849_999, "850.00ms"}, {999_994, "999.99ms"}, {999_995, "999.99ms"},
		{999_999, "1000.00ms"}, {1_000_000, "1.00s"}, {50_990_000, "50.99s"}, {51_000_000, "0.85m"},
		{60_000_000, "1.00m"}, {3_600_000_000, "60.00m"}, {36_000_000_000, "600.00m"},
	}
	for _, test := range tests {
		if got := formatTime(test.us); got != test.want {
			t.Errorf("formatTime(%v) = %s, want %s", test.us, got, test.want)
		}
	}
}

func TestFormatSeconds(t *testing.T) {
	tests := map[float64]string{0: "0s", 1: "1s", 50: "50s", 51: "1m", 60: "1m", 75: "1m", 90: "2m", 150: "2m", 165: "3m", 3600: "60m", 7200: "120m"}
	for s, want := range tests {
		if got := formatSeconds(s); got != want {
			t.Errorf("formatSeconds(%v) = %s, want %s", s, got, want)
		}
	}
}

func TestFormatCount(t *testing.T) {
	tests := map[float64]string{0: "0.00", 1: "1.00", 849: "849.00", 849.99: "849.99", 850: "0.85k", 26750: "26.75k",
		849_999: "850.00k", 850_000: "0.85M", 850e6: "0.85G", 850e9: "0.85T", 850e12: "850.00T"}
	for n, want := range tests {
		if got := formatCount(n); got != want {
			t.Errorf("formatCount(%v) = %s, want %s", n, got, want)
		}
	}
}

func TestFormatBytes(t *testing.T) {
	tests := map[float64]string{0: "0.00", 484: "484.00", 870: "870.00", 870.39: "870.39", 871: "0.85K", 1024: "1.00K",
		870 * 1024: "870.00K", 871 * 1024: "0.85M", 1 << 30: "1.00G", 1 << 40: "1.00T", 1 << 50: "1024.00T"}
	for n, want := range tests {
		if got := formatBytes(long(n)); got != want {
			t.Errorf("formatBytes(%v) = %s, want %s", n, got, want)
		}
	}
}

func TestColumn(t *testing.T) {
	tests := []struct {
		name, text string
		width      int
		want       string
	}{
		{"two letters", "0.98ms", 8, "  0.98ms"},
		{"one letter", "5.01s", 10, "    5.01s "},
		{"one letter, count", "26.75k", 8, " 26.75k "},
		{"none", "780.00", 8, "780.00  "},
		{"cut", "123456.00", 8, "123456  "},
		{"cut unit", "1000.00ms", 8, "1000.00m"},
		{"short", "1", 8, "     1  "},
	}
	for _, test := range tests {
		if got := column(test.text, test.width); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// number splits a printed quantity and returns it in its base unit.
func number(t *testing.T, text string) float64 {
	t.Helper()
	factors := map[string]float64{"": 1, "us": 1, "ms": 1e3, "s": 1e6, "m": 60e6, "k": 1e3, "K": 1 << 10, "M": 1e6, "MB": 1 << 20, "GB": 1 << 30, "KB": 1 << 10, "B": 1}
	digits := strings.TrimRight(text, "usmkKMGB")
	v, err := strconv.ParseFloat(digits, 64)
	factor, ok := factors[text[len(digits):]]
	if err != nil || !ok {
		t.Fatalf("cannot read %q", text)
	}
	return v * factor
}

// TestPublishedReports reads the figures of reports that others have published
// and prints them again: every line must come out as it was.
func TestPublishedReports(t *testing.T) {
	files, _ := filepath.Glob("testdata/published-*.txt")
	real41, _ := filepath.Glob("testdata/wrk-4.1-[ns]*.txt")
	files = append(files, real41...)
	if len(files) != 4 {
		t.Fatalf("got %d reports, want 4", len(files))
	}
	row3 := regexp.MustCompile(`^    (Latency|Req/Sec) +(\S+) +(\S+) +(\S+) +(\S+)%$`)
	percent := regexp.MustCompile(`^ +(\d+)% +(\S+) *$`)
	count := regexp.MustCompile(`^  (\d+) requests in (\S+), (\S+)B read$`)
	rate := regexp.MustCompile(`^(Requests|Transfer)/sec: +(\S+)$`)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, line := range strings.Split(string(data), "\n") {
			got := line
			if m := row3.FindStringSubmatch(line); m != nil {
				got = againRow(t, m)
			} else if m := percent.FindStringSubmatch(line); m != nil {
				p, _ := strconv.Atoi(m[1])
				got = strings.Repeat(" ", 5) + strconv.Itoa(p) + "%" + column(formatTime(number(t, m[2])), 10)
			} else if m := count.FindStringSubmatch(line); m != nil {
				got = "  " + m[1] + " requests in " + formatTime(number(t, m[2])) + ", " + formatBytes(long(number(t, m[3]+"B"))) + "B read"
			} else if m := rate.FindStringSubmatch(line); m != nil {
				got = againRate(t, m)
			} else {
				continue
			}
			seen++
			if got != line {
				t.Errorf("%s: got %q, want %q", file, got, line)
			}
		}
		if seen != 9 {
			t.Errorf("%s: recognized %d lines, want 9", file, seen)
		}
	}
}

func againRow(t *testing.T, m []string) string {
	t.Helper()
	within, err := strconv.ParseFloat(m[5], 64)
	if err != nil {
		t.Fatal(err)
	}
	format := formatTime
	if m[1] == "Req/Sec" {
		format = formatCount
	}
	v := &Values{mean: number(t, m[2]), stdev: number(t, m[3]), max: number(t, m[4]), within: within / 100}
	return strings.TrimSuffix(row(m[1], v, format, false), "\n")
}

func againRate(t *testing.T, m []string) string {
	t.Helper()
	totals := Totals{DurationUS: 1_000_000_000} // a thousand seconds keep the decimals
	if m[1] == "Requests" {
		totals.Requests = int64(number(t, m[2])*1000 + 0.5)
	} else {
		totals.Bytes = int64(number(t, m[2]) * 1000)
	}
	for _, line := range strings.Split(totals.lines(), "\n") {
		if strings.HasPrefix(line, m[1]) {
			return line
		}
	}
	return ""
}
