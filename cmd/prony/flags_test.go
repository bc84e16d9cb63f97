package main

import (
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"prony/internal/plan"
	"prony/internal/schedule"
)

// parseLoad parses the arguments of prony load into a plan.
func parseLoad(t *testing.T, args ...string) (plan.Plan, error) {
	t.Helper()
	f := loadFlags{}
	cmd := loadCommand(streams{})
	cmd.ResetFlags()
	f.register(cmd.Flags())
	if err := cmd.ParseFlags(args); err != nil {
		return plan.Plan{}, err
	}
	return f.plan(cmd.Flags().Args())
}

func mustParseLoad(t *testing.T, args ...string) plan.Load {
	t.Helper()
	p, err := parseLoad(t, args...)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return p.Load
}

const someURL = "http://127.0.0.1:8080/"

func TestRateForms(t *testing.T) {
	for _, tt := range []struct {
		name, rate, window string
		from, to           []float64
		length             time.Duration // of each segment; 0: no end
	}{
		{"bare number", "500", "", []float64{500}, []float64{500}, 0},
		{"per second", "500/s", "", []float64{500}, []float64{500}, 0},
		{"thousands", "2k/s", "", []float64{2000}, []float64{2000}, 0},
		{"millions", "1.5M/s", "", []float64{1.5e6}, []float64{1.5e6}, 0},
		{"per minute", "300/m", "", []float64{5}, []float64{5}, 0},
		{"per hour", "36/h", "", []float64{0.01}, []float64{0.01}, 0},
		{"fraction", "0.5/s", "", []float64{0.5}, []float64{0.5}, 0},
		{"ramp", "100..500/s", "20s", []float64{100}, []float64{500}, 20 * time.Second},
		{"ramp down", "500..100", "20s", []float64{500}, []float64{100}, 20 * time.Second},
		{"ramp from nothing", "0..60/m", "10s", []float64{0}, []float64{1}, 10 * time.Second},
		{"ramp over the default window", "1..2/s", "", []float64{1}, []float64{2}, 10 * time.Second},
		{"steps", "100,200,400/s", "30s", []float64{100, 200, 400}, []float64{100, 200, 400}, 10 * time.Second},
		{"steps per minute", "60,120/m", "10s", []float64{1, 2}, []float64{1, 2}, 5 * time.Second},
		{"steps with a pause", "10,0,10", "30s", []float64{10, 0, 10}, []float64{10, 0, 10}, 10 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := mustParseLoad(t, someURL, "-r", tt.rate, "-d", tt.window)
			if l.Model != plan.Open {
				t.Errorf("got model %q, want open", l.Model)
			}
			if len(l.Arrivals.Segments) != len(tt.from) {
				t.Fatalf("got %d segments %v, want %d", len(l.Arrivals.Segments), l.Arrivals.Segments, len(tt.from))
			}
			for i, s := range l.Arrivals.Segments {
				if !near(s.From, tt.from[i]) || !near(s.To, tt.to[i]) {
					t.Errorf("segment %d: got %g..%g, want %g..%g", i, s.From, s.To, tt.from[i], tt.to[i])
				}
				if tt.length > 0 && s.Duration != tt.length {
					t.Errorf("segment %d: got %v long, want %v", i, s.Duration, tt.length)
				}
			}
		})
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(b)) }

