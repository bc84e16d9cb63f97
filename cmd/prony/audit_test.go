package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"prony/internal/audit"
)

// TestAuditFlags: every flag that is a fact exists as one, with its help.
func TestAuditFlags(t *testing.T) {
	known := audit.FactKeys()
	for _, name := range factFlags() {
		if known[strings.ReplaceAll(name, "-", "_")] == "" {
			t.Errorf("--%s is no fact", name)
		}
	}
}

// TestAuditPage: the page names every fact and every rule.
func TestAuditPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range audit.FactKeys() {
		if !bytes.Contains(page, []byte("`"+name+"`")) {
			t.Errorf("docs/audit.md does not name the fact %s", name)
		}
	}
	for _, id := range []string{"E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8", "E9", "E10", "E11", "E12", "E13", "E14", "E15", "E16", "E17", "E18", "E19",
		"E20", "E21", "E22", "E23", "E24", "E25", "E26", "E27", "E28", "E29", "E30", "E31"} {
		if !bytes.Contains(page, []byte("| "+id+" |")) {
			t.Errorf("docs/audit.md has no row for %s", id)
		}
	}
}

// TestAuditPublished: the command gives the published rows their verdicts, from
// outputs and facts.
func TestAuditPublished(t *testing.T) {
	const dir = "../../internal/audit/testdata/published/"
	args := []string{"prony", "audit", "--json", "-", "--facts", dir + "published.facts.yaml"}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".txt") {
			args = append(args, dir+e.Name())
		}
	}
	var out, errs bytes.Buffer
	if code := run(context.Background(), args, streams{in: strings.NewReader(""), out: &out, err: &errs}); code != exitVerdict {
		t.Fatalf("got status %d, want %d: %s", code, exitVerdict, errs.String())
	}
	var r audit.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	var invalid []string
	for _, j := range r.Results {
		if j.Validity.Verdict == "invalid" {
			invalid = append(invalid, j.ID)
		}
	}
	if want := []string{"S000-04", "S000-06", "S001-02", "S004-01"}; r.Schema != audit.Schema || len(r.Results) != 22 || !slices.Equal(invalid, want) {
		t.Errorf("got %s, %d results, invalid %q, want 22 and %q", r.Schema, len(r.Results), invalid, want)
	}
}
