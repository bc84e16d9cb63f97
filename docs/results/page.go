package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"prony/internal/audit"
)

// published is where the published results, their outputs and what is known
// beside them are.
var published = filepath.Join("internal", "audit", "testdata", "published")

// Book is what pages can speak of.
type Book struct {
	summaries map[string]Summary
	rows      map[string]map[string]string // published, by id and column
	audit     audit.Report
}

// pages writes every page.
func pages(root string) error {
	b, err := open(root)
	if err != nil {
		return err
	}
	texts, err := filepath.Glob(filepath.Join(root, "docs", "results", "pages", "*.md"))
	if err != nil {
		return err
	}
	for _, file := range texts {
		text, err := b.page(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(root, "docs", "results", filepath.Base(file)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// page is one page, made from its text.
func (b *Book) page(file string) ([]byte, error) {
	name := filepath.Base(file)
	t, err := template.New(name).Delims("<<", ">>").Option("missingkey=error").Funcs(b.functions()).ParseFiles(file)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "<!-- Made by go run ./docs/results from pages/%s and data/. Change those. -->\n\n", name)
	err = t.Execute(&out, nil)
	return out.Bytes(), err
}

// functions are what a text can ask for.
func (b *Book) functions() template.FuncMap {
	return template.FuncMap{
		"published": b.published, "audit": b.judged, "pairs": b.pairs, "claims": b.claims,
		"ours": b.ours, "machine": b.machine, "has": b.has, "counts": b.counts, "rate": b.rate, "times": b.times,
		"compiling": b.compiling, "effort": b.effort, "busy": b.busy, "cpu": b.cpu, "costs": b.costs, "p99": b.p99, "p50": b.p50, "note": b.note, "census": b.census,
	}
}

// open reads all that pages speak of.
func open(root string) (*Book, error) {
	b := &Book{summaries: map[string]Summary{}, rows: map[string]map[string]string{}}
	files, err := filepath.Glob(filepath.Join(root, "docs", "results", "data", "*.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var s Summary
		if err := json.Unmarshal(text, &s); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		b.summaries[s.Name] = s
	}
	if err := b.readRows(filepath.Join(root, published, "published-results.csv")); err != nil {
		return nil, err
	}
	return b, b.readAudit(filepath.Join(root, published))
}

func (b *Book) readRows(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	for _, line := range all[1:] {
		row := map[string]string{}
		for i, column := range all[0] {
			row[column] = line[i]
		}
		b.rows[row["id"]] = row
	}
	return nil
}

// readAudit holds the published outputs against what is known beside them, as
// prony audit does.
func (b *Book) readAudit(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "S0*.txt"))
	if err != nil {
		return err
	}
	var sources []audit.Source
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		sources = append(sources, audit.Source{File: filepath.Base(file), Text: string(text)})
	}
	text, err := os.ReadFile(filepath.Join(dir, "published.facts.yaml"))
	if err != nil {
		return err
	}
	facts, err := audit.ParseFacts("published.facts.yaml", text)
	if err != nil {
		return err
	}
	read, err := audit.Read(sources, audit.Limits{})
	if err != nil {
		return err
	}
	b.audit = audit.Run(audit.Join(read, facts, nil), facts, audit.Thresholds{})
	return nil
}

// published is the table of some published rows, as they were printed.
func (b *Book) published(ids ...string) (string, error) {
	var t strings.Builder
	t.WriteString("| row | what | connections | time | requests/s | mean | p99 | audit |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |\n")
	for _, id := range ids {
		row, ok := b.rows[id]
		j, judged := b.result(id)
		if !ok || !judged {
			return "", fmt.Errorf("no published result %s", id)
		}
		unit := ""
		if strings.HasPrefix(id, "S001") {
			unit = "ms"
		}
		fmt.Fprintf(&t, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", id, cell(row["system"]), dash(row["connections"], ""), dash(row["duration_stated"], ""),
			dash(row["rps"]+row["rps_derived"], ""), dash(row["lat_avg"], unit), dash(row["p99"], unit), j.Validity.Verdict)
	}
	return t.String(), nil
}

// cell keeps a text inside its cell of a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", "/") }

// dash shows what was not printed.
func dash(s, unit string) string {
	if s == "" {
		return "–"
	}
	return cell(s) + unit
}

func (b *Book) result(id string) (audit.Judged, bool) {
	i := slices.IndexFunc(b.audit.Results, func(j audit.Judged) bool { return j.ID == id })
	if i < 0 {
		return audit.Judged{}, false
	}
	return b.audit.Results[i], true
}
