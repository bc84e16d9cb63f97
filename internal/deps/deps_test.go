package deps_test

import (
	"fmt"
	"go/parser"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// advice ends every complaint that a change of the policy would silence.
const advice = "do not loosen the policy to fix a build"

// checker holds the policy against a module.
type checker struct {
	policy
	module
	files    []source
	problems []string
}

// checkPolicy lists, sorted, where policy, go.mod and source disagree.
func checkPolicy(p policy, m module, files []source) []string {
	c := checker{policy: p, module: m, files: files}
	c.checkListed()
	c.checkEdges()
	c.checkDead()
	c.checkModules()
	slices.Sort(c.problems)
	return slices.Compact(c.problems)
}

func (c *checker) problem(where, format string, args ...any) {
	c.problems = append(c.problems, where+": "+fmt.Sprintf(format, args...))
}

// policyLine is the position of a line of the policy.
func policyLine(number int) string { return fmt.Sprintf("%s:%d", policyPath, number) }

// checkListed demands a line for each package of the module.
func (c *checker) checkListed() {
	seen := map[string]bool{}
	for _, s := range c.files {
		name := s.name()
		_, listed := c.packages[name]
		if listed || seen[name] {
			continue
		}
		seen[name] = true
		if g, ok := c.ready[name]; ok {
			c.problem(s.path, `package %s has arrived: remove the "#+ " from line %d of %s`, name, g.number, policyPath)
			continue
		}
		c.problem(s.path, "package %s is not in %s: if the design has it, add under [packages], below a sentence saying what it is for, the line %q; %s",
			name, policyPath, c.lineFor(name), advice)
	}
}

// lineFor writes the line that a package would need for what it imports now.
func (c *checker) lineFor(name string) string {
	ours, modules := map[string]bool{}, map[string]bool{}
	for _, s := range c.files {
		if s.name() != name || s.test() {
			continue
		}
		for _, imported := range s.imports() {
			if own, ok := c.ours(imported.path); ok {
				ours[own] = true
			} else if provider, ok := c.provider(imported.path); ok {
				modules[provider] = true
			}
		}
	}
	return name + ": " + half(ours) + " | " + half(modules)
}

// half writes one half of a line.
func half(names map[string]bool) string {
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), " ")
}

// edge is one import declaration.
type edge struct {
	path string
	line int
}

func (s source) imports() []edge {
	var edges []edge
	for _, spec := range s.file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			imported = spec.Path.Value // the parser refuses such a file first
		}
		edges = append(edges, edge{imported, s.line(spec.Pos())})
	}
	return edges
}

// checkEdges holds each import of each listed package against its line.
func (c *checker) checkEdges() {
	for _, s := range c.files {
		if _, listed := c.packages[s.name()]; !listed {
			continue
		}
		for _, e := range s.imports() {
			c.checkEdge(s, e)
		}
	}
}

func (c *checker) checkEdge(s source, e edge) {
	where := fmt.Sprintf("%s:%d", s.path, e.line)
	name, isOurs := c.ours(e.path)
	switch {
	case isOurs:
		c.checkOurs(s, where, name)
	case e.path == "C":
		c.problem(where, "cgo is refused, Prony is one static binary: use system calls, or leave it out")
	case !standard(e.path):
		c.checkForeign(s, where, e.path)
	}
}

func (c *checker) checkOurs(s source, where, name string) {
	if s.test() && name == s.name() {
		return // a black-box test imports its own package
	}
	if slices.ContainsFunc(c.grants(s), func(g grant) bool { return g.allows(name) }) {
		return
	}
	c.problem(where, "%s may not import %s%s", s.name(), name, c.remedy(s, name, ""))
}

func (c *checker) checkForeign(s source, where, imported string) {
	provider, ok := c.provider(imported)
	if !ok {
		c.problem(where, "no module in go.mod provides %s: a new module is a design decision, with its licence in the [modules] section; %s", imported, advice)
		return
	}
	if slices.ContainsFunc(c.grants(s), func(g grant) bool { return slices.Contains(g.modules, provider) }) {
		return
	}
	c.problem(where, "%s may not import module %s%s", s.name(), provider, c.remedy(s, "", provider))
}