func TestReplayRate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "times")
	if err := os.WriteFile(file, []byte("# planned\n0.1\n250ms\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	got := mustParseLoad(t, someURL, "-r", "@"+file).Arrivals.Times
	if want := []int64{1e8, 25e7}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestArrivalsAndSeed(t *testing.T) {
	a := mustParseLoad(t, someURL, "-r", "10").Arrivals
	if a.Process != schedule.Poisson || a.Seed != 1 {
		t.Errorf("got process %v, seed %d, want poisson, 1", a.Process, a.Seed)
	}
	a = mustParseLoad(t, someURL, "-r", "10", "--arrivals", "constant", "--seed", "9").Arrivals
	if a.Process != schedule.Constant || a.Seed != 9 {
		t.Errorf("got process %v, seed %d, want constant, 9", a.Process, a.Seed)
	}
}

func TestThinkForms(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       schedule.Think
	}{
		{"none", "", schedule.Think{}},
		{"a time", "100ms", schedule.Think{Mean: 100 * time.Millisecond}},
		{"seconds", "2", schedule.Think{Mean: 2 * time.Second}},
		{"constant by name", "100ms constant", schedule.Think{Mean: 100 * time.Millisecond}},
		{"exponential", "100ms exponential", schedule.Think{Mean: 100 * time.Millisecond, Distribution: schedule.Exponential}},
		{"blanks", "1s   uniform ", schedule.Think{Mean: time.Second, Distribution: schedule.Uniform, Spread: time.Second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := mustParseLoad(t, someURL, "--think", tt.text).Think; got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestRequestsOfFlags(t *testing.T) {
	l := mustParseLoad(t, "http://h/a?b=c#part", "http://h/d", "--weight", "3,1", "-H", "X-A:  b:c ", "-H", "Empty:", "-b", "text")
	if len(l.Requests) != 2 {
		t.Fatalf("got %d requests, want 2", len(l.Requests))
	}
	q := l.Requests[0]
	if q.Method != "POST" || q.URL != "http://h/a?b=c" || q.Weight != 3 || string(q.Body) != "text" {
		t.Errorf("got %s %s weight %g body %q", q.Method, q.URL, q.Weight, q.Body)
	}
	if want := []plan.Header{{Name: "X-A", Value: "b:c"}, {Name: "Empty"}}; !slices.Equal(q.Headers, want) {
		t.Errorf("got headers %v, want %v", q.Headers, want)
	}
	if got := mustParseLoad(t, someURL, "-m", "DELETE", "-b", "x").Requests[0].Method; got != "DELETE" {
		t.Errorf("got method %s, want DELETE", got)
	}
	if got := mustParseLoad(t, someURL).Requests[0]; got.Method != "GET" || got.Body != nil {
		t.Errorf("got %s with body %q, want GET without", got.Method, got.Body)
	}
}

func TestDefaultsOfFlags(t *testing.T) {
	for _, tt := range []struct {
		name        string
		args        []string
		connections int
		duration    time.Duration
		drain       time.Duration
	}{
		{"closed", nil, 10, 10 * time.Second, time.Second},
		{"open", []string{"-r", "10"}, 1000, 10 * time.Second, 10 * time.Second},
		{"count", []string{"-n", "4"}, 4, 0, time.Second},
		{"no drain", []string{"--drain", "0"}, 10, 10 * time.Second, -1},
		{"short drain", []string{"--drain", "10ms"}, 10, 10 * time.Second, 10 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := mustParseLoad(t, append([]string{someURL}, tt.args...)...)
			if l.Connections != tt.connections || l.Duration != tt.duration || l.Drain != tt.drain {
				t.Errorf("got %d connections, %v, drain %v; want %d, %v, %v", l.Connections, l.Duration, l.Drain, tt.connections, tt.duration, tt.drain)
			}
		})
	}
}

func TestEveryMistakeIsTold(t *testing.T) {
	_, err := parseLoad(t, "x", "-d", "5x", "--drain", "q", "-H", "nocolon", "--engine", "warp", "--expect", "?")
	if err == nil {
		t.Fatal("got no error")
	}
	for _, want := range []string{`URL "x"`, "--duration", "--drain", `--header "nocolon"`, "--engine", "--expect"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want %s in it", err, want)
		}
	}
}

func TestParseStall(t *testing.T) {
	got, err := parseStall("5s:250ms")
	if err != nil || got.After != 5*time.Second || got.For != 250*time.Millisecond {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, text := range []string{"", "5s", ":", "5s:", "x:1s", "5s:1s:1s"} {
		if got, err := parseStall(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}

func TestTakeAllow(t *testing.T) {
	for _, tt := range []struct{ name, args, rest, hosts string }{
		{"none", "-c 1 URL", "-c 1 URL", ""},
		{"one", "--yes-i-may-load h -c 1 URL", "-c 1 URL", "h"},
		{"two, at the end", "URL --yes-i-may-load a --yes-i-may-load b", "URL", "a b"},
		{"behind the script's mark", "URL -- --yes-i-may-load a", "URL -- --yes-i-may-load a", ""},
		{"without a host", "URL --yes-i-may-load", "URL --yes-i-may-load", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := strings.Fields(tt.args)
			rest, hosts := takeAllow(args)
			if strings.Join(rest, " ") != tt.rest || strings.Join(hosts, " ") != tt.hosts {
				t.Errorf("got %q, %q, want %q, %q", rest, hosts, tt.rest, tt.hosts)
			}
			if strings.Join(args, " ") != tt.args {
				t.Errorf("the arguments became %q", args)
			}
		})
	}
}

func TestIsPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1": false, "127.9.9.9": false, "::1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.188": false,
		"169.254.1.1": false, "fe80::1": false, "fd00::1": false, "100.64.0.1": false, "::ffff:10.0.0.1": false,
		"192.0.2.1": true, "8.8.8.8": true, "172.32.0.1": true, "100.128.0.1": true, "2001:db8::1": true, "::ffff:8.8.8.8": true,
	} {
		if got := isPublic(netip.MustParseAddr(text)); got != want {
			t.Errorf("isPublic(%s) = %v, want %v", text, got, want)
		}
	}
}

func TestDataHome(t *testing.T) {
	for _, tt := range []struct{ name, prony, xdg, want string }{
		{"PRONY_HOME", "/p", "/x", "/p"},
		{"XDG_DATA_HOME", "", "/x", "/x/prony"},
		{"HOME", "", "", "/h/.local/share/prony"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("PRONY_HOME", tt.prony)
			t.Setenv("XDG_DATA_HOME", tt.xdg)
			t.Setenv("HOME", "/h")
			got, err := dataHome()
			if err != nil || filepath.ToSlash(got) != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}
