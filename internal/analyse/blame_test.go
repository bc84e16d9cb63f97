package analyse_test

import (
	"strings"
	"testing"
	"time"

	"prony/internal/analyse"
	"prony/internal/result"
)

// TestBlame: of two signs the one that explains the other is named.
func TestBlame(t *testing.T) {
	late := func(_ run, l load, _ gen) { l.Latency.Dispatch = times(10_000, 20*time.Millisecond) }
	neighbour := with(aHost, "", result.HostBusy, 0.99, result.PSICPUSome, 0.5)
	full := func(_ run, _ load, g gen) { copy(g.BusySeries, fill(10, 1)) }
	held := func(_ run, _ load, g gen) { g.Throttled = 0.9 }
	for _, c := range []struct {
		name   string
		change func(run, load, gen)
		want   string
	}{
		{"late by its own fault", late, "generator generator"},
		{"late, for others had the cores", all(late, neighbour), "foreign-cpu this machine"},
		{"full", full, "generator-cpu generator"},
		{"full, and others had cores too", all(full, neighbour), "generator-cpu generator"},
		{"full, for its quota is small", all(full, held), "generator-quota generator"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := openOnOneMachine()
			c.change(r, &r.Load, &r.Generator)
			analyse.Run(r, analyse.DefaultThresholds())
			if b := r.Bottleneck; b == nil || b.What+" "+b.Where != c.want {
				t.Errorf("got %+v, want %s\n%+v", b, c.want, r.Validity.Findings)
			}
		})
	}
}

// TestOwnConnects: connections for which the generator had no port are no
// complaint about the target; refused ones are.
func TestOwnConnects(t *testing.T) {
	for _, c := range []struct {
		name     string
		failures map[string]int64
		want     string
	}{
		{"no ports", map[string]int64{"no-ports": 5}, "generator"},
		{"no files", map[string]int64{"file-limit": 5}, "generator"},
		{"refused", map[string]int64{"connect-refused": 5}, "target"},
		{"both", map[string]int64{"no-ports": 4, "connect-refused": 1}, "target"},
		{"not known", nil, "target"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := watched()
			r.Load.Failures, r.Load.Connections.Failed = c.failures, 5
			analyse.Run(r, analyse.DefaultThresholds())
			got := ""
			for _, f := range r.Validity.Findings {
				if f.Rule == "connects-failed" {
					got = f.Where
				}
			}
			if got != c.want {
				t.Errorf("got a finding about %q, want %q", got, c.want)
			}
		})
	}
}

// TestOneAtATime: a plateau at the rate that one request after the other gives.
func TestOneAtATime(t *testing.T) {
	e := swept(watched, point{1, 120, nil}, point{16, 124, nil}, point{32, 125, nil})
	if m := e.Trials[2].Bottleneck.Message; !strings.Contains(m, "as if one request was served at once") {
		t.Errorf("got %q, want that one is served at a time", m)
	}
}

// openOnOneMachine is a sound open load with the target beside the generator.
func openOnOneMachine() *result.Run {
	r, o := onOneMachine(), open()
	r.Load, r.Plan.Load.Model, r.Plan.Load.Arrivals = o.Load, o.Plan.Load.Model, o.Plan.Load.Arrivals
	r.Load.Loopback = true
	return r
}

// TestUpstreamConnectsHere: on one machine only the kernel counts connections.
func TestUpstreamConnectsHere(t *testing.T) {
	for _, c := range []struct {
		name     string
		accepted float64 // a second, at 8000 requests
		want     string  // the limiter, "" for none of upstream connections
	}{
		{"reused", 3, ""},
		{"a few", 2000, ""},
		{"one for each request", 8003, "upstream-connections"},
		{"more than the gateway can have opened", 20_000, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := chained()
			r.Load.Loopback = true
			for i := range r.Plan.Services {
				r.Plan.Services[i].Host, r.Services[i].Host = "", ""
			}
			r.Observed = []result.Observed{thing(result.OfHost, "", ""), thing(result.OfService, "app", ""), thing(result.OfService, "gw", "")}
			without(aService, "app", result.InService)(r, &r.Load, &r.Generator)
			put(r, result.OfHost, "", result.HostBusy, 0.5)
			put(r, result.OfHost, "", result.PassiveOpens, c.accepted)
			analyse.Run(r, analyse.DefaultThresholds())
			got := ""
			for _, f := range r.Validity.Findings {
				if f.Rule == "upstream-reuse" {
					got = "upstream-connections"
					if f.Where != "gw" || f.Confidence != result.Likely {
						t.Errorf("got %+v, want a likely finding about gw", f)
					}
				}
			}
			if got != c.want {
				t.Errorf("got %q, want %q: %+v", got, c.want, r.Bottleneck)
			}
		})
	}
}

// TestShapedBehindLoss: what a link lost was counted on the sender's side before.
func TestShapedBehindLoss(t *testing.T) {
	for _, c := range []struct {
		name        string
		in, out     float64 // bytes a second
		lost, wants float64 // share; bits per second, 0 for no finding
	}{
		{"none lost", 0, 11.9e6, 0, 0},
		{"a few lost", 0, 12.1e6, 0.01, 100e6},
		{"many lost", 0, 13.8e6, 0.14, 100e6},
		{"many lost, received", 11.9e6, 0, 0.14, 100e6},
		{"nowhere near a rate", 0, 8e6, 0.01, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := watched()
			put(r, aLink, "eth0", result.BytesIn, c.in)
			put(r, aLink, "eth0", result.BytesOut, c.out)
			put(r, aLink, "eth0", result.PacketsIn, c.in/1500)
			put(r, aLink, "eth0", result.PacketsOut, c.out/1500)
			put(r, aHost, "", result.OutSegments, 8000)
			put(r, aHost, "", result.RetransSegments, 8000*c.lost)
			analyse.Run(r, analyse.DefaultThresholds())
			got := 0.0
			for _, f := range r.Validity.Findings {
				if f.Rule == "shaped-link" {
					got = f.Evidence["customary_bits_rate"]
				}
			}
			if got != c.wants {
				t.Errorf("got a link cut to %v bits/s, want %v", got, c.wants)
			}
		})
	}
}

// TestHungConnects: requests that hang in a full accept queue break no law.
func TestHungConnects(t *testing.T) {
	for _, c := range []struct {
		name    string
		keep    bool
		over    float64
		invalid bool
	}{
		{"a clock is wrong", false, 0, true},
		{"kept connections", true, 3, true},
		{"a connection for each request and a full queue", false, 3, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := watched()
			r.Plan.Load.NoKeepAlive = !c.keep
			r.Load.InFlight *= 3
			put(r, aHost, "sut", result.ListenOverflows, c.over)
			analyse.Run(r, analyse.DefaultThresholds())
			invalid := false
			for _, f := range r.Validity.Findings {
				invalid = invalid || f.Rule == "little" && f.Severity == result.InvalidLevel
			}
			if invalid != c.invalid {
				t.Errorf("got invalid by Little's law %v, want %v", invalid, c.invalid)
			}
		})
	}
}
