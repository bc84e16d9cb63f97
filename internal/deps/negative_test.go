package deps_test

import (
	"maps"
	"strings"
	"testing"
)

// The policy and the module of the cases below: right as they stand.
const (
	casePolicy = `[packages]
# Numbers.
unit: - | -
# The plan.
plan: unit | -
# The file.
spec: plan | example.org/yaml
# Not there yet.
#+ store: plan | example.org/sql
# All.
cmd/prony: * | -
[tests]
# Any test.
*: unit | -
# Its oracle.
spec: - | example.org/oracle
[modules]
# The reader.
example.org/yaml: Apache-2.0 AND MIT
# The oracle.
example.org/oracle: ISC
`
	caseModule = `module prony
require (
	example.org/yaml v1.0.0
	example.org/oracle v1.0.0 // indirect
	example.org/deep v1.0.0 // indirect
)
`
)

// caseFiles gives the files of a module that keeps casePolicy.
func caseFiles() map[string]string {
	return map[string]string{
		"internal/unit/unit.go":      "package unit\nimport _ \"strings\"\n",
		"internal/plan/plan.go":      "package plan\nimport _ \"prony/internal/unit\"\n",
		"internal/spec/spec.go":      "package spec\nimport _ \"prony/internal/plan\"\nimport _ \"example.org/yaml/node\"\n",
		"internal/spec/spec_test.go": "package spec_test\nimport _ \"prony/internal/spec\"\nimport _ \"prony/internal/unit\"\nimport _ \"example.org/oracle\"\n",
		"cmd/prony/main.go":          "package main\nimport _ \"prony/internal/spec\"\n",
	}
}

// policyCase changes one thing about the module above.
type policyCase struct {
	name     string
	files    map[string]string // added or replaced; "" removes
	old, new string            // replaced in the policy
	oldMod   string            // replaced in go.mod
	newMod   string
	want     []string // parts of the only complaint; none for no complaint
}

func (c policyCase) run(t *testing.T) []string {
	t.Helper()
	texts := caseFiles()
	maps.Copy(texts, c.files)
	maps.DeleteFunc(texts, func(_, text string) bool { return text == "" })
	if !strings.Contains(casePolicy, c.old) || !strings.Contains(caseModule, c.oldMod) {
		t.Fatal("the case replaces a text that is not there")
	}
	p, problems := parsePolicy(strings.Replace(casePolicy, c.old, c.new, 1))
	m := parseModule([]byte(strings.Replace(caseModule, c.oldMod, c.newMod, 1)))
	return append(problems, checkPolicy(p, m, sources(t, texts))...)
}

func (c policyCase) check(t *testing.T) {
	t.Helper()
	got := c.run(t)
	if len(c.want) == 0 {
		if len(got) != 0 {
			t.Errorf("got complaints\n%s\nwant none", strings.Join(got, "\n"))
		}
		return
	}
	if len(got) != 1 {
		t.Fatalf("got %d complaints, want 1:\n%s", len(got), strings.Join(got, "\n"))
	}
	for _, part := range c.want {
		if !strings.Contains(got[0], part) {
			t.Errorf("complaint\n got %s\nwant a part %q", got[0], part)
		}
	}
}

