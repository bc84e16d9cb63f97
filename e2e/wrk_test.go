package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// number is a figure with its unit and the blanks around it.
var number = regexp.MustCompile(` *\b\d+(\.\d+)?(us|ms|s|m|h|k|M|G|KB|MB|GB|B)?\b *`)

// shape is a report with "#" for each figure, line by line.
func shape(report string) []string {
	lines := strings.Split(strings.TrimRight(report, "\n"), "\n")
	for i, line := range lines {
		lines[i] = number.ReplaceAllString(line, "#")
	}
	return lines
}

// sameShape compares two reports line by line.
func sameShape(t *testing.T, got, want string) {
	t.Helper()
	g, w := shape(got), shape(want)
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("line %d differs from the original's\n got:\n%s\nwant:\n%s", i+1, got, want)
		}
	}
}

// wrkReport is what a program would read out of wrk's report.
type wrkReport struct {
	requests, non2xx   int64
	perSecond          float64
	read               float64 // bytes
	seconds            float64
	percentiles        map[string]float64 // in microseconds
	average, max       float64            // likewise
	threads, connected int64
}

var (
	wrkSummary = regexp.MustCompile(`(?m)^  (\d+) requests in ([\d.]+)(ms|s|m), ([\d.]+)([KMG]?)B read$`)
	wrkRate    = regexp.MustCompile(`(?m)^Requests/sec: +([\d.]+)$`)
	wrkLoad    = regexp.MustCompile(`(?m)^  (\d+) threads and (\d+) connections$`)
	wrkRow     = regexp.MustCompile(`(?m)^ +(\d+)% +([\d.]+)(us|ms|s)`)
	wrkLatency = regexp.MustCompile(`(?m)^    Latency +([\d.]+)(us|ms|s) +[\d.]+(?:us|ms|s) +([\d.]+)(us|ms|s) `)
	wrkNon2xx  = regexp.MustCompile(`(?m)^  Non-2xx or 3xx responses: (\d+)$`)
)

var units = map[string]float64{"us": 1, "ms": 1e3, "s": 1e6, "m": 60e6, "": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

// readWrk reads a report; a line that is missing fails the test.
func readWrk(t *testing.T, text string) wrkReport {
	t.Helper()
	r := wrkReport{percentiles: map[string]float64{}}
	summary, rate, load, latency := find(t, wrkSummary, text), find(t, wrkRate, text), find(t, wrkLoad, text), find(t, wrkLatency, text)
	r.requests, r.seconds = whole(t, summary[1]), value(t, summary[2], summary[3])/1e6
	r.read, r.perSecond = value(t, summary[4], summary[5]), value(t, rate[1], "")
	r.threads, r.connected = whole(t, load[1]), whole(t, load[2])
	r.average, r.max = value(t, latency[1], latency[2]), value(t, latency[3], latency[4])
	for _, m := range wrkRow.FindAllStringSubmatch(text, -1) {
		r.percentiles[m[1]] = value(t, m[2], m[3])
	}
	if m := wrkNon2xx.FindStringSubmatch(text); m != nil {
		r.non2xx = whole(t, m[1])
	}
	return r
}

func find(t *testing.T, pattern *regexp.Regexp, text string) []string {
	t.Helper()
	m := pattern.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("found no %s in\n%s", pattern, text)
	}
	return m
}

func value(t *testing.T, text, unit string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v * units[unit]
}

func whole(t *testing.T, text string) int64 {
	t.Helper()
	return int64(value(t, text, ""))
}

// consistent checks a report against itself. Bytes may be those of one more
// answer on each connection, which came after the end.
func (r wrkReport) consistent(t *testing.T, perAnswer float64) {
	t.Helper()
	if want := float64(r.requests) / r.seconds; r.perSecond < want*0.98 || r.perSecond > want*1.02 {
		t.Errorf("got %g requests/s, but %d in %g s", r.perSecond, r.requests, r.seconds)
	}
	if least, most := float64(r.requests), float64(r.requests+r.connected); r.read < least*perAnswer*0.98 || r.read > most*perAnswer*1.02 {
		t.Errorf("got %g bytes for %d answers of %g", r.read, r.requests, perAnswer)
	}
	last := 0.0
	for _, p := range []string{"50", "75", "90", "99"} {
		if v, ok := r.percentiles[p]; ok && (v < last || v > r.max*1.01) {
			t.Errorf("%s%% is %g us: want at least %g and at most the maximum %g", p, v, last, r.max)
		}
		last = r.percentiles[p]
	}
}

