package generator_test

import (
	"strings"
	"testing"
	"time"

	"prony/internal/generator"
	"prony/internal/plan"
	"prony/internal/schedule"
)

// TestRefusals: what a program cannot do is refused by name, and nothing else
// is. The texts are those of the refusals alone: no program has to be installed.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*plan.Load)
		want map[string]string // program to a part of its refusal; the others take the load
	}{
		{"plain", func(*plan.Load) {}, nil},
		{"half a second", func(l *plan.Load) { l.Duration = 500 * time.Millisecond },
			map[string]string{"wrk": "duration 500ms: it takes multiples of 1s", "ab": "duration 500ms"}},
		{"warm-up", func(l *plan.Load) { l.Warmup = time.Second }, nil},
		{"count", func(l *plan.Load) { l.Count, l.Duration = 10, 0 },
			map[string]string{"wrk": "after a number of requests", "vegeta": "after a number", "gatling": "after a number",
				"hey": "it sends 2 requests on each connection and drops the rest"}},
		{"count and time", func(l *plan.Load) { l.Count = 8 }, map[string]string{"wrk": "after a number", "h2load": "not both", "hey": "not both",
			"vegeta": "after a number", "bombardier": "not both", "oha": "not both", "gatling": "after a number"}},
		{"connections over threads", func(l *plan.Load) { l.Connections, l.Threads = 10, 3 },
			map[string]string{"wrk": "it would open 9 of 10 connections with 3 threads"}},
		{"no keep-alive", func(l *plan.Load) { l.NoKeepAlive = true }, map[string]string{"h2load": "no keep-alive"}},
		{"header twice", func(l *plan.Load) {
			l.Requests[0].Headers = []plan.Header{{Name: "X", Value: "1"}, {Name: "x", Value: "2"}}
		},
			map[string]string{"wrk": "header x twice"}},
		{"host", func(l *plan.Load) { l.Requests[0].Host = "example.org" }, map[string]string{"bombardier": "it connects to the host that it asks for"}},
		{"host as a header", func(l *plan.Load) { l.Requests[0].Headers = []plan.Header{{Name: "HOST", Value: "example.org"}} },
			map[string]string{"bombardier": "it connects to the host that it asks for"}},
		{"HEAD", func(l *plan.Load) { l.Requests[0].Method = "HEAD" }, map[string]string{"wrk": "HEAD"}},
		{"timeout", func(l *plan.Load) { l.Timeouts.Request = 1500 * time.Millisecond },
			map[string]string{"wrk": "timeout 1.5s: it takes multiples of 1s", "ab": "timeout 1.5s", "hey": "timeout 1.5s", "h2load": "it has none for a request"}},
		{"https", func(l *plan.Load) { l.Requests[0].URL = "https://h/" },
			map[string]string{"wrk": "insecure: true", "ab": "does not verify", "h2load": "does not verify", "hey": "does not verify", "gatling": "does not verify"}},
		{"https unverified", func(l *plan.Load) { l.Requests[0].URL, l.TLS.Insecure = "https://h/", true }, nil},
		{"rate", func(l *plan.Load) { l.Model, l.Arrivals = plan.Open, schedule.Rate(100) },
			map[string]string{"wrk": "a rate (open model): it has none", "ab": "a rate", "h2load": "--rps", "hey": "-q", "bombardier": "-r", "oha": "-q", "gatling": "closed loop"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, p := range generator.Programs() {
				l := load(p.Name, "http://127.0.0.1:1/")
				tt.edit(&l)
				got := refusal(t, l)
				want := tt.want[p.Name]
				if want == "" && got != "" || !strings.Contains(got, want) {
					t.Errorf("%s: got %q, want %q", p.Name, got, want)
				}
			}
		})
	}
}

