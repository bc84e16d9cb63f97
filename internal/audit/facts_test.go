package audit_test

import (
	"strings"
	"testing"

	"prony/internal/audit"
	"prony/internal/result"
)

func TestFactsMistakes(t *testing.T) {
	tests := []struct{ name, yaml, want string }{
		{"empty", "", "f.yaml:1: empty"},
		{"not yaml", "audit: [", "f.yaml:2: not YAML"},
		{"no version", "all: {cores: 4}", "f.yaml:1:1: audit: 1 is missing"},
		{"other version", "audit: 2", "f.yaml:1:8: audit: want 1"},
		{"unknown key", "audit: 1\nall: {core: 4}", `f.yaml:2:7: unknown key "core" (allowed: answer, answer_bytes`},
		{"unknown section", "audit: 1\nal: {}", `f.yaml:2:1: unknown key "al" (allowed: all, audit, claims, compare, limits, results, shards)`},
		{"twice", "audit: 1\nall: {cores: 4, cores: 5}", "f.yaml:2:17: cores is given twice"},
		{"link", "audit: 1\nall: {link: fast}", `f.yaml:2:13: link: link "fast": write 1gbit`},
		{"percent", "audit: 1\nall: {cpu: {ab: 0.99}}", "f.yaml:2:12: cpu: percentage \"0.99\": the % sign is missing"},
		{"truth", "audit: 1\nall: {swap: maybe}", "swap: want true or false"},
		{"list for a value", "audit: 1\nall: {cores: [4]}", "f.yaml:2:14: cores: want a value"},
		{"no id", "audit: 1\nresults: [{cores: 4}]", "f.yaml:2:11: want id, file or nth"},
		{"nth", "audit: 1\nresults: [{nth: 0}]", "nth: want the number of the result, from 1"},
		{"one id", "audit: 1\ncompare: [[a]]", "f.yaml:2:11: want 2 to 20 ids"},
		{"claim", "audit: 1\nclaims: [it is fast]", `claim "it is fast": write "A faster than B"`},
		{"limit", "audit: 1\nlimits: {little_low: none}", "little_low: want a number above 0"},
		{"unknown limit", "audit: 1\nlimits: {litle_low: 1}", `unknown key "litle_low" (allowed: accept_queue`},
		{"shard", "audit: 1\nshards: [{index: x}]", "f.yaml:2:18: want a whole number"},
		{"percentile", "audit: 1\nresults: [{id: a, percentiles: {p100: 3ms}}]", "percentiles: want p50="},
		{"model", "audit: 1\nall: {model: half}", "model: want closed or open"},
		{"anchor", "audit: 1\nall: &x {cores: 4}", "want a mapping"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := audit.ParseFacts("f.yaml", []byte(tt.yaml))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestFactsAllMistakes: every mistake is told, not the first only.
func TestFactsAllMistakes(t *testing.T) {
	_, err := audit.ParseFacts("f.yaml", []byte("all: {core: 4, link: x}\nclaims: [a]\n"))
	if err == nil || strings.Count(err.Error(), "f.yaml:") != 4 {
		t.Errorf("got %v, want four mistakes", err)
	}
}

// TestFactsJoin: facts reach their results by id, file and number; flags win;
// facts with a rate stand alone; others must find a result.
func TestFactsJoin(t *testing.T) {
	read := blocks(t, text(t, "published/S000-02.wrk.txt"), text(t, "published/S000-03.wrk.txt"), text(t, "tools/hey.txt"))
	f := facts(t, `audit: 1
all: {cores: 32, vm: true}
results:
  - {id: S000-02, system: by id, cores: 4}
  - {file: S000-03.wrk.txt, system: by file}
  - {nth: 3, system: by number}
  - {id: alone, tool: ab, rate: 100, connections: 5}
  - {id: nowhere, cores: 2}
`)
	all := audit.Join(read, f, func(b *audit.Block) { b.Facts.Link = audit.Exactly(1e9) })
	want := []struct {
		label string
		cores float64
	}{{"by id", 4}, {"by file", 32}, {"by number", 32}, {"", 32}}
	if len(all) != len(want) {
		t.Fatalf("got %d results, want %d", len(all), len(want))
	}
	for i, w := range want {
		if b := all[i]; b.Label != w.label || b.Facts.Cores.V != w.cores || !b.Facts.VM || b.Facts.Link.V != 1e9 {
			t.Errorf("%d: got %q, %+v, want %+v", i, b.Label, b.Facts, w)
		}
	}
	if b := all[3]; b.Rate.V != 100 || b.Connections.V != 5 || b.Model != "closed" || b.Errors != nil {
		t.Errorf("got %+v, want the result that is given as facts", b)
	}
	if lost := audit.Unmatched(read, f); len(lost) != 1 || lost[0] != "nowhere" {
		t.Errorf("got %q, want nowhere", lost)
	}
	if err := facts(t, "audit: 1\ncompare: [[S000-02, other]]").Check("f.yaml", all); err == nil || !strings.Contains(err.Error(), `f.yaml:2:11: no result has the id "other"`) {
		t.Errorf("got %v", err)
	}
}

func TestFactsLimits(t *testing.T) {
	f := facts(t, "audit: 1\nlimits: {little_high: 3}")
	r := audit.Run(blocks(t, text(t, "published/S000-01.wrk.txt")), f, audit.Thresholds{})
	if r.Limits["little_high"] != 3 || r.Limits["little_low"] != 0.9 || r.Results[0].Validity.Verdict != result.Valid {
		t.Errorf("got %v, %+v", r.Limits["little_high"], r.Results[0].Validity)
	}
}

func TestParseClaim(t *testing.T) {
	tests := []struct {
		text, a, b, op string
		amount         float64
	}{
		{"openresty faster than springboot", "openresty", "springboot", "faster", 0},
		{"a is slower than b by 20%", "a", "b", "slower", 0.8},
		{"a beats b", "a", "b", "faster", 0},
		{"a > b by 10%", "a", "b", "faster", 1.1},
		{"nginx 1.56 times Spring Boot", "nginx", "Spring Boot", "equal", 1.56},
		{"a as fast as b", "a", "b", "equal", 1},
		{"a in proportion to b", "a", "b", "in proportion", 0},
		{"zuul is limited by CPU", "zuul", "", "limited by cpu", 0},
	}
	for _, tt := range tests {
		c, err := audit.ParseClaim(tt.text)
		if err != nil || c.A != tt.a || c.B != tt.b || string(c.Op) != tt.op || c.Amount != tt.amount {
			t.Errorf("%q: got %+v, %v, want %+v", tt.text, c, err, tt)
		}
	}
}

// FuzzFacts: no text panics.
func FuzzFacts(f *testing.F) {
	f.Add(fixture(f, "published/published.facts.yaml"))
	f.Add("audit: 1\nall: {cpu: [a, {b: c}], percentiles: {p: 1ms}}\n")
	f.Fuzz(func(t *testing.T, s string) {
		parsed, err := audit.ParseFacts("f.yaml", []byte(s))
		if err == nil {
			audit.Run(audit.Join(nil, parsed, nil), parsed, audit.Thresholds{})
		}
	})
}
