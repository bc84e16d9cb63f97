package analyse_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"prony/internal/analyse"
	"prony/internal/plan"
	"prony/internal/result"
)

// pair is an experiment over two programs of app, each measured in three
// blocks; change is made to the second.
func pair(axis string, change func(run, load, gen)) *result.Experiment {
	e := &result.Experiment{Plan: &plan.Experiment{Baseline: "a", Variants: []plan.Variant{{Name: "a"}, {Name: "b"}}}}
	for i := range 6 {
		r := java(watched)()
		l := &r.Load
		l.BytesIn, l.BodyBytes, l.Protocol = 80_000*206, 80_000*100, "http/1.1"
		name := string(rune('a' + i%2))
		r.Plan.Services[0].Entry, r.Plan.Services[0].Kind = "entry-"+name, plan.Catalog
		if name == "b" && change != nil {
			change(r, l, &r.Generator)
		}
		judge(r)
		e.Trials = append(e.Trials, result.Trial{Number: i + 1, Block: i / 2, Variant: name, Values: map[string]string{axis: "entry-" + name}, Run: *r})
	}
	analyse.Experiment(e, analyse.DefaultThresholds())
	return e
}

func TestFairness(t *testing.T) {
	service := func(set func(*plan.Service)) func(run, load, gen) {
		return func(r run, _ load, _ gen) { set(&r.Plan.Services[0]) }
	}
	for _, c := range []struct {
		name     string
		axis     string
		change   func(run, load, gen)
		rule     string // "" for none
		severity result.Severity
		says     string
	}{
		{"alike", "app.catalog", nil, "", "", ""},
		{"another CPU limit", "app.catalog", service(func(s *plan.Service) { s.Limits.CPUs = 2 }), "parity", result.SuspectLevel, "CPU limit of app 2 against none"},
		{"the limit is varied", "app.limits", service(func(s *plan.Service) { s.Limits.CPUs, s.Entry = 2, "entry-a" }), "", "", ""},
		{"one limit is varied, the other not", "app.limits.cpus", service(func(s *plan.Service) { s.Limits = plan.Limits{CPUs: 2, Memory: 1 << 20}; s.Entry = "entry-a" }),
			"parity", result.SuspectLevel, "memory limit of app"},
		{"another heap", "app.catalog", service(func(s *plan.Service) { s.Env = map[string]string{"JAVA_OPTS": "-Xmx4g -Dx=y"} }), "parity", result.SuspectLevel, "Java options of app -Xmx4g against none"},
		{"a larger heap by itself", "app.catalog", with(aJVM, "app", result.HeapMax, float64(2<<30)), "parity", result.SuspectLevel, "largest heap of app"},
		{"no keep-alive", "app.catalog", func(r run, _ load, _ gen) { r.Plan.Load.NoKeepAlive = true }, "parity", result.SuspectLevel, "keep-alive false against true"},
		{"other headers asked", "app.catalog", func(r run, _ load, _ gen) {
			r.Plan.Load.Requests[0].Headers = []plan.Header{{Name: "Accept-Encoding", Value: "gzip"}}
		}, "parity", result.SuspectLevel, "Accept-Encoding"},
		{"more workers", "app.catalog", func(r run, _ load, _ gen) {
			find(r, aServer, "app").Facts = map[string]string{"workers": "8"}
		}, "", "", ""},
		{"an undeclared program", "load.connections", nil, "parity", result.SuspectLevel, "program of app"},
		{"a program by a variable", "server", nil, "", "", ""},
		{"another version", "load.connections", func(r run, _ load, _ gen) { r.Plan.Services[0].Entry = "entry-a"; r.Services[0].Version = "2" }, "", "", ""},
		{"another machine", "app.catalog", func(r run, _ load, _ gen) { r.Environment.CPUModel = "slower" }, "parity", result.SuspectLevel, "CPU slower"},
		{"smaller bodies", "app.catalog", func(_ run, l load, _ gen) { l.BytesIn, l.BodyBytes = 80_000*126, 80_000*20 }, "same-answers", result.InvalidLevel, "is 20 bytes, of a 100 bytes"},
		{"five bytes fewer", "app.catalog", func(_ run, l load, _ gen) { l.BytesIn, l.BodyBytes = 80_000*201, 80_000*95 }, "", "", ""},
		{"larger heads", "app.catalog", func(_ run, l load, _ gen) { l.BytesIn = 80_000 * 260 }, "same-answers", result.SuspectLevel, "the head of an answer"},
		{"other statuses", "app.catalog", func(_ run, l load, _ gen) { l.Statuses = map[string]int64{"200": 79_000, "404": 1000} }, "same-answers", result.InvalidLevel, "the share of status"},
		{"TLS", "app.catalog", func(_ run, l load, _ gen) { l.TLS = &result.TLS{Version: "1.3", Cipher: "x"} }, "same-answers", result.InvalidLevel, "over 1.3"},
		{"open", "app.catalog", func(r run, l load, _ gen) { l.Model = "open" }, "open-and-closed", result.InvalidLevel, "not compared"},
		{"a tenth of the cost", "app.catalog", func(r run, _ load, _ gen) { r.Services[0].CPUUSPerRequest = 10 }, "cheap-variant", result.Note, "did it do the same work"},
		{"slower cores", "app.catalog", with(aHost, "sut", result.FrequencyMHz, 2800.0), "frequency", result.SuspectLevel, "6.67% below"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := pair(c.axis, c.change)
			var names []string
			for _, f := range e.Findings {
				if !slices.Contains(names, f.Rule) {
					names = append(names, f.Rule)
				}
			}
			if c.rule == "" {
				if len(names) > 0 {
					t.Errorf("got %+v, want nothing", e.Findings)
				}
				return
			}
			if !slices.Equal(names, []string{c.rule}) {
				t.Fatalf("got findings of %q, want of %s alone: %+v", names, c.rule, e.Findings)
			}
			if f := about(e, c.rule); f.Severity != c.severity || !strings.Contains(f.Message, c.says) || f.ID == "" {
				t.Errorf("got %s %q, want %s …%s…", f.Severity, f.Message, c.severity, c.says)
			}
		})
	}
}

