package audit_test

import (
	"strings"
	"testing"

	"prony/internal/audit"
	"prony/internal/result"
)

// TestRules: each rule on a small case of its own, given as facts.
func TestRules(t *testing.T) {
	tests := []struct {
		name, facts, rule string
		severity          result.Severity // empty: the rule must find nothing
		message           string
	}{
		{"E1 good", "tool: wrk, rate: 1000, mean: 10.0ms, connections: 10", "E1", "", ""},
		{"E1 idle", "tool: wrk, rate: 1000, mean: 7.0ms, connections: 10", "E1", result.SuspectLevel, "not all connections were busy"},
		{"E1 impossible", "tool: wrk, rate: 1000, mean: 3.0ms, connections: 10", "E1", result.InvalidLevel, "ratio 0.3"},
		{"E1 failures", "tool: wrk, rate: 1000, mean: 3.0ms, connections: 10, errors: 4, requests: 60000", "E1", result.SuspectLevel, "4 failed"},
		{"E1 a script", "tool: wrk, command: wrk -c10 -s delay.lua http://h/, rate: 1000, mean: 3.0ms", "E1", result.SuspectLevel, "delay.lua may pause"},
		{"E1 no stall", "tool: wrk, rate: 1000, mean: 20.0ms, connections: 10, max: 15ms", "E1", result.InvalidLevel, "about 20 users, not 10"},
		{"E1 pipeline", "tool: wrk, rate: 1000, mean: 160.0ms, connections: 10, pipeline: 16", "E1", "", ""},
		{"E1 pauses", "tool: k6, rate: 10, mean: 10.0ms, connections: 100", "E1", "", ""},
		{"E1 batch", "tool: k6, rate: 1000, mean: 20.0ms, connections: 10", "E1", result.SuspectLevel, "http.batch"},
		{"E1 open", "tool: wrk2, model: open, rate: 1000, mean: 9000.0ms, connections: 100", "E1", result.SuspectLevel, "did not keep up"},
		{"E1 rounded", "tool: ab, rate: 1000, mean: 2ms, connections: 10", "E1", "", ""},
		{"E2 order", "tool: hey, rate: 10, percentiles: {p50: 9.0ms, p90: 4.0ms}", "E2", result.InvalidLevel, "p50 is 9ms and p90 is 4ms"},
		{"E2 maximum", "tool: hey, rate: 10, mean: 9.0ms, max: 4.0ms", "E2", result.InvalidLevel, "the mean is 9ms and the maximum is 4ms"},
		{"E2 mean", "tool: k6, rate: 10, mean: 9.0ms, max: 10.0ms, percentiles: {p90: 2.0ms}", "E2", result.InvalidLevel, "lies between"},
		{"E4 own", "tool: gatling, rate: 100, requests: 6100, duration: 300s", "E4", result.SuspectLevel, "6,100 requests / 100/s = 61.000 s, but 300 s are stated"},
		{"E5", "tool: wrk, rate: 10, duration: 5s", "E5", result.Note, "it ran for 5.0 s"},
		{"E6 busy", "tool: wrk, rate: 100000, answer_bytes: 1000, link: 1gbit", "E6", result.SuspectLevel, "the link is the limit"},
		{"E6 segments", "tool: wrk, rate: 1000, answer_bytes: 100000, link: 1gbit", "E6", result.SuspectLevel, "844 Mbit/s to 850 Mbit/s"},
		{"E6 free", "tool: wrk, rate: 1000, answer_bytes: 1000, link: 1gbit", "E6", "", ""},
		{"E6 loopback", "tool: wrk, url: 'http://127.0.0.1/', rate: 1000000, answer_bytes: 1000, link: 1gbit", "E6", "", ""},
		{"E7 free", "tool: wrk, threads: 8, rate: 10, cpu: {wrk: 400%}", "E7", "", ""},
		{"E7 near", "tool: wrk, threads: 8, rate: 10, cpu: {wrk: 700%}", "E7", result.SuspectLevel, "87.5%"},
		{"E7 full", "tool: wrk, threads: 8, rate: 10, cpu: {wrk: 780%}", "E7", result.InvalidLevel, "lower bound"},
		{"E7 all cores", "tool: hey, rate: 10, generator_cpu: [99%, 98%, 97%]", "E7", result.InvalidLevel, "3 of 3 cores"},
		{"E8 room", "tool: ab, rate: 10, cpu: {ab: 30%}", "E8", "", ""},
		{"E9 ticks", "tool: wrk, rate: 10, generator_cpu: [50%, 33.3%, 66.7%, 0%]", "E9", result.Note, "k/2 to k/5"},
		{"E9 real", "tool: wrk, rate: 10, generator_cpu: [51.2%, 33.9%, 66.7%, 0%]", "E9", "", ""},
		{"E10", "tool: wrk, rate: 10, cores: 4, seen_cores: 8", "E10", result.SuspectLevel, "4 cores stated, but the screen shows 8 cores"},
		{"E17 not that many", "tool: wrk, rate: 10, connections: 10, max: 3.1s", "E17", "", ""},
		{"E17", "tool: wrk, rate: 10, connections: 1000, max: 3.1s", "E17", result.Note, "just above 3 s"},
		{"E18 no wait", "tool: wrk, rate: 10, cpu_quota: 200m, percentiles: {p99: 5ms}", "E18", "", ""},
		{"E20", "tool: wrk, rate: 10, cpu_quota: 200m, warmup: 60s, kind: jvm", "E20", result.Note, "12 s of CPU"},
		{"E20 enough", "tool: wrk, rate: 10, cpu_quota: 2, warmup: 60s, kind: jvm", "E20", "", ""},
		{"E21", "tool: wrk, rate: 10, cpu_quota: 200m, cores: 3, kind: go", "E21", result.Note, "after 6.7 ms and all stand still for 93.3 ms"},
		{"E22", "tool: wrk, rate: 10, system: spring-tomcat, probe: Netty", "E22", result.SuspectLevel, "answers as \"Netty\""},
		{"E22 right", "tool: wrk, rate: 10, system: spring-tomcat, probe: Apache Tomcat", "E22", "", ""},
		{"E22 command", "tool: wrk, command: wrk -t2 -c10 http://h/, connections: 10, rate: 10", "E22", "", ""},
		{"E24 none", "tool: wrk, rate: 10, requests: 1000, errors: 0", "E24", "", ""},
		{"E24 few", "tool: wrk, rate: 10, requests: 100000, errors: 2", "E24", result.Note, "2 of 100,000"},
		{"E24 some", "tool: wrk, rate: 10, requests: 1000, errors: 2", "E24", result.SuspectLevel, "0.2%"},
		{"E24 many", "tool: wrk, rate: 10, requests: 1000, errors: 20", "E24", result.InvalidLevel, "2%"},
		{"E26", "tool: ab, rate: 32566, keepalive: off", "E26", result.Note, "1,953,960"},
		{"E30", "tool: ab, rate: 10, swap: on", "E30", result.Note, "swap was on"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := facts(t, "audit: 1\nresults: [{id: a, "+tt.facts+"}]")
			r := audit.Run(audit.Join(nil, f, nil), f, audit.Thresholds{})
			got := findings(judged(t, r, "a").Validity, tt.rule)
			switch {
			case tt.severity == "" && len(got) > 0:
				t.Errorf("got %+v, want nothing", got)
			case tt.severity != "" && (len(got) == 0 || got[0].Severity != tt.severity || !strings.Contains(got[0].Message, tt.message)):
				t.Errorf("got %+v, want %s with %q", got, tt.severity, tt.message)
			}
		})
	}
}

