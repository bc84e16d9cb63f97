package audit_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prony/internal/audit"
	"prony/internal/result"
)

var update = flag.Bool("update", false, "write the golden files anew")

// text reads a fixture.
func text(t *testing.T, name string) audit.Source {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return audit.Source{File: filepath.Base(name), Text: string(b)}
}

// blocks reads the results of texts.
func blocks(t *testing.T, sources ...audit.Source) []audit.Block {
	t.Helper()
	all, err := audit.Read(sources, audit.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// one reads the only result of a text.
func one(t *testing.T, s audit.Source) audit.Block {
	t.Helper()
	all := blocks(t, s)
	if len(all) != 1 {
		t.Fatalf("%s: got %d results, want 1", s.File, len(all))
	}
	return all[0]
}

// facts parses a file of facts.
func facts(t *testing.T, yaml string) audit.File {
	t.Helper()
	f, err := audit.ParseFacts("facts.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// findings are those of a validity with one id.
func findings(v result.Validity, id string) []result.Finding {
	var all []result.Finding
	for _, f := range v.Findings {
		if f.ID == id {
			all = append(all, f)
		}
	}
	return all
}

// judged finds a result in a report.
func judged(t *testing.T, r audit.Report, id string) audit.Judged {
	t.Helper()
	i := slices.IndexFunc(r.Results, func(j audit.Judged) bool { return j.ID == id })
	if i < 0 {
		t.Fatalf("no result %s", id)
	}
	return r.Results[i]
}

// pairOf finds a pair in a report.
func pairOf(t *testing.T, r audit.Report, a, b string) audit.Pair {
	t.Helper()
	i := slices.IndexFunc(r.Pairs, func(p audit.Pair) bool { return p.A == a && p.B == b })
	if i < 0 {
		t.Fatalf("no pair %s, %s", a, b)
	}
	return r.Pairs[i]
}

// golden compares text with a file, and writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run the test with -update and look at the difference\ngot:\n%s", name, got)
	}
}

// written renders a report as text.
func written(t *testing.T, r audit.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := audit.Text(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGoldenText(t *testing.T) {
	tests := []struct {
		name  string
		texts []string
		facts string
	}{
		{"good-wrk.txt", []string{"published/S000-02.wrk.txt"}, ""},
		{"impossible.txt", []string{"published/S000-04.wrk.txt"}, ""},
		{"pair.txt", []string{"published/S001-01.gatling.txt", "published/S001-02.gatling.txt"},
			"audit: 1\nall: {connections: 150, same_host: true, cores: 4}\nclaims: [S001-02 faster than S001-01 by 80%]\n"},
		{"post.txt", []string{"noise/post.txt"}, ""},
		{"shards.txt", []string{"published/S000-03.wrk.txt"}, `audit: 1
shards:
  - {index: 0, of: 2, planned: 50, done: 50, start: 0s, end: 10s}
  - {index: 1, of: 2, planned: 50, done: 49, start: 1s, end: 10s}
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var sources []audit.Source
			for _, f := range tt.texts {
				sources = append(sources, text(t, f))
			}
			f := audit.File{}
			if tt.facts != "" {
				f = facts(t, tt.facts)
			}
			got := written(t, audit.Run(audit.Join(blocks(t, sources...), f, nil), f, audit.Thresholds{}))
			golden(t, tt.name, got)
			for line := range strings.Lines(string(got)) {
				if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
					t.Errorf("a line of %d columns: %s", n, line)
				}
			}
		})
	}
}

func TestGoldenJSON(t *testing.T) {
	all := blocks(t, text(t, "published/S000-04.wrk.txt"))
	var b bytes.Buffer
	if err := audit.JSON(&b, audit.Run(all, audit.File{}, audit.Thresholds{})); err != nil {
		t.Fatal(err)
	}
	golden(t, "impossible.json", b.Bytes())
}