func TestPolicyCatches(t *testing.T) {
	cases := []policyCase{
		{name: "nothing when all is right"},
		{name: "an edge back", files: map[string]string{"internal/plan/back.go": "package plan\nimport _ \"prony/internal/spec\"\n"},
			want: []string{"internal/plan/back.go:2: plan may not import spec", `add "spec" to line 5`, advice}},
		{name: "an edge behind a build tag", files: map[string]string{"internal/unit/u.go": "//go:build plan9\n\npackage unit\nimport _ \"prony/internal/plan\"\n"},
			want: []string{"internal/unit/u.go:4: unit may not import plan"}},
		{name: "an edge of tests", files: map[string]string{"internal/plan/plan_test.go": "package plan_test\nimport _ \"prony/internal/spec\"\n"},
			want: []string{"plan may not import spec", `under [tests]`, `the line "plan: spec | -"`, advice}},
		{name: "a module in the wrong package", files: map[string]string{"internal/unit/u.go": "package unit\nimport _ \"example.org/yaml\"\n"},
			want: []string{"internal/unit/u.go:2: unit may not import module example.org/yaml", `add "example.org/yaml" to line 3`, advice}},
		{name: "a test-only module outside tests", files: map[string]string{"internal/spec/s.go": "package spec\nimport _ \"example.org/oracle\"\n"},
			want: []string{"spec may not import module example.org/oracle"}},
		{name: "a module that go.mod lacks", files: map[string]string{"internal/unit/u.go": "package unit\nimport _ \"example.org/new\"\n"},
			want: []string{"no module in go.mod provides example.org/new", advice}},
		{name: "cgo", files: map[string]string{"internal/unit/u.go": "package unit\nimport \"C\"\n"},
			want: []string{"internal/unit/u.go:2: cgo is refused"}},
		{name: "an unlisted package", files: map[string]string{"internal/extra/e.go": "package extra\nimport _ \"prony/internal/unit\"\n"},
			want: []string{"internal/extra/e.go: package extra is not in internal/deps/policy.txt", `the line "extra: unit | -"`, advice}},
		{name: "a package that has arrived", files: map[string]string{"internal/store/s.go": "package store\n"},
			want: []string{`package store has arrived: remove the "#+ " from line 9`}},
		{name: "a dead line", files: map[string]string{"cmd/prony/main.go": ""},
			want: []string{"policy.txt:11: package cmd/prony does not exist"}},
		{name: "a dead module", oldMod: "example.org/oracle v1.0.0 // indirect", files: map[string]string{"internal/spec/spec_test.go": ""},
			old: "spec: - | example.org/oracle", new: "spec: - | -", want: []string{"policy.txt:21: module example.org/oracle is not in go.mod"}},
		{name: "a granted module that go.mod lacks", old: "unit: - | -", new: "unit: - | example.org/none",
			want: []string{"policy.txt:3: module example.org/none is not in go.mod"}},
		{name: "a direct module without a licence", oldMod: "example.org/deep v1.0.0 // indirect", newMod: "example.org/deep v1.0.0",
			want: []string{`go.mod: module example.org/deep has no licence`, `"example.org/deep: SPDX-NAME"`}},
		{name: "an imported module without a licence", old: "# The oracle.\nexample.org/oracle: ISC\n",
			want: []string{"module example.org/oracle has no licence"}},
		{name: "the GPL", old: "Apache-2.0 AND MIT", new: "GPL-3.0-only",
			want: []string{"policy.txt:19: module example.org/yaml: licence GPL-3.0-only is refused"}},
		{name: "the AGPL in company", old: "Apache-2.0 AND MIT", new: "MIT AND AGPL-3.0-or-later",
			want: []string{"licence AGPL-3.0-or-later is refused"}},
		{name: "a licence nobody weighed", old: "ISC", new: "MPL-2.0",
			want: []string{"licence MPL-2.0 is not one of Apache-2.0", "design note"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

func TestPolicyTextCatches(t *testing.T) {
	cases := []policyCase{
		{name: "no sentence", old: "# The plan.\n", want: []string{"policy.txt:4: say in a comment directly above what plan is for"}},
		{name: "a sentence too far away", old: "# The plan.\n", new: "# The plan.\n\n", want: []string{"policy.txt:6: say in a comment"}},
		{name: "half a line", old: "unit: - | -\n", new: "unit: - | -\n# More.\nmore: -\n", want: []string{"policy.txt:5: more needs both halves"}},
		{name: "no colon", old: "unit: - | -\n", new: "unit: - | -\n# More.\nmore\n", want: []string{`policy.txt:5: "more" is not`}},
		{name: "two lines", old: "# The plan.\n", new: "# Again.\nunit: - | -\n# The plan.\n", want: []string{"policy.txt:5: unit already has line 3"}},
		{name: "two lines, one ready", old: "# The plan.\n", new: "# Again.\n#+ unit: - | -\n# The plan.\n", want: []string{"policy.txt:5: unit already has line 3"}},
		{name: "two licences", old: "# The oracle.\n", new: "# Again.\nexample.org/yaml: MIT\n# The oracle.\n", want: []string{"policy.txt:21: example.org/yaml already has line 19"}},
		{name: "an unknown name", old: "plan: unit | -", new: "plan: unti unit | -", want: []string{"policy.txt:5: plan may import unti, which has no line"}},
		{name: "no section", old: "[packages]\n", new: "# Lost.\nlost: - | -\n[packages]\n", want: []string{"policy.txt:2: lost stands in no section"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}
