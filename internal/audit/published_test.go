package audit_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prony/internal/audit"
	"prony/internal/result"
)

// held are the rules whose findings on the published rows are laid down.
var held = []string{"E1", "E2", "E3", "E4", "E6", "E7", "E8", "E11", "E12", "E18", "E19", "E24", "E27", "E28"}

// published audits the 22 rows: from their outputs where there are any, or from
// the table.
func published(t *testing.T, table bool) audit.Report {
	t.Helper()
	var sources []audit.Source
	if table {
		sources = append(sources, text(t, "published/published-results.csv"))
	} else {
		files, err := filepath.Glob("testdata/published/S0*.txt")
		if err != nil || len(files) != 12 {
			t.Fatalf("got %d outputs, %v, want 12", len(files), err)
		}
		for _, f := range files {
			sources = append(sources, text(t, "published/"+filepath.Base(f)))
		}
	}
	f := facts(t, text(t, "published/published.facts.yaml").Text)
	read := blocks(t, sources...)
	if lost := audit.Unmatched(read, f); len(lost) > 0 {
		t.Fatalf("facts without results: %q", lost)
	}
	all := audit.Join(read, f, nil)
	if err := f.Check("facts.yaml", all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 22 {
		t.Fatalf("got %d results, want 22", len(all))
	}
	return audit.Run(all, f, audit.Thresholds{})
}

// figure is a number that a finding must carry.
type figure struct {
	rule, key       string
	want, tolerance float64
}

// row is what is laid down for one published result or pair.
type row struct {
	id      string
	verdict result.Verdict
	rules   string // of held, in the order of the rules
	figures []figure
}

// publishedRows are the verdicts that were worked out by hand.
func publishedRows() []row {
	return []row{
		{"S000-01", result.Suspect, "E1 E7 E11", []figure{{"E1", "ratio", 1.97, .005}, {"E1", "in_flight", 8057, 1}, {"E7", "cores_full", 1, 0}, {"E11", "answer_bytes", 206.0, .05}}},
		{"S000-02", result.Suspect, "E7 E12", []figure{{"E7", "cores_full", 3, 0}, {"E7", "cores_used", 5.667, .001}, {"E7", "share", .71, .005}, {"E12", "sum", 205136, 1}}},
		{"S000-03", result.Suspect, "E7 E12", []figure{{"E7", "cores_full", 3, 0}, {"E12", "sum", 205136, 1}, {"E12", "cores", 32, 0}}},
		{"S000-04", result.Invalid, "E1 E2 E3", []figure{{"E1", "ratio", .085, .0005}, {"E1", "in_flight", 696, .5}, {"E2", "true_mean_us", 48.5e3, 50},
			{"E2", "tail_us", 2.94e6, 5e3}, {"E3", "ratio", .503, .001}, {"E3", "threads_by_rate", 16, .15}}},
		{"S000-05", result.Suspect, "E1", []figure{{"E1", "ratio", 2.61, .005}, {"E1", "in_flight", 21352, 1}}},
		{"S000-06", result.Invalid, "E1 E6", []figure{{"E1", "ratio", 1.33, .005}, {"E6", "payload_bits", 811.5e6, .1e6}, {"E6", "frames_bits", 1011e6, .6e6},
			{"E6", "frames_timestamps_bits", 1042e6, .6e6}, {"E6", "gateway_in_bits", 1.25e9, .002e9}}},
		{"S000-07", result.Valid, "", nil},
		{"S000-08", result.Valid, "", nil},
		{"S000-09", result.Suspect, "E1", []figure{{"E1", "ratio", 1.42, .005}, {"E1", "in_flight", 11655, 1}}},
		{"S000-10", result.Suspect, "E1", []figure{{"E1", "ratio", 1.18, .005}, {"E1", "in_flight", 9659, 1}}},
		{"S001-01", result.Valid, "", nil},
		{"S001-02", result.Invalid, "E1 E7", []figure{{"E1", "ratio", 2.00, .005}, {"E1", "in_flight", 300, .5}, {"E7", "server_cores", .316, .001}}},
		{"S003-01", result.Suspect, "E1 E18 E24 E28", []figure{{"E1", "ratio", 2.26, .005}, {"E1", "in_flight", 144.4, .05}, {"E1", "true_mean_us", 13.0e3, 50}, {"E18", "periods_p99", 1, 0}, {"E18", "cpu_us_per_request", 40.7, .05}, {"E28", "per_minute", 295125, 1}}},
		{"S003-02", result.Suspect, "E1 E18 E24 E28", []figure{{"E1", "ratio", 2.05, .005}, {"E1", "in_flight", 131.1, .1}, {"E1", "true_mean_us", 23.5e3, 50}, {"E18", "periods_p99", 3, 0}, {"E18", "cpu_us_per_request", 73.4, .05}}},
		{"S003-03", result.Suspect, "E1 E18 E24 E28", []figure{{"E1", "ratio", 2.48, .005}, {"E1", "in_flight", 159.0, .1}, {"E1", "true_mean_us", 26.8e3, 50}, {"E18", "periods_p99", 6, 0}, {"E18", "cpu_us_per_request", 83.8, .05}}},
		{"S003-04", result.Suspect, "E1 E18 E24 E28", []figure{{"E1", "ratio", 1.29, .005}, {"E1", "in_flight", 82.5, .1}, {"E1", "true_mean_us", 35.7e3, 50}, {"E18", "periods_p99", 2, 0}, {"E18", "cpu_us_per_request", 111.6, .05}}},
		{"S003-05", result.Suspect, "E1 E18 E24 E28", []figure{{"E1", "ratio", 1.16, .005}, {"E1", "in_flight", 74.2, .1}, {"E1", "true_mean_us", 100.9e3, 50}, {"E18", "periods_p99", 5, 0}, {"E18", "cpu_us_per_request", 315.2, .05}}},
		{"S003-06", result.Suspect, "E1 E18 E24 E28", []figure{{"E1", "ratio", 1.28, .005}, {"E1", "in_flight", 82.2, .1}, {"E1", "true_mean_us", 124.9e3, 50}, {"E18", "periods_p99", 10, 0}, {"E18", "cpu_us_per_request", 390.3, .05}}},
		{"S004-01", result.Invalid, "E7 E8 E24", []figure{{"E7", "share", .99, 0}, {"E8", "cores_used", .99, 0}}},
		{"S004-02", result.Suspect, "E8 E24 E27", []figure{{"E27", "gateway_us_per_request", 55, .5}}},
		{"S004-03", result.Suspect, "E8 E24 E27", []figure{{"E27", "gateway_us_per_request", 379, 1}}},
		{"S004-04", result.Suspect, "E8 E24 E27 E28", []figure{{"E27", "gateway_us_per_request", 384, 1}}},
	}
}

func publishedPairs() []row {
	return []row{
		{"S000-05 S000-06", result.Suspect, "E11 E12", []figure{{"E12", "efficiency", .583, .001}}},
		{"S000-07 S000-08", result.Valid, "E12", []figure{{"E12", "rate_ratio", 1.89, .005}, {"E12", "efficiency", .63, .002}}},
		{"S000-09 S000-10", result.Suspect, "E11 E12", []figure{{"E12", "rate_ratio", 2.34, .005}, {"E12", "efficiency", .78, .002}}},
		{"S001-01 S001-02", result.Suspect, "E4 E7 E11", []figure{{"E4", "a_us", 301e6, 500}, {"E4", "b_us", 61e6, 500}, {"E7", "rate_ratio", 1.56, .005}, {"E15", "changed", 1, 0}}},
		{"S003-02 S003-04", result.Suspect, "E19", []figure{{"E19", "fast_true_mean_us", 23.5e3, 50}, {"E19", "slow_true_mean_us", 35.7e3, 50}}},
		{"S003-03 S003-04", result.Suspect, "E19", nil},
		{"S003-01 S003-06", result.Valid, "", nil},
		{"S004-01 S004-02", result.Invalid, "E7", []figure{{"E7", "gain", .059, .0005}, {"E7", "backend_capacity", 38330, 1}}},
		{"S004-02 S004-03", result.Suspect, "E4 E27", []figure{{"E27", "ratio", 6.9, .06}}},
		{"S004-03 S004-04", result.Suspect, "E27", []figure{{"E15", "a_true_mean_us", 15.55e3, 5}, {"E15", "b_true_mean_us", 5.23e3, 5}, {"E27", "ratio", 1, .02}}},
	}
}

// checkRow holds a validity against what is laid down.
func checkRow(t *testing.T, r row, v result.Validity) {
	t.Helper()
	var got []string
	for _, f := range v.Findings {
		if slices.Contains(held, f.ID) && !slices.Contains(got, f.ID) {
			got = append(got, f.ID)
		}
	}
	if v.Verdict != r.verdict || strings.Join(got, " ") != r.rules {
		t.Errorf("%s: got %s, %s, want %s, %s", r.id, v.Verdict, strings.Join(got, " "), r.verdict, r.rules)
	}
	for _, want := range r.figures {
		all := findings(v, want.rule)
		if len(all) == 0 {
			t.Errorf("%s: no %s", r.id, want.rule)
			continue
		}
		value, ok := all[0].Evidence[want.key]
		if !ok || math.Abs(value-want.want) > want.tolerance {
			t.Errorf("%s: %s %s: got %v (%v), want %v", r.id, want.rule, want.key, value, ok, want.want)
		}
	}
}

// TestPublished: each of the 22 rows has the findings of the arithmetic done by
// hand, from outputs and facts as well as from the table, and rows that are good
// have none.
func TestPublished(t *testing.T) {
	for _, table := range []bool{false, true} {
		t.Run(fmt.Sprintf("table=%v", table), func(t *testing.T) {
			r := published(t, table)
			rows := publishedRows()
			if len(rows) != 22 {
				t.Fatalf("%d rows are laid down, want 22", len(rows))
			}
			for _, row := range rows {
				checkRow(t, row, judged(t, r, row.id).Validity)
			}
			for _, row := range publishedPairs() {
				a, b, _ := strings.Cut(row.id, " ")
				checkRow(t, row, pairOf(t, r, a, b).Validity)
			}
		})
	}
}

// TestPublishedOrder: of the fifteen pairs of frameworks only those two with
// undertow contradict each other.
func TestPublishedOrder(t *testing.T) {
	n := 0
	for _, p := range published(t, true).Pairs {
		n += len(findings(p.Validity, "E19"))
	}
	if n != 2 {
		t.Errorf("got %d findings of E19, want 2", n)
	}
}

// TestPublishedWrongHost: the slave that was measured alone is none of the
// three.
func TestPublishedWrongHost(t *testing.T) {
	r := published(t, false)
	if f := findings(pairOf(t, r, "S000-05", "S000-06").Validity, "E13"); len(f) != 1 {
		t.Errorf("got %v, want one finding of E13", f)
	}
	if f := findings(pairOf(t, r, "S000-09", "S000-10").Validity, "E13"); len(f) != 0 {
		t.Errorf("got %v, want none: .187 is one of the three", f)
	}
}

// TestPublishedClaims: E14.
func TestPublishedClaims(t *testing.T) {
	r := published(t, false)
	want := []figure{{"S000-06 slower than S000-04", "ratio", 1.89, .005}, {"S004-03 limited by cpu", "idle_cores", 1.8, .02},
		{"S004-04 limited by cpu", "idle_cores", 3.2, .04}, {"S004-04 in proportion to S004-03", "rate_ratio", 1.486, .001}}
	for i, w := range want {
		c := r.Claims[i]
		f := findings(c.Validity, "E14")
		if c.Text != w.rule || c.Holds || len(f) != 1 || math.Abs(f[0].Evidence[w.key]-w.want) > w.tolerance {
			t.Errorf("got %+v, want %s with %s %v", c, w.rule, w.key, w.want)
		}
	}
}

// TestPublishedSecondTable: with the threads and connections that older versions
// of the text have, the impossible output is possible.
func TestPublishedSecondTable(t *testing.T) {
	s := text(t, "published/S000-04.wrk.txt")
	s.Text = strings.NewReplacer("8 threads and 8192", "16 threads and 512", "-t8 -c8192", "-t16 -c512").Replace(s.Text)
	r := audit.Run(blocks(t, s), audit.File{}, audit.Thresholds{})
	v := r.Results[0].Validity
	if f := findings(v, "E1"); v.Verdict != result.Suspect || len(f) != 1 || math.Abs(f[0].Evidence["ratio"]-1.36) > 0.005 || len(v.Findings) != 1 {
		t.Errorf("got %s %+v, want suspect by E1 with 1.36 alone", v.Verdict, v.Findings)
	}
}

// TestPublishedBare: without any facts the good outputs have nothing against
// them, and what facts would be needed for is said.
func TestPublishedBare(t *testing.T) {
	for _, id := range []string{"S000-02", "S000-03", "S000-07", "S000-08"} {
		r := audit.Run(blocks(t, text(t, "published/"+id+".wrk.txt")), audit.File{}, audit.Thresholds{})
		v := r.Results[0].Validity
		missing := strings.Join(v.NotRun, "\n")
		if v.Verdict != result.Valid || !strings.Contains(missing, "--link") || !strings.Contains(missing, "--cpu wrk") || !strings.Contains(missing, "--expect-bytes") {
			t.Errorf("%s: got %s, not run: %q", id, v.Verdict, missing)
		}
	}
}
