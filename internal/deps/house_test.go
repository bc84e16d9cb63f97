package deps_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// Limits of the house. A function counts from its signature to its closing
// brace, a file from its first line to its last.
const (
	funcLinesMax     = 70
	testFuncLinesMax = 100
	fileLinesMax     = 500
	documentedMin    = 0.95 // share of exported identifiers with a doc comment
)

// violation is a place where a rule is broken, and what to do about it.
type violation struct {
	path   string
	line   int
	remedy string
}

func (v violation) String() string { return fmt.Sprintf("%s:%d: %s", v.path, v.line, v.remedy) }

// rule is one habit of the house that a machine can check.
type rule struct {
	name  string
	check func(files []source) []violation
}

// rules lists them all.
func rules() []rule {
	return []rule{
		{"function length", eachFile(functionLength)},
		{"file length", eachFile(fileLength)},
		{"no init", eachFile(noInit)},
		{"no printing", eachFile(noPrinting)},
		{"no log", eachFile(noLog)},
		{"typed atomics", eachFile(typedAtomics)},
		{"package name", packageNames},
		{"package comment", packageComments},
		{"exported comments", exportedComments},
		{"no sleep", eachFile(noSleep)},
		{"no context.TODO", eachFile(noTODO)},
		{"error text", eachFile(errorText)},
	}
}

func TestHouse(t *testing.T) {
	files := slices.DeleteFunc(tree(t, parser.ParseComments), func(s source) bool { return ast.IsGenerated(s.file) })
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			for _, v := range r.check(files) {
				t.Error(v)
			}
		})
	}
}

// eachFile makes a rule of a check that needs one file at a time.
func eachFile(check func(source) []violation) func([]source) []violation {
	return func(files []source) []violation {
		var found []violation
		for _, s := range files {
			found = append(found, check(s)...)
		}
		return found
	}
}

func (s source) violation(pos token.Pos, format string, args ...any) violation {
	return violation{s.path, s.line(pos), fmt.Sprintf(format, args...)}
}

// excused reports whether the line, or the one above, carries //house:name
// with a reason behind it.
func (s source) excused(name string, line int) bool {
	for _, group := range s.file.Comments {
		for _, c := range group.List {
			reason, ok := strings.CutPrefix(c.Text, "//house:"+name+" ")
			if at := s.line(c.Pos()); ok && strings.TrimSpace(reason) != "" && (at == line || at == line-1) {
				return true
			}
		}
	}
	return false
}

// functionLength measures declared functions, and literals outside them.
func functionLength(s source) []violation {
	var found []violation
	limit := funcLinesMax
	if s.test() {
		limit = testFuncLinesMax
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
		default:
			return true
		}
		first := s.line(n.Pos())
		if lines := s.line(n.End()) - first + 1; lines > limit && !s.excused("long", first) {
			found = append(found, s.violation(n.Pos(),
				"function of %d lines, at most %d: cut it; a flat table may say why directly above it: //house:long reason", lines, limit))
		}
		return false // what is inside was counted with it
	})
	return found
}

func fileLength(s source) []violation {
	if lines := s.line(s.file.FileEnd); !s.test() && lines > fileLinesMax {
		return []violation{s.violation(s.file.FileEnd, "file of %d lines, at most %d: cut it where its subject changes", lines, fileLinesMax)}
	}
	return nil
}

func noInit(s source) []violation {
	var found []violation
	for _, decl := range s.file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			found = append(found, s.violation(f.Pos(), "init function: do it where it is needed, or list it in one slice in cmd"))
		}
	}
	return found
}

// uses calls visit for each selector on an imported package: fmt.Println.
func (s source) uses(imported string, visit func(*ast.SelectorExpr)) {
	local := s.localName(imported)
	if local == "" {
		return
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == local {
				visit(sel)
			}
		}
		return true
	})
}

// localName is what a file calls an imported package; "" if it does not import it.
func (s source) localName(imported string) string {
	for _, spec := range s.file.Imports {
		switch {
		case spec.Path.Value != strconv.Quote(imported):
		case spec.Name != nil:
			return spec.Name.Name
		default:
			return path.Base(imported)
		}
	}
	return ""
}

