package spec_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prony/internal/spec"
)

// FuzzLoad: no text panics, every mistake has a position and one line, and what
// is taken resolves in every combination and reads the same when written back.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "testdata/wrong/*.yaml", "../plan/testdata/good/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range found {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text, "load.duration=2s")
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, set string) {
		e, err := spec.Load("x.yaml", text, spec.Overrides{})
		checkFuzzed(t, e, err)
		e, err = spec.Load("x.yaml", text, spec.Overrides{Set: []string{set}, Only: []string{set}})
		checkFuzzed(t, e, err)
	})
}

func checkFuzzed(t *testing.T, e *spec.Experiment, err error) {
	t.Helper()
	if err != nil {
		var mistakes spec.Mistakes
		if !errors.As(err, &mistakes) || len(mistakes) == 0 || len(mistakes) > 51 {
			t.Fatalf("got error %v, want a few mistakes", err)
		}
		for _, m := range mistakes {
			if m.File == "x.yaml" && (m.Line < 1 || m.Column < 1) || m.File == "" || m.Problem == "" {
				t.Fatalf("no position or problem: %+v", m)
			}
		}
		return
	}
	for i, c := range e.Combinations() {
		if i == 20 {
			break
		}
		if _, err := e.Resolve(c); err != nil {
			t.Fatalf("%s: %v", c.Name(), err)
		}
	}
	var once, twice bytes.Buffer
	if err := spec.Write(&once, *e); err != nil {
		t.Fatal(err)
	}
	again, err := spec.Load("y.yaml", once.Bytes(), spec.Overrides{})
	if err != nil {
		if strings.Contains(err.Error(), "no variant") {
			return
		}
		t.Fatalf("what was written is refused: %v\n%s", err, once.String())
	}
	if err := spec.Write(&twice, *again); err != nil || once.String() != twice.String() {
		t.Fatalf("%v: got\n%s\nwant\n%s", err, twice.String(), once.String())
	}
}
