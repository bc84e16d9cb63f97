package plan_test

import (
	"math"
	"strings"
	"testing"

	"prony/internal/plan"
)

func TestParseExpectation(t *testing.T) {
	for _, c := range []struct {
		text, metric, of, op string
		value                float64
	}{
		{"p99 < 50ms", "p99", "response", "<", 50e6},
		{"p99.9 <= 1s", "p99.9", "response", "<=", 1e9},
		{"p99.90<1m30s", "p99.9", "response", "<", 90e9},
		{"P50 < 100us", "p50", "response", "<", 100e3},
		{"p100 < 2s", "p100", "response", "<", 2e9},
		{"errors < 0.1%", "errors", "", "<", 0.001},
		{"errors == 0", "errors", "", "==", 0},
		{"rate > 5000/s", "rate", "", ">", 5000},
		{"rate>=2k/s", "rate", "", ">=", 2000},
		{"goodput > 600/m", "goodput", "", ">", 10},
		{"mean < 10ms", "mean", "response", "<", 10e6},
		{"max < 1s", "max", "response", "<", 1e9},
		{"service.p99 < 20ms", "p99", "service", "<", 20e6},
		{"service.p99.9 < 20ms", "p99.9", "service", "<", 20e6},
		{"lag.p99 < 1ms", "p99", "lag", "<", 1e6},
		{"lag.max < 0", "max", "lag", "<", 0},
		{"completed >= 1000", "completed", "", ">=", 1000},
		{"completed >= 1.5M", "completed", "", ">=", 1.5e6},
		{"  failed == 0\t", "failed", "", "==", 0},
		{"timeout == 0", "timeout", "", "==", 0},
		{"connect-refused == 0", "connect-refused", "", "==", 0},
		{"cut_off == 0", "cut-off", "", "==", 0},
		{"connections == 64", "connections", "", "==", 64},
	} {
		t.Run(c.text, func(t *testing.T) {
			want := plan.Expectation{Text: strings.TrimSpace(c.text), Metric: c.metric, Of: c.of, Op: c.op, Value: c.value}
			got, err := plan.ParseExpectation(c.text)
			if err != nil || got != want {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
		})
	}
}

func TestParseExpectationErrors(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string // parts of the error
	}{
		{"empty", "  ", []string{"column 1", "nothing there", "p99 < 50ms"}},
		{"a mistyped metric", "eror < 1%", []string{"column 1", `found "eror"`, "did you mean errors?", "p99.9", "http-status"}},
		{"no metric", "< 50ms", []string{"column 1", "no metric", "a percentile such as p99.9"}},
		{"a mistyped kind", "timeouts == 0", []string{"did you mean timeout?"}},
		{"nothing near", "happiness > 3", []string{`found "happiness"`, "want a percentile"}},
		{"a mistyped histogram", "servce.p99 < 1ms", []string{"did you mean service?", "response, service or lag"}},
		{"a count of a histogram", "service.failed == 0", []string{"failed is not a latency"}},
		{"a percentile too far", "p101 < 1s", []string{`found "p101"`, "up to p100"}},
		{"a percentile of none", "p0 < 1s", []string{"above p0"}},
		{"a percentile too fine", "p99.99999 < 1s", []string{"four decimals"}},
		{"a percentile without decimals", "p99. < 1s", []string{"such as p99"}},
		{"an operator turned round", "p99 =< 50ms", []string{"column 5", `found "=<"`, "did you mean <=?", "<, <=, > or >="}},
		{"one equals sign", "failed = 0", []string{"column 8", "did you mean ==?"}},
		{"equality of a time", "p99 == 50ms", []string{"column 5", "never equals"}},
		{"equality of a rate", "rate == 50/s", []string{"never equals"}},
		{"no operator", "p99", []string{"column 4", "found the end", "want <"}},
		{"a word for an operator", "p99 below 50ms", []string{"column 5", `found "below"`}},
		{"no value", "p99 <", []string{"column 6", "found the end", "a duration such as 50ms"}},
		{"a bare duration", "p99 < 50", []string{"column 7", "without unit", "50ms or 50s"}},
		{"a bare share", "errors < 0.1", []string{"column 10", "% sign is missing"}},
		{"a share for a duration", "p99 < 1%", []string{"column 7", "duration"}},
		{"part of a count", "failed < 1.5", []string{"column 10", "not a whole number"}},
		{"a negative bound", "rate > -5/s", []string{"column 8", "negative"}},
		{"columns are runes", "p99 ≤≤ 5", []string{"column 5", `"≤≤"`}},
		{"a sign of mathematics", "p99 ≤ 5ms", []string{"did you mean <=?"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := plan.ParseExpectation(c.text)
			if err == nil {
				t.Fatalf("got %+v, want an error", got)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got %q, want %q in it", err, part)
				}
			}
		})
	}
}

func TestHolds(t *testing.T) {
	for _, c := range []struct {
		op               string
		below, at, above bool
	}{{"<", true, false, false}, {"<=", true, true, false}, {">", false, false, true}, {">=", false, true, true}, {"==", false, true, false}} {
		e := plan.Expectation{Op: c.op, Value: 2}
		for value, want := range map[float64]bool{1: c.below, 2: c.at, 3: c.above} {
			if got := e.Holds(value); got != want {
				t.Errorf("%g %s 2: got %t, want %t", value, c.op, got, want)
			}
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		text, want string
		value      float64
	}{
		{"p99 < 1s", "12.3ms", 12.3e6},
		{"errors < 1%", "0.02%", 0.0002},
		{"rate > 1/s", "62.9k/s", 62_900},
		{"failed == 0", "1,234", 1234},
	} {
		e, err := plan.ParseExpectation(c.text)
		if got := e.Format(c.value); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.text, got, err, c.want)
		}
	}
}

// FuzzParseExpectation: whatever is read is finite, not negative, and reads the
// same again from its own text; whatever is refused says where and why.
func FuzzParseExpectation(f *testing.F) {
	for _, s := range []string{"p99 < 50ms", "p99.9<=1s", "errors < 0.1%", "rate > 5000/s", "service.p99 < 20ms", "timeout == 0",
		"connections == 64", "p99", "≤", "lag..p1 < 0", "cut_off>=10k", "p99 < 9999999999h", "failed < 1e9", "p99\u00a0< 1s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := plan.ParseExpectation(s)
		if err != nil {
			if !strings.Contains(err.Error(), "column") || e != (plan.Expectation{}) {
				t.Errorf("%q: got %+v, %v, want an error with its column and nothing else", s, e, err)
			}
			return
		}
		if !(e.Value >= 0) || math.IsInf(e.Value, 0) || e.Metric == "" || e.Op == "" {
			t.Errorf("%q: got %+v", s, e)
		}
		if p, ok := e.Percentile(); ok && (p <= 0 || p > 100) {
			t.Errorf("%q: got percentile %g", s, p)
		}
		if again, err := plan.ParseExpectation(e.Text); err != nil || again != e {
			t.Errorf("%q: got %+v, %v the second time, want %+v", s, again, err, e)
		}
		if e.Format(e.Value) == "" {
			t.Errorf("%q: its value prints as nothing", s)
		}
	})
}