// forbid finds uses of an imported package's names that match a pattern.
func (s source) forbid(imported, pattern, remedy string) []violation {
	var found []violation
	match := regexp.MustCompile("^(" + pattern + ")$")
	s.uses(imported, func(sel *ast.SelectorExpr) {
		if match.MatchString(sel.Sel.Name) {
			found = append(found, s.violation(sel.Pos(), "%s.%s: %s", path.Base(imported), sel.Sel.Name, remedy))
		}
	})
	return found
}

// noPrinting keeps standard output for cmd. Examples print by their nature.
func noPrinting(s source) []violation {
	const remedy = "write to an io.Writer that the caller passes; only cmd/ knows standard output"
	if strings.HasPrefix(s.path, "cmd/") {
		return nil
	}
	found := s.forbid("fmt", "Print|Printf|Println", remedy)
	ast.Inspect(s.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if f, ok := call.Fun.(*ast.Ident); ok && (f.Name == "println" || f.Name == "print") {
			found = append(found, s.violation(f.Pos(), "%s: %s", f.Name, remedy))
		}
		return true
	})
	return slices.DeleteFunc(found, func(v violation) bool { return s.test() && s.inExample(v.line) })
}

// inExample reports whether a line is in a testable example.
func (s source) inExample(line int) bool {
	return slices.ContainsFunc(s.file.Decls, func(decl ast.Decl) bool {
		f, ok := decl.(*ast.FuncDecl)
		return ok && strings.HasPrefix(f.Name.Name, "Example") && s.line(f.Pos()) <= line && line <= s.line(f.End())
	})
}

func noLog(s source) []violation {
	for _, spec := range s.file.Imports {
		if spec.Path.Value == `"log"` {
			return []violation{s.violation(spec.Pos(), "package log writes to a global: return an error, or take a *slog.Logger")}
		}
	}
	return nil
}

func typedAtomics(s source) []violation {
	return s.forbid("sync/atomic",
		"(Add|And|CompareAndSwap|Load|Or|Store|Swap)(Int32|Int64|Uint32|Uint64|Uintptr|Pointer)",
		"use a typed atomic (atomic.Int64), which cannot be read without one")
}

// packageNames refuses names that say nothing, in clauses and in folders.
func packageNames(files []source) []violation {
	drawers := strings.Fields("base common core helper helpers lib manager misc mock models shared types util utils")
	var found []violation
	seen := map[string]bool{}
	for _, s := range files {
		clause := strings.TrimSuffix(s.file.Name.Name, "_test")
		for _, name := range append(strings.Split(s.dir(), "/"), clause) {
			if key := s.dir() + " " + name; slices.Contains(drawers, name) && !seen[key] {
				seen[key] = true
				found = append(found, s.violation(s.file.Name.Pos(), "a package called %s is a drawer: name it after the one noun it is about", name))
			}
		}
	}
	return found
}

// packageComments demands one package comment a package.
func packageComments(files []source) []violation {
	first := map[string]source{}
	documented := map[string]bool{}
	var order []string
	for _, s := range files {
		if s.test() {
			continue
		}
		if _, ok := first[s.dir()]; !ok {
			first[s.dir()] = s
			order = append(order, s.dir())
		}
		documented[s.dir()] = documented[s.dir()] || introduces(s.file)
	}
	var found []violation
	for _, dir := range order {
		if s := first[dir]; !documented[dir] {
			found = append(found, s.violation(s.file.Name.Pos(),
				"package %s has no package comment: write one (\"Package %[1]s ...\") that says what it is for, what it decides and what it refuses", s.file.Name.Name))
		}
	}
	return found
}

// introduces reports whether a file holds its package's comment in the form
// that go doc shows well; commands may begin as they like.
func introduces(file *ast.File) bool {
	text := file.Doc.Text()
	return strings.HasPrefix(text, "Package "+file.Name.Name+" ") || text != "" && file.Name.Name == "main"
}

// exportedComments lists undocumented exported identifiers, once too many of
// them are.
func exportedComments(files []source) []violation {
	var missing []violation
	total := 0
	for _, s := range files {
		if s.test() {
			continue
		}
		for _, e := range exported(s.file) {
			total++
			if !e.documented {
				missing = append(missing, s.violation(e.name.Pos(), "%s is exported without a comment: say what it is, its unit and its errors", e.name.Name))
			}
		}
	}
	if float64(total-len(missing)) >= documentedMin*float64(total) {
		return nil
	}
	return missing
}

