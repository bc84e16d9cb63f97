package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"prony/internal/report"
	"prony/internal/result"
)

// TestScaleAuto: what was reduced, and why, stands in every text about the run.
func TestScaleAuto(t *testing.T) {
	const fit = `{"fit": {"changes": [{"what": "connections", "from": 4096, "to": 1024, "why": "a generator of one core carries about 1024"},
 {"what": "cpus", "of": ["app", "gateway"], "from": 4, "to": 0.5, "why": "this machine has 2 cores, of which the generator keeps 1"}]}}`
	want := []string{"connections 4096 -> 1024: a generator of one core carries about 1024", "cpus 4 -> 0.5 for app and gateway alike: this machine has 2 cores"}
	e, r := madeExperiment(t), madeRun(t, 2000, result.Valid)
	if err := json.Unmarshal([]byte(`{"trials": [{"variant": "x", "plan": `+fit+`}]}`), e.Plan); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(fit), r.Plan); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		write func(*bytes.Buffer) error
	}{
		{"table", func(b *bytes.Buffer) error { return report.Experiment(b, e, report.Style{}) }},
		{"text", func(b *bytes.Buffer) error { return report.Text(b, r, nil, report.Style{}) }},
		{"Markdown of an experiment", func(b *bytes.Buffer) error { return report.Markdown(b, report.Document{Experiment: e}) }},
		{"Markdown of a run", func(b *bytes.Buffer) error { return report.Markdown(b, report.Document{Run: r}) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := tt.write(&b); err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(strings.Join(strings.Fields(b.String()), " "), `\`, "")
			got = strings.ReplaceAll(got, "&gt;", ">")
			for _, w := range want {
				if !strings.Contains(got, w) {
					t.Errorf("%q is missing in\n%s", w, b.String())
				}
			}
		})
	}
}
