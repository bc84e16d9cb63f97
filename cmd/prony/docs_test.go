package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fieldReports is how many reports docs/field-reports.md answers.
const fieldReports = 62

// TestFieldReports keeps the page of bug reports true: every report has a row,
// and every row names tests that exist.
func TestFieldReports(t *testing.T) {
	page, err := os.ReadFile("../../docs/field-reports.md")
	if err != nil {
		t.Fatal(err)
	}
	known := testNames(t, "../..")
	rows := regexp.MustCompile(`(?m)^\| F(\d+) \|.*\| ([^|]*) \|$`).FindAllStringSubmatch(string(page), -1)
	if len(rows) != fieldReports {
		t.Errorf("%d rows, want %d", len(rows), fieldReports)
	}
	for _, row := range rows {
		names := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(row[2], -1)
		if len(names) == 0 {
			t.Errorf("F%s names no test", row[1])
		}
		for _, name := range names {
			if !known[name[1]] {
				t.Errorf("F%s names %s, which does not exist", row[1], name[1])
			}
		}
	}
}

// testNames are the tests of the whole module.
func testNames(t *testing.T, root string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(b), -1) {
			names[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
