package report_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prony/internal/report"
	"prony/internal/result"
)

// node is an element of any XML.
type node struct {
	name     string
	attrs    map[string]string
	children []*node
	text     string
}

// parseXML reads a document into nodes.
func parseXML(text string) (*node, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	root := &node{}
	stack := []*node{root}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		top := stack[len(stack)-1]
		switch e := token.(type) {
		case xml.StartElement:
			n := &node{name: e.Name.Local, attrs: map[string]string{}}
			for _, a := range e.Attr {
				n.attrs[a.Name.Local] = a.Value
			}
			top.children, stack = append(top.children, n), append(stack, n)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text += string(e)
		}
	}
	if len(root.children) != 1 {
		return nil, fmt.Errorf("%d root elements", len(root.children))
	}
	return root.children[0], nil
}

// element is a rule of the schema that Ant's reports follow and that CI systems
// read: which attributes there must be, which there may be, and which children
// in which order ("?" none or one, "*" any number, "" exactly one).
type element struct {
	must, may []string
	children  string // separated by blanks
}

func junitSchema() map[string]element {
	return map[string]element{
		"testsuites": {may: []string{"name", "tests", "failures", "errors", "time"}, children: "testsuite*"},
		"testsuite": {must: []string{"name", "package", "id", "timestamp", "hostname", "tests", "failures", "errors", "time"}, may: []string{"skipped"},
			children: "properties testcase* system-out system-err"},
		"properties": {children: "property*"},
		"property":   {must: []string{"name", "value"}},
		"testcase":   {must: []string{"name", "classname", "time"}, children: "skipped? error? failure?"},
		"skipped":    {may: []string{"message"}},
		"error":      {must: []string{"type"}, may: []string{"message"}},
		"failure":    {must: []string{"type"}, may: []string{"message"}},
		"system-out": {}, "system-err": {},
	}
}

var (
	isTime    = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`)
	isSeconds = regexp.MustCompile(`^\d+(\.\d+)?$`)
)

// check holds an element and all below it against the schema.
func (n *node) check() (problems []string) {
	rule, known := junitSchema()[n.name]
	if !known {
		return []string{"unknown element " + n.name}
	}
	for _, name := range rule.must {
		if _, ok := n.attrs[name]; !ok {
			problems = append(problems, n.name+" lacks "+name)
		}
	}
	for name, value := range n.attrs {
		bad := !slices.Contains(append(slices.Clone(rule.must), rule.may...), name)
		switch name {
		case "timestamp":
			bad = bad || !isTime.MatchString(value)
		case "time":
			bad = bad || !isSeconds.MatchString(value)
		case "tests", "failures", "errors", "skipped", "id":
			_, err := strconv.ParseUint(value, 10, 31)
			bad = bad || err != nil
		}
		if bad {
			problems = append(problems, fmt.Sprintf("%s: attribute %s=%q", n.name, name, value))
		}
	}
	problems = append(problems, n.order(rule.children)...)
	for _, c := range n.children {
		problems = append(problems, c.check()...)
	}
	return problems
}

// order checks which children there are.
func (n *node) order(rule string) (problems []string) {
	rest := n.children
	for _, want := range strings.Fields(rule) {
		name := strings.TrimRight(want, "?*")
		count := 0
		for len(rest) > 0 && rest[0].name == name {
			rest, count = rest[1:], count+1
		}
		if count != 1 && !strings.HasSuffix(want, "*") && !(count == 0 && strings.HasSuffix(want, "?")) {
			problems = append(problems, fmt.Sprintf("%s has %d %s", n.name, count, name))
		}
	}
	if len(rest) > 0 {
		problems = append(problems, fmt.Sprintf("%s: %s stands where it must not", n.name, rest[0].name))
	}
	return problems
}

// sums holds the numbers of a suite against its cases.
func (n *node) sums() (problems []string) {
	got := map[string]int{"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
	names := map[string]string{"failure": "failures", "error": "errors", "skipped": "skipped"}
	for _, c := range n.children {
		if c.name != "testcase" {
			continue
		}
		got["tests"]++
		for _, state := range c.children {
			got[names[state.name]]++
		}
	}
	for name, count := range got {
		if n.attrs[name] != strconv.Itoa(count) {
			problems = append(problems, fmt.Sprintf("suite %s: %s=%q, and there are %d", n.attrs["name"], name, n.attrs[name], count))
		}
	}
	return problems
}

func checkJUnit(t *testing.T, text string) *node {
	t.Helper()
	root, err := parseXML(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	problems := root.check()
	for _, suite := range root.children {
		problems = append(problems, suite.sums()...)
	}
	for _, p := range problems {
		t.Error(p)
	}
	return root
}

// TestJUnitIsValid: the file is what CI systems read, and says what failed.
func TestJUnitIsValid(t *testing.T) {
	e := checkJUnit(t, render(t, forms()["xml"], madeDocuments(t)["experiment"]))
	var suites []string
	states := map[string]string{}
	for _, s := range e.children {
		suites = append(suites, s.attrs["name"])
		for _, c := range s.children {
			if c.name == "testcase" {
				states[c.attrs["classname"]+" "+c.attrs["name"]] = "passed"
				if len(c.children) > 0 {
					states[c.attrs["classname"]+" "+c.attrs["name"]] = c.children[0].name
				}
			}
		}
	}
	if want := []string{"cpus=1", "cpus=0.5", "findings", "goals", "gates"}; !slices.Equal(suites, want) {
		t.Errorf("got suites %q, want %q", suites, want)
	}
	for name, want := range map[string]string{
		"prony.cpus=1 trial 1: valid": "passed", "prony.cpus=1 trial 5: suspect": "passed", "prony.cpus=0_5 trial 14: invalid": "failure",
		"prony.cpus=1 trial 15: no result": "error", "prony.cpus=1 trial 1: p99 < 50ms": "passed", "prony.cpus=1 trial 1: errors < 0.01%": "failure",
		"prony.goals scaling(cpus) > 0.7": "failure", "prony.gates cpus=0.5 rate": "failure", "prony.gates cpus=0.5 p99": "skipped", "prony.gates cpus=0.5 errors": "passed",
	} {
		if got := states[name]; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	checkJUnit(t, render(t, forms()["xml"], madeDocuments(t)["run"]))
	checkJUnit(t, render(t, forms()["xml"], report.Document{Experiment: &result.Experiment{ID: "empty"}}))
}

// TestJUnitValidatorRefuses: the validator of these tests can fail.
func TestJUnitValidatorRefuses(t *testing.T) {
	good := render(t, forms()["xml"], madeDocuments(t)["run"])
	for name, bad := range map[string]string{
		"a missing attribute": strings.Replace(good, ` hostname="made"`, "", 1),
		"a zone in the time":  strings.Replace(good, `timestamp="2026-11-30T12:00:00"`, `timestamp="2026-11-30T12:00:00Z"`, 1),
		"another element":     strings.Replace(good, "<system-err>", "<note></note><system-err>", 1),
		"a wrong order":       strings.Replace(good, "<testcase", "<system-out></system-out><testcase", 1),
		"a wrong sum":         strings.Replace(good, `failures="1" errors="0" skipped`, `failures="2" errors="0" skipped`, 1),
	} {
		root, err := parseXML(bad)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		problems := root.check()
		for _, s := range root.children {
			problems = append(problems, s.sums()...)
		}
		if bad == good || len(problems) == 0 {
			t.Errorf("%s is not noticed", name)
		}
	}
}