// TestPairRules: rules that hold two results against each other.
func TestPairRules(t *testing.T) {
	tests := []struct {
		name, a, b, compare, rule string
		severity                  result.Severity
		message                   string
	}{
		{"E4 equal", "rate: 10, duration: 60s", "rate: 20, duration: 61s", "[a, b]", "E4", "", ""},
		{"E11 bytes", "rate: 10, answer_bytes: 200", "rate: 20, answer_bytes: 250", "[a, b]", "E11", result.SuspectLevel, "200 B per answer against 250"},
		{"E12 no number", "rate: 10", "rate: 20", "{of: [a, b], scales: true}", "E12", "", ""},
		{"E15 one thing", "rate: 10, connections: 10", "rate: 20, connections: 20", "[a, b]", "E15", "", ""},
		{"E15 two things", "rate: 10, connections: 10, cores: 4", "rate: 20, connections: 20, cores: 8", "[a, b]", "E15", result.SuspectLevel, "more than one thing differs: connections 10 and 20, cores 4 and 8"},
		{"E15 beside", "rate: 10, connections: 10, cores: 4", "rate: 20, connections: 20, cores: 8", "{of: [a, b], vary: [cores]}", "E15", result.SuspectLevel, "beside what is compared these differ: connections 10 and 20"},
		{"E26", "rate: 10, keepalive: on", "rate: 20, keepalive: off", "[a, b]", "E26", result.SuspectLevel, "opens one per request"},
		{"E7 more instances", "rate: 10, via: 0, instances: 1", "rate: 20, via: 1, instances: 3", "[a, b]", "E7", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := facts(t, "audit: 1\nresults: [{id: a, tool: wrk, "+tt.a+"}, {id: b, tool: wrk, "+tt.b+"}]\ncompare: ["+tt.compare+"]")
			r := audit.Run(audit.Join(nil, f, nil), f, audit.Thresholds{})
			got := findings(pairOf(t, r, "a", "b").Validity, tt.rule)
			switch {
			case tt.severity == "" && len(got) > 0:
				t.Errorf("got %+v, want nothing", got)
			case tt.severity != "" && (len(got) == 0 || got[0].Severity != tt.severity || !strings.Contains(got[0].Message, tt.message)):
				t.Errorf("got %+v, want %s with %q", got, tt.severity, tt.message)
			}
		})
	}
}

