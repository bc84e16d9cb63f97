package analyse_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prony/internal/analyse"
)

// pages is where each rule has its page, for people.
const pages = "../../docs/findings"

func ruleNames() []string {
	return slices.Concat(analyse.RuleNames(), analyse.ExperimentRuleNames())
}

// TestEveryRuleHasAPage holds the documentation to the rules, both ways.
func TestEveryRuleHasAPage(t *testing.T) {
	names := ruleNames()
	index, err := os.ReadFile(filepath.Join(pages, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(pages, name+".md"))
		if err != nil {
			t.Errorf("rule %s has no page: %v", name, err)
			continue
		}
		checkPage(t, name, string(text))
		if !strings.Contains(string(index), "]("+name+".md)") {
			t.Errorf("README.md does not link %s.md", name)
		}
	}
	files, err := filepath.Glob(filepath.Join(pages, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		if name != "README" && !slices.Contains(names, name) {
			t.Errorf("%s is about no rule", file)
		}
	}
}

// checkPage wants a title, the four questions in their order, and an answer to
// each.
func checkPage(t *testing.T, name, text string) {
	t.Helper()
	if !strings.HasPrefix(text, "# "+name+"\n\nRule ") {
		t.Errorf("%s.md: got no title and rule, want them first", name)
	}
	for _, heading := range []string{"## What it means", "## How it is computed", "## How to fix it", "## What can be wrong"} {
		_, rest, found := strings.Cut(text, "\n"+heading+"\n\n")
		answer, _, _ := strings.Cut(rest, "\n## ")
		if !found || len(strings.TrimSpace(answer)) < 15 {
			t.Errorf("%s.md: got no answer to %q, want one", name, heading)
		}
		text = rest
	}
}

// TestPagesTellTheID: a page and its rule call it by the same id.
func TestPagesTellTheID(t *testing.T) {
	for name, id := range analyse.RuleIDs() {
		text, err := os.ReadFile(filepath.Join(pages, name+".md"))
		if err != nil {
			continue // the other test says so
		}
		if !strings.Contains(string(text), "\nRule "+id+", about ") {
			t.Errorf("%s.md: got another id, want %s", name, id)
		}
	}
}

func TestRuleNamesAreSlugs(t *testing.T) {
	names := ruleNames()
	for _, name := range names {
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") != "" {
			t.Errorf("got rule name %q, want lower case words joined by hyphens", name)
		}
	}
	if sorted := slices.Compact(slices.Sorted(slices.Values(names))); len(sorted) != len(names) {
		t.Errorf("got %d names for %d rules, want each its own", len(sorted), len(names))
	}
}

// TestEveryLimitIsExplained: whatever can be named as a bottleneck by a rule is
// in the index.
func TestEveryLimitIsExplained(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(pages, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range analyse.Limits() {
		if !strings.Contains(string(index), "\n| `"+what+"` | ") {
			t.Errorf("README.md does not explain the limit %s", what)
		}
	}
}
