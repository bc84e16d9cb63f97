package main

import (
	"bytes"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	tests := []struct {
		name   string
		values []float64
		want   spread
		text   string
	}{
		{"none", nil, spread{}, "–"},
		{"one", []float64{1.234}, spread{1.234, 1.234, 1.234, 1}, "1.23"},
		{"odd", []float64{3, 1, 2}, spread{2, 1, 3, 3}, "2.00 (1.00–3.00)"},
		{"even", []float64{4, 1, 2, 3}, spread{2.5, 1, 4, 4}, "2.50 (1.00–4.00)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := spreadOf(tt.values)
			if got != tt.want || got.ratio() != tt.text {
				t.Errorf("got %+v %q, want %+v %q", got, got.ratio(), tt.want, tt.text)
			}
		})
	}
}

func run1(round int, requests, cpuUS int64) sample {
	return sample{Round: round, reading: reading{Requests: requests, Rate: float64(requests)}, UserUS: cpuUS / 2, SysUS: cpuUS - cpuUS/2}
}

// TestCompare divides within a round only: the rounds here differ by a factor
// of ten, and the second generator missed the first of them.
func TestCompare(t *testing.T) {
	base := &entry{Generator: wrk, Runs: []sample{run1(0, 100, 1e6), run1(1, 1000, 1e6), run1(2, 10, 1e6)}}
	other := &entry{Generator: uring, Runs: []sample{run1(2, 30, 1e6), run1(1, 1000, 500_000)}}
	compare([]*entry{base, other})
	if want := (spread{2.5, 2, 3, 2}); other.Efficiency != want {
		t.Errorf("efficiency: got %+v, want %+v", other.Efficiency, want)
	}
	if want := (spread{2, 1, 3, 2}); other.Speed != want {
		t.Errorf("speed: got %+v, want %+v", other.Speed, want)
	}
	if want := (spread{1, 1, 1, 3}); base.Efficiency != want {
		t.Errorf("the reference to itself: got %+v, want %+v", base.Efficiency, want)
	}
}

func TestOrder(t *testing.T) {
	for round, want := range [][]int{{0, 1, 2}, {2, 1, 0}, {0, 1, 2}} {
		if got := order(3, round); !slices.Equal(got, want) {
			t.Errorf("round %d: got %v, want %v", round, got, want)
		}
	}
}

// TestKAT4StallQuantile compares the closed form with the times themselves: of
// requests every 5 ms, those planned in the stall end with it.
func TestKAT4StallQuantile(t *testing.T) {
	p := stallPlan{Rate: 200, Length: 8 * time.Second, After: 3 * time.Second, Stall: time.Second}
	times := make([]float64, 1600)
	for i := range times {
		if at := time.Duration(i) * 5 * time.Millisecond; at >= p.After && at < p.After+p.Stall {
			times[i] = us(p.After + p.Stall - at)
		}
	}
	slices.Sort(times)
	for q, want := range map[float64]float64{0.5: 0, 0.9: 200e3, 0.95: 600e3, 0.99: 920e3} {
		got := p.quantileUS(q)
		if math.Abs(got-want) > 1 {
			t.Errorf("p%g: got %v µs, want %v", 100*q, got, want)
		}
		if real := times[nearestRank(len(times), q)]; math.Abs(got-real) > 5001 {
			t.Errorf("p%g: got %v µs, the requests say %v", 100*q, got, real)
		}
	}
}

func TestNearestRank(t *testing.T) {
	for _, tt := range []struct {
		n    int
		q    float64
		want int
	}{{100, 0.99, 98}, {100, 0.5, 49}, {1, 0.5, 0}, {3, 1, 2}, {3, 0, 0}, {1000, 0.999, 998}} {
		if got := nearestRank(tt.n, tt.q); got != tt.want {
			t.Errorf("%d, %g: got %d, want %d", tt.n, tt.q, got, tt.want)
		}
	}
	got := heldUS([]time.Duration{time.Millisecond, 2 * time.Millisecond})
	if got["p50"] != 1000 || got["max"] != 2000 {
		t.Errorf("held: got %v", got)
	}
}