// alike compares two rates and measures them anew, three times at most, until
// they are near each other: the machine has other things to do, and so the
// limits are wide.
func alike(t *testing.T, got, want float64, again func() (got, want float64)) {
	t.Helper()
	near := func() bool { return got > 0.4*want && got < 3*want }
	for range 3 {
		if near() {
			return
		}
		got, want = again()
	}
	if !near() {
		t.Errorf("got %g requests/s, the original %g", got, want)
	}
}

// TestWrkLikeWrk: the same arguments, the same server, wrk and prony wrk.
func TestWrkLikeWrk(t *testing.T) {
	wrk := need(t, "wrk", "apt-get install wrk")
	n := startNginx(t)
	script := filepath.Join(t.TempDir(), "post.lua")
	if err := os.WriteFile(script, []byte("wrk.method = \"POST\"\nwrk.body = \"foo=bar\"\nwrk.headers[\"X-A\"] = \"b\"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, args string
		non2xx     bool
	}{
		{"latency", "-t2 -c32 -d1s --latency URL/", false},
		{"404", "-t1 -c8 -d1s URL/missing", true},
		{"script and header", "-t2 -c8 -d1s -H X-B:~c -s " + script + " URL/", false},
		{"TLS", "-t1 -c8 -d1s --latency TLS/", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := strings.Fields(strings.NewReplacer("URL", n.url(""), "TLS", n.tls("")).Replace(tt.args))
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "~", " ")
			}
			original := command(t, wrk, args...)
			ours := command(t, binary, append([]string{"wrk", "--plain"}, args...)...)
			if ours.code != original.code {
				t.Errorf("got status %d, want %d", ours.code, original.code)
			}
			sameShape(t, ours.stdout, original.stdout)
			got, want := readWrk(t, ours.stdout), readWrk(t, original.stdout)
			got.consistent(t, want.read/float64(want.requests))
			want.consistent(t, want.read/float64(want.requests))
			alike(t, got.perSecond, want.perSecond, func() (float64, float64) {
				ours, original := command(t, binary, append([]string{"wrk"}, args...)...), command(t, wrk, args...)
				return readWrk(t, ours.stdout).perSecond, readWrk(t, original.stdout).perSecond
			})
			checkNon2xx(t, got, tt.non2xx)
		})
	}
}

// checkNon2xx: every answer is above 399, or none. The answers that came after
// the end, at most one for each connection, may count here and not there.
func checkNon2xx(t *testing.T, got wrkReport, all bool) {
	t.Helper()
	least, most := int64(0), int64(0)
	if all {
		least, most = got.requests, got.requests+got.connected
	}
	if got.non2xx < least || got.non2xx > most {
		t.Errorf("got %d answers above 399, want %d to %d", got.non2xx, least, most)
	}
}

// TestPublishedWrkCommands: the commands of published benchmarks, verbatim but
// for the address and the time.
func TestPublishedWrkCommands(t *testing.T) {
	n := startNginx(t)
	size := n.answerSize(t)
	for _, line := range []string{
		"wrk -t8 -c4096 -d2s --latency --timeout 30 URL/",
		"wrk -t8 -c512 -d2s --latency URL/",
		"wrk -t8 -c8192 -d2s --latency --timeout 30 URL",
		"wrk -t4 -c64 -d2s URL/ --latency",
	} {
		t.Run(line, func(t *testing.T) {
			before := n.counters(t)
			got, out := prony(t, strings.Fields(strings.ReplaceAll(line, "URL", n.url("")))...)
			report := readWrk(t, out.stdout)
			report.consistent(t, size)
			words := strings.Fields(line)
			if want := []string{words[1], words[2]}; !slices.Equal(want, []string{"-t" + itoa(report.threads), "-c" + itoa(report.connected)}) {
				t.Errorf("got %d threads and %d connections, want %v", report.threads, report.connected, want)
			}
			if want := whole(t, strings.TrimPrefix(words[2], "-c")); got.Load.Connections.Opened != want {
				t.Errorf("got %d connections opened, want %d (%v)", got.Load.Connections.Opened, want, got.Load.Failures)
			}
			sameCount(t, n.settled(t, before, got.sent()).requests, got, 1)
			if len(report.percentiles) != 4 {
				t.Errorf("got percentiles %v, want four", report.percentiles)
			}
		})
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