// TestOverlap: E16 by the starts that were given.
func TestOverlap(t *testing.T) {
	for start, want := range map[string]int{"0s": 0, "0.5s": 0, "8s": 1} {
		f := facts(t, "audit: 1\nall: {parallel: p, duration: 60s, rate: 10}\nresults: [{id: a, rate: 10, start: 0s}, {id: b, rate: 10, start: "+start+"}]")
		r := audit.Run(audit.Join(nil, f, nil), f, audit.Thresholds{})
		if got := findings(judged(t, r, "a").Validity, "E16"); len(got) != want {
			t.Errorf("%s apart: got %+v, want %d", start, got, want)
		}
	}
}

// TestShards: E31. A total is given only when all adds up, as the work over the
// time from first start to last end.
func TestShards(t *testing.T) {
	tests := []struct {
		name, shards string
		rate         float64 // -1: none
		message      string
	}{
		{"good", "{index: 0, of: 2, planned: 60, done: 60, start: 0s, end: 10s}, {index: 1, of: 2, planned: 60, done: 60, start: 0.05s, end: 12s}", 10, ""},
		{"missing", "{index: 0, of: 2, planned: 60, done: 60, start: 0s, end: 10s}", -1, "shard 1 of 2 reported 0 times"},
		{"twice", "{index: 0, of: 1, planned: 60, done: 60, start: 0s, end: 10s}, {index: 0, of: 1, planned: 60, done: 60, start: 0s, end: 10s}", -1, "shard 0 of 1 reported 2 times"},
		{"remainder", "{index: 0, of: 1, planned: 61, done: 60, start: 0s, end: 10s}", -1, "1 are missing"},
		{"n changed", "{index: 0, of: 2, planned: 60, done: 60, start: 0s, end: 10s}, {index: 1, of: 3, planned: 60, done: 60, start: 0s, end: 10s}", -1, "shard 1 is one of 3, others are of 2"},
		{"late", "{index: 0, of: 2, planned: 60, done: 60, start: 0s, end: 10s}, {index: 1, of: 2, planned: 60, done: 60, start: 1s, end: 10s}", -1, "the starts lie 1s apart"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := facts(t, "audit: 1\nshards: ["+tt.shards+"]")
			s := audit.Run(nil, f, audit.Thresholds{}).Shards
			if got := orUnknown(s.Rate); got != tt.rate {
				t.Errorf("got %v, want %v", got, tt.rate)
			}
			if tt.message != "" && (len(s.Validity.Findings) == 0 || !strings.Contains(s.Validity.Findings[0].Message, tt.message)) {
				t.Errorf("got %+v, want %q", s.Validity.Findings, tt.message)
			}
		})
	}
}