func TestFill(t *testing.T) {
	tests := []struct {
		name, template string
		load           load
		want           string
	}{
		{"closed", "-c {c} -d {s}s {url}", load{url: "http://h/", connections: 64, duration: 3 * time.Second}, "-c 64 -d 3s http://h/"},
		{"plain", "load {url} {k} {sources} -q", load{url: "http://h/"}, "load http://h/ -q"},
		{"tls", "load {url} {k} {sources} -q", load{url: "https://h/"}, "load https://h/ -k -q"},
		{"sources", "{sources} -q", load{sources: []string{"127.0.0.2", "127.0.0.3"}}, "--source 127.0.0.2 --source 127.0.0.3 -q"},
		{"rate", "-r {rate} -q {tenth} -o {file}", load{rate: 200}, "-r 200 -q 20 -o /s/results.bin"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(fill(tt.template, "/s", tt.load), " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestTemplates holds every command line to filling completely.
func TestTemplates(t *testing.T) {
	l := load{url: "http://h/", connections: 64, duration: time.Second}
	for _, g := range generators() {
		open := l
		open.rate = 200
		for _, argv := range [][]string{g.command("/bin/x", "/s", l), g.command("/bin/x", "/s", open)} {
			if line := shown(argv); strings.ContainsAny(line, "{}") || !strings.HasPrefix(line, "x") {
				t.Errorf("%s: got %q", g.name, line)
			}
		}
		if (g.open == "") != (g.model == "") {
			t.Errorf("%s: a rate and its model go together", g.name)
		}
	}
}

func TestSettings(t *testing.T) {
	tests := []struct{ name, args, want string }{
		{"fraction of a second", "-duration 1500ms", "whole number of seconds"},
		{"no rounds", "-rounds 0", "not above 0"},
		{"one core", "-server-core 1 -generator-core 1", "share core 1"},
		{"too many cores", "-generator-core 4096", "core 4096 asked for"},
		{"pattern", "-only (", "read -only"},
		{"argument", "page.md", "page.md"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := parse(strings.Fields(tt.args), io.Discard); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if hostCores() < 2 {
		t.Skip("the defaults need two cores")
	}
	quick, err := parse([]string{"-quick"}, io.Discard)
	if err != nil || quick.rounds != 1 || quick.duration != time.Second || quick.out != "-" {
		t.Errorf("quick: got %+v, %v", quick, err)
	}
	named, err := parse([]string{"-quick", "-out", "x.md", "-rounds", "2"}, io.Discard)
	if err != nil || named.rounds != 2 || named.out != "x.md" {
		t.Errorf("quick with flags: got %+v, %v", named, err)
	}
}

func TestStrace(t *testing.T) {
	calls := straceTable(string(read(t, "strace.txt")))
	for name, want := range map[string]int64{"futex": 125, "nanosleep": 109, "sendto": 200, "openat": 53, "total": 0} {
		if calls[name] != want {
			t.Errorf("%s: got %d, want %d", name, calls[name], want)
		}
	}
	row := callRow{Requests: 100, Calls: map[string]int64{"read": 100, "write": 110}}
	if got := row.perRequest(); got != 2.1 {
		t.Errorf("without perf: got %v, want 2.1", got)
	}
	row.Undisturbed, row.UndisturbedRequests = 1000, 2000
	if got, want := row.perRequest(), 0.5; got != want || row.straced() != 2.1 || row.most() != "write 1.100, read 1.000" {
		t.Errorf("with perf: got %v, %v and %q", got, row.straced(), row.most())
	}
}

func TestPerfStat(t *testing.T) {
	text := []byte("# started on Mon\n\n5232,,raw_syscalls:sys_enter,1026513473,100.00,,\n")
	if n, ok := perfStat(text, "raw_syscalls:sys_enter"); n != 5232 || !ok {
		t.Errorf("got %d, %v", n, ok)
	}
	if _, ok := perfStat([]byte("<not supported>,,raw_syscalls:sys_enter,0,,,\n"), "raw_syscalls:sys_enter"); ok {
		t.Error("what perf cannot count is not a count")
	}
}

func TestHighWater(t *testing.T) {
	if got := highWater([]byte("Name:\tx\nVmPeak:\t 9 kB\nVmHWM:\t   15716 kB\nVmRSS:\t 5 kB\n")); got != 15716<<10 {
		t.Errorf("got %d", got)
	}
	if got := highWater([]byte("Name:\tzombie\n")); got != 0 {
		t.Errorf("without one: got %d", got)
	}
}

// TestClassify names the part of stacks as perf prints them, leaf first.
func TestClassify(t *testing.T) {
	const k = " ([kernel.kallsyms])\n"
	stacks := []struct{ text, want string }{
		{" f1 copy_user" + k + " f2 tcp_v4_rcv" + k + " f3 tcp_sendmsg" + k + " 4 main (/x/prony)\n", "kernel: delivery on loopback (softirq)"},
		{" f1 skb_copy" + k + " f3 tcp_sendmsg" + k + " f4 io_send" + k, "kernel: send path"},
		{" f1 skb_free" + k + " f3 tcp_recvmsg_locked" + k + " f4 io_recv" + k, "kernel: receive path"},
		{" f1 io_submit_sqes" + k, "kernel: io_uring"},
		{" f1 ep_poll" + k, "kernel: epoll"},
		{" 45 prony/internal/httpwire.(*Parser).Feed (/x/prony)\n 46 runtime.goexit (/x/prony)\n", "program: parser"},
		{" 45 prony/internal/engine.(*worker).loop (/x/prony)\n 46 runtime.goexit (/x/prony)\n", "program: the rest"},
		{" 45 runtime.memequal (/x/prony)\n", "program: Go runtime"},
	}
	var all strings.Builder
	want := map[string]float64{}
	for _, s := range stacks {
		all.WriteString(s.text + "\n")
		want[s.want] += 1 / float64(len(stacks))
	}
	got, n := classify([]byte(all.String()))
	if n != len(stacks) || !reflect.DeepEqual(got, want) {
		t.Errorf("got %d stacks, %v, want %v", n, got, want)
	}
}

func TestGoalJudged(t *testing.T) {
	tests := []struct {
		name     string
		goal     goal
		measured float64
		known    bool
		want     bool
	}{
		{"reached", goal{Bound: 1.4}, 1.4, true, true},
		{"not reached", goal{Bound: 1.4}, 1.39, true, false},
		{"below a limit", goal{Bound: 0.5, AtMost: true}, 0.1, true, true},
		{"above a limit", goal{Bound: 0.5, AtMost: true}, 0.6, true, false},
		{"unknown is not met", goal{Bound: 0.5, AtMost: true}, 0, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.goal.judged(tt.measured, tt.known).Met; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	for _, g := range goals(&report{}) {
		if g.Known || g.Met {
			t.Errorf("an empty report has %+v", g)
		}
	}
}

// TestSkip keeps what could not be measured on the page.
func TestSkip(t *testing.T) {
	b := &bench{log: io.Discard, report: &report{}}
	b.skip("fortio", io.ErrUnexpectedEOF)
	var page1 bytes.Buffer
	if err := page(&page1, b.report); err != nil || !strings.Contains(page1.String(), "- fortio: unexpected EOF") {
		t.Errorf("got %v and %s", err, page1.String())
	}
}
