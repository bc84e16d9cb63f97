package deps_test

import (
	"strings"
	"testing"
)

// ruleCase is a small module and the places a rule must name in it.
type ruleCase struct {
	name  string
	rule  string
	files map[string]string
	want  []string // "path:line" of each violation, in order; none for a module that keeps the rule
}

// in makes a module of one file.
func in(path, text string) map[string]string { return map[string]string{path: text} }

// long is a function of so many lines, signature and brace included.
func long(lines int) string { return "func f() {\n" + strings.Repeat("\t_ = 0\n", lines-2) + "}\n" }

// ruleCases lists at least one case for each rule that breaks it, and one that
// keeps it. The package clause is line 1 unless a comment stands above it.
//
//house:long a flat table of cases
func ruleCases() []ruleCase {
	const (
		file     = "internal/p/p.go"
		testFile = "internal/p/p_test.go"
		clause   = "package p\n"
	)
	return []ruleCase{
		{"a long function", "function length", in(file, clause+long(71)), []string{file + ":2"}},
		{"a function at the limit", "function length", in(file, clause+long(70)), nil},
		{"a long test", "function length", in(testFile, clause+long(101)), []string{testFile + ":2"}},
		{"a test at the limit", "function length", in(testFile, clause+long(100)), nil},
		{"a long table outside functions", "function length", in(file, clause+"var g = []int{\n"+strings.Repeat("\t0,\n", 99)+"}\n"), nil},
		{"a long function value", "function length", in(file, clause+"var g = "+strings.Replace(long(71), " f", "", 1)), []string{file + ":2"}},
		{"a long table", "function length", in(file, clause+"//house:long a flat table\n"+long(71)), nil},
		{"a long table below its comment", "function length", in(file, clause+"// f does.\n//\n//house:long a flat table\n"+long(71)), nil},
		{"an excuse without a reason", "function length", in(file, clause+"//house:long\n"+long(71)), []string{file + ":3"}},
		{"an excuse too far away", "function length", in(file, clause+"//house:long a table\n\n"+long(71)), []string{file + ":4"}},

		{"a long file", "file length", in(file, clause+strings.Repeat("// x\n", 500)), []string{file + ":501"}},
		{"a file at the limit", "file length", in(file, clause+strings.Repeat("// x\n", 499)), nil},
		{"a long test file", "file length", in(testFile, clause+strings.Repeat("// x\n", 600)), nil},

		{"an init", "no init", in(file, clause+"func init() {}\n"), []string{file + ":2"}},
		{"an init of tests", "no init", in(testFile, clause+"func init() {}\n"), []string{testFile + ":2"}},
		{"a method called init", "no init", in(file, clause+"type t int\nfunc (t) init() {}\n"), nil},

		{"a Println", "no printing", in(file, clause+"import \"fmt\"\nfunc f() { fmt.Println() }\n"), []string{file + ":3"}},
		{"a Printf by another name", "no printing", in(file, clause+"import say \"fmt\"\nfunc f() { say.Printf(\"\") }\n"), []string{file + ":3"}},
		{"a built-in println", "no printing", in(file, clause+"func f() { println() }\n"), []string{file + ":2"}},
		{"a Print in a test", "no printing", in(testFile, clause+"import \"fmt\"\nfunc f() { fmt.Print() }\n"), []string{testFile + ":3"}},
		{"a Print in an example", "no printing", in(testFile, clause+"import \"fmt\"\nfunc ExampleF() { fmt.Print() }\n"), nil},
		{"a Print that is no example", "no printing", in(file, clause+"import \"fmt\"\nfunc ExampleF() { fmt.Print() }\n"), []string{file + ":3"}},
		{"a Print in cmd", "no printing", in("cmd/p/p.go", clause+"import \"fmt\"\nfunc f() { fmt.Print() }\n"), nil},
		{"an Fprint", "no printing", in(file, clause+"import \"fmt\"\nfunc f() { fmt.Fprint(nil); fmt.Sprint() }\n"), nil},

		{"a log", "no log", in(file, clause+"import \"log\"\n"), []string{file + ":2"}},
		{"a slog", "no log", in(file, clause+"import \"log/slog\"\n"), nil},

		{"an AddInt64", "typed atomics", in(file, clause+"import \"sync/atomic\"\nfunc f(n *int64) { atomic.AddInt64(n, 1) }\n"), []string{file + ":3"}},
		{"a load passed on", "typed atomics", in(testFile, clause+"import \"sync/atomic\"\nvar f = atomic.LoadUint32\n"), []string{testFile + ":3"}},
		{"a typed atomic", "typed atomics", in(file, clause+"import \"sync/atomic\"\nvar n atomic.Int64\nfunc f() { n.Add(1) }\n"), nil},

		{"a drawer", "package name", in("internal/util/u.go", "package util\n"), []string{"internal/util/u.go:1"}},
		{"a drawer's test", "package name", in("internal/x/u_test.go", "package helpers_test\n"), []string{"internal/x/u_test.go:1"}},
		{"a drawer of packages", "package name", in("internal/common/x/x.go", "package x\n"), []string{"internal/common/x/x.go:1"}},
		{"a drawer of two files", "package name", map[string]string{"internal/types/a.go": "package types\n", "internal/types/b.go": "package types\n"},
			[]string{"internal/types/a.go:1"}},
		{"a noun", "package name", in("internal/schedule/s.go", "package schedule\n"), nil},

		{"no package comment", "package comment", in(file, clause), []string{file + ":1"}},
		{"a comment about something else", "package comment", in(file, "// This package.\n"+clause), []string{file + ":2"}},
		{"a comment only on the tests", "package comment", map[string]string{file: clause, testFile: "// Package p is.\n" + clause}, []string{file + ":1"}},
		{"a comment in another file", "package comment", map[string]string{file: clause, "internal/p/doc.go": "// Package p is.\n" + clause}, nil},
		{"a command", "package comment", in("cmd/p/main.go", "// Prony measures.\npackage main\n"), nil},
		{"a command without", "package comment", in("cmd/p/main.go", "package main\n"), []string{"cmd/p/main.go:1"}},

		{"bare exported names", "exported comments", in(file, clause+"func F() {}\ntype T int\nfunc (T) M() {}\nvar V, W int\nconst C = 1\n"),
			[]string{file + ":2", file + ":3", file + ":4", file + ":5", file + ":5", file + ":6"}},
		{"a bare method of a parametrised type", "exported comments", in(file, clause+"// T is.\ntype T[K any] struct{}\nfunc (*T[K]) M() {}\n"), []string{file + ":4"}},
		{"a directive is no comment", "exported comments", in(file, clause+"//go:noinline\nfunc F() {}\n"), []string{file + ":3"}},
		{"commented names", "exported comments", in(file, clause+"// F does.\nfunc F() {}\n// Kinds.\nconst (\n\tA = 1\n\tB = 2\n)\nvar (\n\tV int // in bytes\n)\n"), nil},
		{"values of a commented type", "exported comments", in(file, clause+"// K is.\ntype K int\nconst (\n\tA K = iota\n\tB\n)\n"), nil},
		{"values of a bare type", "exported comments", in(file, clause+"type k int\nconst (\n\tA k = iota\n\tB\n)\n"), []string{file + ":4", file + ":5"}},
		{"names nobody sees", "exported comments", in(file, clause+"func f() {}\ntype t int\nfunc (t) M() {}\n"), nil},
		{"exported names of tests", "exported comments", in(testFile, clause+"func TestF() {}\n"), nil},
		{"one in twenty", "exported comments", in(file, clause+"func F() {}\n"+strings.Repeat("// G does.\nfunc G() {}\n", 19)), nil},
		{"one in nineteen", "exported comments", in(file, clause+"func F() {}\n"+strings.Repeat("// G does.\nfunc G() {}\n", 18)), []string{file + ":2"}},

		{"a sleep in a test", "no sleep", in(testFile, clause+"import \"time\"\nfunc f() { time.Sleep(1) }\n"), []string{testFile + ":3"}},
		{"an excused sleep", "no sleep", in(testFile, clause+"import \"time\"\nfunc f() {\n\ttime.Sleep(1) //house:sleep the pause is measured\n}\n"), nil},
		{"a sleep excused above", "no sleep", in(testFile, clause+"import \"time\"\nfunc f() {\n\t//house:sleep the pause is measured\n\ttime.Sleep(1)\n}\n"), nil},
		{"a sleep without a reason", "no sleep", in(testFile, clause+"import \"time\"\nfunc f() {\n\t//house:sleep\n\ttime.Sleep(1)\n}\n"), []string{testFile + ":5"}},
		{"a sleep in production", "no sleep", in(file, clause+"import \"time\"\nfunc f() { time.Sleep(1) }\n"), nil},

		{"a TODO", "no context.TODO", in(file, clause+"import \"context\"\nvar c = context.TODO()\n"), []string{file + ":3"}},
		{"a Background", "no context.TODO", in(file, clause+"import \"context\"\nvar c = context.Background()\n"), nil},

		{"an error that failed", "error text", in(file, clause+"import \"errors\"\nvar e = errors.New(\"failed to run\")\n"), []string{file + ":3"}},
		{"an error that Failed", "error text", in(file, clause+"import \"fmt\"\nvar e = fmt.Errorf(`Failed to run: %w`, nil)\n"), []string{file + ":3"}},
		{"an error that failed further on", "error text", in(file, clause+"import \"fmt\"\nvar e = fmt.Errorf(\"run %s: failed to \"+\"start\", \"x\")\n"), []string{file + ":3"}},
		{"an error with a capital", "error text", in(file, clause+"import \"errors\"\nvar e = errors.New(\"Run \" + \"it\")\n"), []string{file + ":3"}},
		{"an error with a name", "error text", in(file, clause+"import \"errors\"\nvar e, f = errors.New(\"HTTP/1.1 ends\"), errors.New(\"Content-Length twice\")\n"), nil},
		{"a good error", "error text", in(file, clause+"import \"fmt\"\nvar e = fmt.Errorf(\"start target %q: %w\", \"a\", nil)\n"), nil},
		{"an error of a test", "error text", in(testFile, clause+"import \"errors\"\nvar e = errors.New(\"Boom\")\n"), nil},
	}
}