// remedy says which line would have to grow, and that growing it is a decision.
func (c *checker) remedy(s source, ours, foreign string) string {
	addition := ours + foreign
	g := c.packages[s.name()]
	section := "[packages]"
	if s.test() {
		g, section = c.tests[s.name()], "[tests]"
	}
	if g.number == 0 {
		line := s.name() + ": " + half(oneName(ours)) + " | " + half(oneName(foreign))
		return fmt.Sprintf("; if the design allows it, add under %s of %s the line %q; %s", section, policyPath, line, advice)
	}
	return fmt.Sprintf("; if the design allows it, add %q to line %d of %s (%q); %s", addition, g.number, policyPath, g.text, advice)
}

// oneName is a set of one name, or of none.
func oneName(name string) map[string]bool {
	if name == "" {
		return nil
	}
	return map[string]bool{name: true}
}

// checkDead finds lines about packages and modules that do not exist.
func (c *checker) checkDead() {
	exists := map[string]bool{"*": true}
	for _, s := range c.files {
		exists[s.name()] = true
	}
	for _, section := range []map[string]grant{c.packages, c.tests} {
		for name, g := range section {
			if !exists[name] {
				c.problem(policyLine(g.number), `package %s does not exist: remove the line, or mark it "#+ " until it comes`, name)
			}
			c.checkGrantedModules(g)
		}
	}
	for name, l := range c.licences {
		if _, ok := c.requires[name]; !ok {
			c.problem(policyLine(l.number), "module %s is not in go.mod: remove the line", name)
		}
	}
}

// checkGrantedModules finds modules that a line lets in and go.mod lacks.
func (c *checker) checkGrantedModules(g grant) {
	for _, name := range g.modules {
		if _, ok := c.requires[name]; !ok {
			c.problem(policyLine(g.number), "module %s is not in go.mod: correct or remove the name", name)
		}
	}
}

// checkModules demands a known and permissive licence for each module that is
// required directly.
func (c *checker) checkModules() {
	for _, name := range c.direct() {
		if _, ok := c.licences[name]; !ok {
			c.problem("go.mod", `module %s has no licence in %s: read its licence file and add, under [modules], the line "%s: SPDX-NAME"`, name, policyPath, name)
		}
	}
	for name, l := range c.licences {
		if reason := refusal(l.spdx); reason != "" {
			c.problem(policyLine(l.number), "module %s: %s", name, reason)
		}
	}
}

// direct lists the modules required directly: those go.mod does not mark as
// indirect, and those our files import whatever go.mod says.
func (c *checker) direct() []string {
	found := map[string]bool{}
	for name, indirect := range c.requires {
		if !indirect {
			found[name] = true
		}
	}
	for _, s := range c.files {
		for _, e := range s.imports() {
			if name, ok := c.provider(e.path); ok {
				found[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// refusal says why a licence cannot come in; "" means that it can. All parts
// of an "AND" must be permissive.
func refusal(spdx string) string {
	permissive := []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}
	for _, part := range strings.Split(spdx, " AND ") {
		switch part = strings.TrimSpace(part); {
		case strings.Contains(strings.ToUpper(part), "GPL"):
			return fmt.Sprintf("licence %s is refused, the GPL family does not go with an Apache-2.0 binary: find another module, or write the part we need", part)
		case !slices.Contains(permissive, part):
			return fmt.Sprintf("licence %s is not one of %s: a design note has to come first", part, strings.Join(permissive, ", "))
		}
	}
	return ""
}

func TestPolicy(t *testing.T) {
	text, err := fs.ReadFile(root(t), policyPath)
	if err != nil {
		t.Fatal(err)
	}
	goMod, err := fs.ReadFile(root(t), "go.mod")
	if err != nil {
		t.Fatal(err)
	}
	p, problems := parsePolicy(string(text))
	problems = append(problems, checkPolicy(p, parseModule(goMod), tree(t, parser.ImportsOnly))...)
	for _, problem := range problems {
		t.Error(problem)
	}
}
