package plan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"prony/internal/plan"
	"prony/internal/spec"
)

// FuzzMake: a file that loads is planned or refused with positions, and a plan
// can be printed and stored.
func FuzzMake(f *testing.F) {
	for _, pattern := range []string{"testdata/*/*.yaml", "../../examples/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range found {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text, 2)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, cpus int) {
		e, err := spec.Load("x.yaml", text, spec.Overrides{})
		if err != nil || len(e.Combinations())*max(e.Repeat.Times, 30) > 300 {
			return
		}
		p, err := plan.Make(e, plan.Facts{CPUs: cpus % 10_000, Hosts: map[string]plan.Machine{"sut1": {CPUs: 4, Memory: 1 << 30}},
			Memory: 2 << 30, Sockets: plan.Sockets{Files: 4096, Ports: 28232}})
		var mistakes spec.Mistakes
		if err != nil && (!errors.As(err, &mistakes) || mistakes[0].Line < 1) {
			t.Fatalf("got error %v, want mistakes with positions", err)
		}
		if err != nil {
			return
		}
		var dry bytes.Buffer
		if err := plan.DryRun(&dry, p); err != nil || dry.Len() == 0 {
			t.Fatalf("dry run: %v", err)
		}
		if _, err := json.Marshal(p); err != nil {
			t.Fatal(err)
		}
	})
}
