package spec_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prony/internal/spec"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file, or writes it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs\ngot:\n%s\nwant:\n%s", file, got, want)
	}
}

// files lists those that match, and fails if there are fewer than at least.
func files(t *testing.T, pattern string, atLeast int) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) < atLeast {
		t.Fatalf("%s: got %d files (%v), want at least %d", pattern, len(found), err, atLeast)
	}
	return found
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestWrong holds the exact text of what each wrong file gets told.
func TestWrong(t *testing.T) {
	for _, file := range files(t, "testdata/wrong/*.yaml", 50) {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			_, err := spec.Load(name, read(t, file), spec.Overrides{})
			var mistakes spec.Mistakes
			if !errors.As(err, &mistakes) || len(mistakes) == 0 {
				t.Fatalf("got error %v, want mistakes", err)
			}
			for _, m := range mistakes {
				if m.Line < 1 || m.Column < 1 {
					t.Errorf("no position: %v", m)
				}
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".err", err.Error()+"\n")
		})
	}
}