func TestRules(t *testing.T) {
	checks := map[string]func([]source) []violation{}
	for _, r := range rules() {
		checks[r.name] = r.check
	}
	for _, c := range ruleCases() {
		t.Run(c.rule+"/"+c.name, func(t *testing.T) {
			check, ok := checks[c.rule]
			if !ok {
				t.Fatalf("there is no rule %q", c.rule)
			}
			compare(t, check(sources(t, c.files)), c.want)
		})
	}
}

// compare holds violations against their places; each must offer a remedy.
func compare(t *testing.T, got []violation, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d violations %v, want %d at %v", len(got), got, len(want), want)
	}
	for i, v := range got {
		if place, _, _ := strings.Cut(v.String(), ": "); place != want[i] {
			t.Errorf("violation %d: got %q, want it at %s", i, v, want[i])
		}
		if len(v.remedy) < 20 {
			t.Errorf("violation %d: got remedy %q, want a sentence", i, v.remedy)
		}
	}
}

// TestEveryRuleBites guards the table: a rule without a case that breaks it
// may have stopped working unnoticed.
func TestEveryRuleBites(t *testing.T) {
	bites, passes := map[string]bool{}, map[string]bool{}
	for _, c := range ruleCases() {
		bites[c.rule] = bites[c.rule] || len(c.want) > 0
		passes[c.rule] = passes[c.rule] || len(c.want) == 0
	}
	for _, r := range rules() {
		if !bites[r.name] || !passes[r.name] {
			t.Errorf("rule %q: got cases that break it %t, that keep it %t; want both", r.name, bites[r.name], passes[r.name])
		}
	}
}
