package generator_test

import (
	"strings"
	"testing"

	"prony/internal/generator"
	"prony/internal/plan"
)

// TestSecrets: what is kept of a run can be shown around.
func TestSecrets(t *testing.T) {
	for _, p := range generator.Programs() {
		if p.Name == "gatling" {
			continue // its headers are in a file
		}
		l := load(p.Name, "http://user:hunter2@127.0.0.1:1/")
		l.Requests[0].Headers = []plan.Header{{Name: "cookie", Value: "hunter2"}, {Name: "X-API-Key", Value: "hunter2"}}
		r, err := generator.Run(t.Context(), l, generator.Options{Find: printing(t, p.Name)})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(r.Output, "hunter2") || !strings.Contains(r.Output, "***") {
			t.Errorf("%s: got %q", p.Name, r.Output)
		}
	}
}
