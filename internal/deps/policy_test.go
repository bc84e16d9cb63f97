package deps_test

import (
	"fmt"
	"slices"
	"strings"
)

// policyPath is the policy, from the module's root.
const policyPath = "internal/deps/policy.txt"

// grant is one line of the policy: what a package may import.
type grant struct {
	number  int // of the line
	text    string
	ours    []string
	modules []string
}

// allows reports whether the line lets in one of our packages.
func (g grant) allows(name string) bool {
	return slices.Contains(g.ours, "*") || slices.Contains(g.ours, name)
}

// licence is one line of the modules section.
type licence struct {
	number int
	spdx   string
}

// policy is policy.txt, parsed.
type policy struct {
	packages map[string]grant // lines that hold
	ready    map[string]grant // lines marked "#+ "
	tests    map[string]grant // what test files may import on top; "*" is any package
	licences map[string]licence
}

// policyReader parses line by line and gathers every mistake.
type policyReader struct {
	policy
	section  string
	sentence bool // the line above is a comment
	problems []string
}

// parsePolicy reads the text of policy.txt; problems lists every mistake in it.
func parsePolicy(text string) (p policy, problems []string) {
	r := policyReader{policy: policy{
		packages: map[string]grant{}, ready: map[string]grant{}, tests: map[string]grant{}, licences: map[string]licence{},
	}}
	for i, line := range strings.Split(text, "\n") {
		r.read(i+1, strings.TrimSpace(line))
	}
	r.checkNames()
	slices.Sort(r.problems)
	return r.policy, r.problems
}

func (r *policyReader) problem(number int, format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf("%s:%d: ", policyPath, number)+fmt.Sprintf(format, args...))
}

func (r *policyReader) read(number int, line string) {
	body, ready := strings.CutPrefix(line, "#+ ")
	switch {
	case line == "":
		r.sentence = false
	case !ready && line[0] == '#':
		r.sentence = len(line) > 1
	case line[0] == '[':
		r.section, r.sentence = line, false
	default:
		r.entry(number, body, ready)
		r.sentence = false
	}
}

func (r *policyReader) entry(number int, body string, ready bool) {
	key, value, ok := strings.Cut(body, ":")
	if !ok || strings.TrimSpace(value) == "" {
		r.problem(number, `%q is not "name: what holds for it"`, body)
		return
	}
	if !r.sentence {
		r.problem(number, "say in a comment directly above what %s is for", key)
	}
	switch value = strings.TrimSpace(value); r.section {
	case "[packages]":
		into := r.packages
		if ready {
			into = r.ready
		}
		r.grant(into, number, key, value)
	case "[tests]":
		if !ready {
			r.grant(r.tests, number, key, value)
		}
	case "[modules]":
		r.licence(number, key, value)
	default:
		r.problem(number, "%s stands in no section: [packages], [tests] or [modules]", key)
	}
}

func (r *policyReader) grant(into map[string]grant, number int, key, value string) {
	ours, modules, ok := strings.Cut(value, "|")
	if !ok {
		r.problem(number, `%s needs both halves: "ours it may import | modules it may import", with - for nothing`, key)
		return
	}
	if r.section == "[packages]" {
		r.unique(number, key, r.packages[key].number, r.ready[key].number)
	} else {
		r.unique(number, key, into[key].number)
	}
	into[key] = grant{number, key + ": " + value, names(ours), names(modules)}
}

func (r *policyReader) licence(number int, key, value string) {
	r.unique(number, key, r.licences[key].number)
	r.licences[key] = licence{number, value}
}

// unique complains when a name already has a line; 0 is no line.
func (r *policyReader) unique(number int, key string, earlier ...int) {
	if first := slices.Max(earlier); first > 0 {
		r.problem(number, "%s already has line %d: keep one", key, first)
	}
}

// names splits a half of a line; "-" is nothing.
func names(half string) []string {
	return slices.DeleteFunc(strings.Fields(half), func(s string) bool { return s == "-" })
}

// checkNames finds grants to packages that no line describes.
func (r *policyReader) checkNames() {
	for _, section := range []map[string]grant{r.packages, r.ready, r.tests} {
		for key, g := range section {
			for _, name := range g.ours {
				if !r.known(name) {
					r.problem(g.number, "%s may import %s, which has no line of its own: correct the name", key, name)
				}
			}
		}
	}
}

// known reports whether a package has a line, holding or ready.
func (p policy) known(name string) bool {
	_, live := p.packages[name]
	_, ready := p.ready[name]
	return live || ready || name == "*"
}

// grants gives the lines that hold for a file of a package.
func (p policy) grants(s source) []grant {
	held := []grant{p.packages[s.name()]}
	if s.test() {
		held = append(held, p.tests["*"], p.tests[s.name()])
	}
	return held
}