// refusal is what Check says, without what is not installed here.
func refusal(t *testing.T, l plan.Load) string {
	t.Helper()
	err := generator.Check(l)
	if err == nil {
		return ""
	}
	var lines []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !strings.Contains(line, "not installed; install it with:") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// TestRefusedByAll: what no other program can do.
func TestRefusedByAll(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*plan.Load)
		want string
	}{
		{"two requests", func(l *plan.Load) { l.Requests = append(l.Requests, l.Requests[0]) }, "the load has 2 with weights"},
		{"think time", func(l *plan.Load) { l.Think.Mean = time.Second }, "think time"},
		{"engine", func(l *plan.Load) { l.Engine = plan.IOURing }, "engine io_uring"},
		{"kernel timestamps", func(l *plan.Load) { l.Timestamps = plan.KernelTimestamps }, "timestamps kernel"},
		{"dial", func(l *plan.Load) { l.Dial = "unix:/tmp/x" }, "dial"},
		{"connect rate", func(l *plan.Load) { l.ConnectRate = 5 }, "connect-rate"},
		{"abort", func(l *plan.Load) { l.AbortAfter = 5 }, "abort-after"},
		{"records", func(l *plan.Load) { l.Record = 5 }, "records"},
		{"body bound", func(l *plan.Load) { l.MaxBody = 5 }, "bound on the size"},
		{"target", func(l *plan.Load) { l.Requests[0].Target = "*" }, `request target "*"`},
		{"line in a header", func(l *plan.Load) { l.Requests[0].Headers = []plan.Header{{Name: "X", Value: "a\nb"}} }, "one line"},
		{"method", func(l *plan.Load) { l.Requests[0].Method = "GET /\n" }, "method"},
		{"URL", func(l *plan.Load) { l.Requests[0].URL = "ftp://h/" }, "want http://"},
		{"ramp", func(l *plan.Load) { l.Model, l.Arrivals = plan.Open, schedule.Ramp(1, 2, time.Second) }, "rate"},
		{"ciphers", func(l *plan.Load) {
			l.Requests[0].URL, l.TLS.Insecure, l.TLS.Ciphers = "https://h/", true, []string{"TLS_RSA_WITH_AES_128_CBC_SHA"}
		}, "cipher suites"},
		{"TLS version", func(l *plan.Load) { l.Requests[0].URL, l.TLS.Insecure, l.TLS.MinVersion = "https://h/", true, "1.3" }, "TLS versions"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, p := range generator.Programs() {
				l := load(p.Name, "http://127.0.0.1:1/")
				tt.edit(&l)
				if got := refusal(t, l); !strings.HasPrefix(got, p.Name+": ") || !strings.Contains(got, tt.want) {
					t.Errorf("%s: got %q, want %q", p.Name, got, tt.want)
				}
			}
		})
	}
}

// TestRates: vegeta, the only one that sends by a rate, keeps one that is
// constant.
func TestRates(t *testing.T) {
	poisson := schedule.Rate(1)
	poisson.Process = schedule.Poisson
	for _, tt := range []struct {
		name     string
		arrivals schedule.Arrivals
		want     string
	}{
		{"constant", schedule.Rate(1), ""},
		{"Poisson", poisson, "vegeta: poisson arrivals: it sends at constant gaps; use arrivals: constant"},
		{"ramp", schedule.Ramp(1, 2, time.Second), "vegeta: a rate that changes, or planned times: it sends at one rate"},
		{"steps", schedule.Steps(time.Second, 1, 2), "vegeta: a rate that changes, or planned times: it sends at one rate"},
		{"replay", schedule.Replay([]int64{1, 2}), "vegeta: a rate that changes, or planned times: it sends at one rate"},
	} {
		l := load("vegeta", "http://127.0.0.1:1/")
		l.Model, l.Arrivals = plan.Open, tt.arrivals
		if got := refusal(t, l); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestAllAtOnce: every reason in one answer.
func TestAllAtOnce(t *testing.T) {
	l := load("wrk", "http://127.0.0.1:1/")
	l.Think.Mean, l.Count, l.Pipeline, l.SameLength = time.Second, 5, 2, true
	got := refusal(t, l)
	want := []string{"wrk: it cannot end after a number of requests: use a duration", "wrk: think time: its connections send again at once",
		"wrk: same-length: it does not compare the lengths of answers", "wrk: pipelining: it has one request in flight on a connection"}
	if got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if got := refusal(t, load("siege", "http://h/")); !strings.Contains(got, `load with "siege": no such program; want one of wrk, ab,`) {
		t.Errorf("got %q for a program that nobody knows", got)
	}
}

func TestLua(t *testing.T) {
	for in, want := range map[string]string{"POST": `"POST"`, "a\"\\\n": `"a\034\092\010"`, "\x00\xff1": `"\000\2551"`} {
		if got := generator.Lua(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestPerSecond(t *testing.T) {
	for in, want := range map[float64]string{100: "100/1s", 2.5: "2500/1000s", 0.001: "1/1000s"} {
		if got := generator.PerSecond(in); got != want {
			t.Errorf("%g: got %s, want %s", in, got, want)
		}
	}
}

// FuzzRead: no text makes books that do not balance.
func FuzzRead(f *testing.F) {
	for _, p := range generator.Programs() {
		f.Add(p.Name, report(f, p.Name), int64(0))
		f.Add(p.Name, report(f, p.Name), int64(1000))
	}
	f.Fuzz(func(t *testing.T, with, text string, count int64) {
		l := load("wrk", "http://127.0.0.1:1/")
		l.With, l.Count = with, max(count, 0)
		r, _, ok := generator.Read(l, text)
		if !ok {
			return
		}
		q := r.Requests
		if !q.Balanced() || q.Completed < 0 || q.Failed < 0 || q.CutOff < 0 || q.Unsent < 0 || r.DurationUS < 0 {
			t.Errorf("got %+v for %v us", q, r.DurationUS)
		}
	})
}