// TestAddedLatency pairs runs of a block: the difference of every pair is 2 ms,
// though the runs drift by 10 ms from block to block.
func TestAddedLatency(t *testing.T) {
	e := tiers(20_000, 20_000, nil)
	direct, proxied := e.Trials[0], e.Trials[1]
	e.Trials = nil
	for block := range 6 {
		for i, tr := range []result.Trial{direct, proxied} {
			tr.Block = block
			took := time.Duration(10*(block+1)+2*i) * time.Millisecond
			tr.Load.Latency.Response = times(1000, took)
			e.Trials = append(e.Trials, tr)
		}
	}
	analyse.Experiment(e, analyse.DefaultThresholds())
	f := about(e, "added-latency")
	if f == nil {
		t.Fatal("got no finding of added-latency, want one")
	}
	near(t, "added p50", f.Evidence["added_p50_us"], 2000, 40)
	near(t, "added p99", f.Evidence["added_p99_us"], 2000, 40)
	if f.Evidence["pairs"] != 6 || f.Evidence["coverage"] < 0.95 || f.Severity != result.Info {
		t.Errorf("got %+v, want six pairs with an interval", f)
	}
}

func TestGeneratorProof(t *testing.T) {
	build := func(rate int64) *result.Experiment {
		e := swept(watched, point{64, 8000, nil}, point{64, rate, nil})
		for i, threads := range []string{"1", "2"} {
			e.Trials[i].Values = map[string]string{"load.threads": threads}
		}
		analyse.Experiment(e, analyse.DefaultThresholds())
		return e
	}
	if f := about(build(8100), "generator-proof"); f != nil {
		t.Errorf("1 %% more: got %+v, want nothing", f)
	}
	f := about(build(9000), "generator-proof")
	if f == nil || f.Severity != result.SuspectLevel || f.Where != "ca" || !strings.Contains(f.Message, "+12.5%") {
		t.Errorf("12.5 %% more: got %+v, want the generator of the first variant suspect", f)
	}
}

func TestPlateau(t *testing.T) {
	e := swept(watched, point{16, 4000, nil}, point{32, 7000, nil}, point{64, 8000, nil}, point{128, 8100, nil})
	f := about(e, "plateau")
	if f == nil || f.Evidence["connections"] != 64 || f.Evidence["more_connections"] != 128 {
		t.Errorf("got %+v, want the plateau from 64 on", f)
	}
	for i, want := range []string{"concurrency", "concurrency", "not-identified", "not-identified"} {
		if b := e.Trials[i].Bottleneck; b == nil || b.What != want {
			t.Errorf("point %d: got bottleneck %+v, want %s", i, b, want)
		}
	}
	if m := e.Trials[3].Bottleneck.Message; !strings.Contains(m, "as if 32.4 requests were served at once") {
		t.Errorf("got %q, want how many are served at once", m)
	}
}

// TestInvalidIsNoPlateau: a run whose generator was full proves nothing about
// the target.
func TestInvalidIsNoPlateau(t *testing.T) {
	full := func(_ run, _ load, g gen) { copy(g.BusySeries, fill(10, 1)) }
	e := swept(watched, point{64, 8000, nil}, point{128, 8100, full})
	if b := e.Trials[0].Bottleneck; b == nil || b.What != "target-or-path" {
		t.Errorf("got bottleneck %+v, want that it is not known", b)
	}
	if f := about(e, "plateau"); f != nil {
		t.Errorf("got %+v, want no plateau", f)
	}
}