// identifier is an exported name of a file.
type identifier struct {
	name       *ast.Ident
	documented bool
}

// exported lists the exported functions, methods of exported types, types,
// constants and variables of a file.
func exported(file *ast.File) []identifier {
	var all []identifier
	types := documentedTypes(file)
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) {
				all = append(all, identifier{d.Name, d.Doc.Text() != ""})
			}
		case *ast.GenDecl:
			group := d.Doc.Text() != "" || d.Tok == token.CONST && types[groupType(d)]
			for _, spec := range d.Specs {
				all = append(all, exportedOf(spec, group)...)
			}
		}
	}
	return all
}

// documentedTypes are the types of a file that have a comment.
func documentedTypes(file *ast.File) map[string]bool {
	types := map[string]bool{}
	for _, decl := range file.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.TYPE {
			for _, spec := range d.Specs {
				t := spec.(*ast.TypeSpec)
				types[t.Name.Name] = d.Doc.Text() != "" || t.Doc.Text() != ""
			}
		}
	}
	return types
}

// groupType is the type that a group of constants begins with. The comment of
// such a type introduces its values, as go doc shows them below it.
func groupType(d *ast.GenDecl) string {
	if len(d.Specs) == 0 {
		return ""
	}
	name, _ := d.Specs[0].(*ast.ValueSpec).Type.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}

// exportedOf lists the exported names of one specification; a comment on the
// group counts for all its members.
func exportedOf(spec ast.Spec, group bool) []identifier {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() {
			return []identifier{{spec.Name, group || spec.Doc.Text() != "" || spec.Comment.Text() != ""}}
		}
	case *ast.ValueSpec:
		var all []identifier
		for _, name := range spec.Names {
			if name.IsExported() {
				all = append(all, identifier{name, group || spec.Doc.Text() != "" || spec.Comment.Text() != ""})
			}
		}
		return all
	}
	return nil
}

// receiver is the name of a receiver's type, without pointer and parameters.
func receiver(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.ParenExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	}
	return ""
}

// noSleep keeps hope out of tests: a sleep is either too short or too long.
func noSleep(s source) []violation {
	if !s.test() {
		return nil
	}
	found := s.forbid("time", "Sleep", "wait for the event itself or use testing/synctest; if sleeping is the point, say why on the line or directly above it: //house:sleep reason")
	return slices.DeleteFunc(found, func(v violation) bool { return s.excused("sleep", v.line) })
}

func noTODO(s source) []violation {
	return s.forbid("context", "TODO", "take a context from the caller; in tests use t.Context()")
}

// errorText checks how the errors of production code begin: they are printed
// in the middle of a sentence.
func errorText(s source) []violation {
	if s.test() {
		return nil
	}
	var found []violation
	ast.Inspect(s.file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && s.makesError(call) {
			if remedy := wording(literal(call.Args[0])); remedy != "" {
				found = append(found, s.violation(call.Pos(), "%s", remedy))
			}
		}
		return true
	})
	return found
}

// makesError reports whether a call is errors.New or fmt.Errorf with a text.
func (s source) makesError(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && (x.Name == s.localName("errors") && sel.Sel.Name == "New" || x.Name == s.localName("fmt") && sel.Sel.Name == "Errorf")
}

// literal is the text an expression begins with, "" if it is not a literal.
func literal(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.BinaryExpr:
		return literal(e.X)
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if err != nil {
			return ""
		}
		return text
	}
	return ""
}

// wording says what is wrong with an error's text; "" is nothing. A first word
// with further capitals or digits is a name (HTTP/1.1, Content-Length), not the
// beginning of a sentence.
func wording(text string) string {
	if lower := strings.ToLower(text); strings.HasPrefix(lower, "failed to") || strings.Contains(lower, ": failed to") {
		return `an error is a failure already: drop "failed to", say what was being done to what`
	}
	word, _, _ := strings.Cut(text, " ")
	runes := []rune(word)
	if len(runes) < 2 || !unicode.IsUpper(runes[0]) {
		return ""
	}
	if slices.ContainsFunc(runes[1:], func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return "an error begins in lower case, with what was being done: it is printed in the middle of a sentence"
}
