package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prony/internal/plan"
	"prony/internal/result"
)

const moduleRoot = "../.."

// TestPages: every page is what its text and the summaries make of it.
func TestPages(t *testing.T) {
	b, err := open(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("pages/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no texts: %v", err)
	}
	for _, file := range files {
		want, err := b.page(file)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		got, err := os.ReadFile(filepath.Base(file))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what %s makes now (%v): run go run ./docs/results", filepath.Base(file), file, err)
		}
	}
}

// TestSummariesAreSmall: a summary is for reading and for keeping.
func TestSummariesAreSmall(t *testing.T) {
	files, err := filepath.Glob("data/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(moduleRoot, "experiments", strings.TrimSuffix(filepath.Base(file), ".json")+".yaml")); err != nil {
			t.Errorf("%s is of no experiment: %v", file, err)
		}
		if info, err := os.Stat(file); err != nil || info.Size() > 40<<10 {
			t.Errorf("%s: %d bytes, want at most 40 KiB (%v)", file, info.Size(), err)
		}
	}
}

// measured is an experiment of two variants, three trials each, one invalid.
func measured() *result.Experiment {
	e := &result.Experiment{Plan: &plan.Experiment{Name: "x", Baseline: "n=1", Scale: 1, Variants: []plan.Variant{{Name: "n=1"}, {Name: "n=3"}}}}
	add := func(block int, variant string, rate float64, verdict result.Verdict, own float64) {
		t := result.Trial{Number: len(e.Trials) + 1, Block: block, Variant: variant}
		t.Validity.Verdict = verdict
		if verdict == result.Invalid {
			t.Validity.Findings = []result.Finding{{Rule: "foreign-cpu", Severity: result.InvalidLevel, Message: "others"}}
		}
		t.Load.Rate, t.Load.DurationUS = rate, 1e6
		t.Load.Requests = result.Requests{Completed: int64(rate), InWindow: int64(rate)}
		t.Services = []result.Service{{Name: "app", CPUUSPerRequest: 20}, {Name: "app", Instance: 1, CPUUSPerRequest: 30, ThrottledRatio: 0.5}}
		t.Observed = []result.Observed{{Kind: result.OfServer, Service: "app", Totals: map[result.Metric]float64{result.ServerRequests: own}}}
		e.Trials = append(e.Trials, t)
	}
	for block := range 3 {
		verdict := result.Valid
		if block == 2 {
			verdict = result.Invalid
		}
		add(block, "n=1", 100, verdict, 99)
		add(block, "n=3", 250+float64(block), verdict, 250)
	}
	return e
}

func TestSummary(t *testing.T) {
	s := summarise(measured(), "short")
	var back Summary
	if err := json.Unmarshal(s.encode(), &back); err != nil {
		t.Fatalf("%v in\n%s", err, s.encode())
	}
	b := &Book{summaries: map[string]Summary{"x": back}}
	trial := back.Trials[0]
	if got := trial.service("app"); got.Instances != 2 || got.CPU != 50 || got.Throttled != 0.5 || got.Counted != 0.99 {
		t.Errorf("got %+v, want 2 instances, 50 us, half of the periods, 99%% counted", got)
	}
	for _, c := range []struct{ what, got, want string }{
		{"times", first(b.times("x", "n=1", "n=3")), "2.50 (2.50–2.51)"},
		{"rate", first(b.rate("x", "n=1")), "100"},
		{"costs", first(b.costs("x", "app", "n=1", "n=3")), "1.00 (1.00–1.00)"},
		{"census", b.census(), "4 of 6 trials here can be used"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.what, c.got, c.want)
		}
	}
	table := first(b.ours("x"))
	for _, want := range []string{"| `n=3` | 2 of 3 | 251 (250–251) | 2.50 | – | – | 0 | suspect |", "| `n=1` | 2 × app | 50 µs (50 µs–50 µs) |", "foreign-cpu, 2 of 6 trials: others", "| 50% | 99% |"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
}

// TestMarks: a figure of invalid trials is never shown as if it counted.
func TestMarks(t *testing.T) {
	e := measured()
	for i := range e.Trials {
		if e.Trials[i].Variant == "n=3" {
			e.Trials[i].Validity.Verdict = result.Invalid
		}
	}
	b := &Book{summaries: map[string]Summary{"x": summarise(e, "")}}
	for _, got := range []string{first(b.rate("x", "n=3")), first(b.cpu("x", "app", "n=3")), first(b.times("x", "n=1", "n=3")), first(b.p99("x", "n=3"))} {
		if !strings.HasSuffix(got, " †") {
			t.Errorf("got %q without a mark", got)
		}
	}
	if ok, err := b.counts("x", "n=1"); !ok || err != nil {
		t.Errorf("n=1 cannot carry a conclusion: %v", err)
	}
	for _, words := range []string{"n=3", "n=9"} {
		if ok, _ := b.counts("x", "n=1", words); ok {
			t.Errorf("%s can carry a conclusion", words)
		}
	}
	if ok, err := b.counts("y", "n=1"); ok || err != nil {
		t.Errorf("got %v, %v for what was not measured, want no conclusion and no error", ok, err)
	}
	if got := first(b.rate("x", "n=1")); strings.Contains(got, "†") {
		t.Errorf("got %q, want no mark", got)
	}
}

// first gives the text, or the error in its place.
func first(text string, err error) string {
	if err != nil {
		return err.Error()
	}
	return text
}

// TestRefusals: a text cannot name what is not there.
func TestRefusals(t *testing.T) {
	b, err := open(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	b.summaries["x"] = summarise(measured(), "")
	for name, text := range map[string]string{
		"no experiment":       `<<ours "nothing">>`,
		"no variant":          `<<rate "x" "n=2">>`,
		"more than a variant": `<<rate "x" "">>`,
		"no published row":    `<<published "S009-01">>`,
		"no audited row":      `<<audit "S009-01">>`,
		"no function":         `<<wish "x">>`,
	} {
		file := filepath.Join(t.TempDir(), "page.md")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := b.page(file); err == nil {
			t.Errorf("%s: got %q, want an error", name, got)
		}
	}
}
