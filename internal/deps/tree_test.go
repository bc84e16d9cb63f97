package deps_test

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// source is one Go file of the module, parsed.
type source struct {
	path string // from the module's root, with slashes
	fset *token.FileSet
	file *ast.File
}

// line is the line of a position in the file.
func (s source) line(pos token.Pos) int { return s.fset.Position(pos).Line }

// test reports whether the file is compiled for tests only.
func (s source) test() bool { return strings.HasSuffix(s.path, "_test.go") }

// dir is the folder of the file, "." for the module's root.
func (s source) dir() string { return path.Dir(s.path) }

// name is the file's package as policy.txt writes it.
func (s source) name() string { return packageName(s.dir()) }

// packageName is a folder of the module as policy.txt writes it.
func packageName(dir string) string { return strings.TrimPrefix(dir, "internal/") }

// readTree parses every Go file of the module at the root of fsys. It reads
// files and not the output of "go list", so that build tags and operating
// systems hide nothing; it skips what the go command skips for every build.
func readTree(fsys fs.FS, mode parser.Mode) ([]source, error) {
	var files []source
	fset := token.NewFileSet()
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && outside(fsys, name):
			return fs.SkipDir
		case d.IsDir() || !isGo(path.Base(name)):
			return nil
		}
		s, err := readSource(fsys, fset, name, mode)
		files = append(files, s)
		return err
	})
	return files, err
}

// isGo reports whether the go command would ever compile a file of that name.
func isGo(base string) bool {
	return strings.HasSuffix(base, ".go") && base[0] != '.' && base[0] != '_'
}

// outside reports whether a folder is no part of the module.
func outside(fsys fs.FS, dir string) bool {
	base := path.Base(dir)
	if dir == "." {
		return false
	}
	if base[0] == '.' || base[0] == '_' || slices.Contains([]string{"testdata", "vendor", "node_modules"}, base) {
		return true
	}
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil
}

func readSource(fsys fs.FS, fset *token.FileSet, name string, mode parser.Mode) (source, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return source{}, err
	}
	file, err := parser.ParseFile(fset, name, text, mode|parser.SkipObjectResolution)
	return source{path: name, fset: fset, file: file}, err
}

// module is what go.mod says.
type module struct {
	path     string
	requires map[string]bool // module path to "marked as indirect"
}

// parseModule reads the module and require directives of a go.mod file.
func parseModule(text []byte) module {
	m := module{requires: map[string]bool{}}
	block := ""
	for scan := bufio.NewScanner(bytes.NewReader(text)); scan.Scan(); {
		line, comment, _ := strings.Cut(scan.Text(), "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case words[0] == ")":
			block = ""
			continue
		case len(words) == 2 && words[1] == "(":
			block = words[0]
			continue
		case block != "":
			words = append([]string{block}, words...)
		}
		m.directive(words, strings.TrimSpace(comment) == "indirect")
	}
	return m
}

func (m *module) directive(words []string, indirect bool) {
	switch {
	case words[0] == "module" && len(words) == 2:
		m.path = words[1]
	case words[0] == "require" && len(words) == 3:
		m.requires[words[1]] = indirect
	}
}

// ours gives the policy's name of an imported package of this module.
func (m module) ours(imported string) (string, bool) {
	if imported == m.path {
		return ".", true
	}
	rest, ok := strings.CutPrefix(imported, m.path+"/")
	return packageName(rest), ok
}

// provider is the required module that an import path belongs to.
func (m module) provider(imported string) (string, bool) {
	for p := imported; p != "."; p = path.Dir(p) {
		if _, ok := m.requires[p]; ok {
			return p, true
		}
	}
	return "", false
}

// standard reports whether an import path is in the standard library: its
// first element has no dot.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// root is the module's root as a file system.
func root(t *testing.T) fs.FS {
	t.Helper()
	fsys := os.DirFS("../..")
	if _, err := fs.Stat(fsys, "internal/deps/doc.go"); err != nil {
		t.Fatalf("find the module's root from internal/deps: %v", err)
	}
	return fsys
}

// tree parses the module that holds this test.
func tree(t *testing.T, mode parser.Mode) []source {
	t.Helper()
	files, err := readTree(root(t), mode)
	if err != nil {
		t.Fatalf("read the module's Go files: %v", err)
	}
	return files
}

// sources parses texts by path, for tests of the rules themselves.
func sources(t *testing.T, texts map[string]string) []source {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range texts {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	files, err := readTree(fsys, parser.ParseComments)
	if err != nil {
		t.Fatalf("parse the case: %v", err)
	}
	return files
}

func TestReadTree(t *testing.T) {
	const text = "package p\n"
	files := sources(t, map[string]string{
		"go.mod":                    "module prony\n",
		"internal/a/a.go":           text,
		"internal/a/a_windows.go":   text,
		"internal/a/a_test.go":      text,
		"internal/a/tagged.go":      "//go:build never\n\npackage p\n",
		"internal/a/.hidden.go":     text,
		"internal/a/_off.go":        text,
		"internal/a/a.txt":          text,
		"internal/a/testdata/no.go": text,
		"_off/no.go":                text,
		".git/no.go":                text,
		"web/node_modules/x/no.go":  text,
		"tools/go.mod":              "module prony/tools\n",
		"tools/no.go":               text,
		"tools/deep/no.go":          text,
	})
	var got []string
	for _, s := range files {
		got = append(got, s.path)
	}
	want := []string{"internal/a/a.go", "internal/a/a_test.go", "internal/a/a_windows.go", "internal/a/tagged.go"}
	if !slices.Equal(got, want) {
		t.Errorf("files\n got %q\nwant %q", got, want)
	}
}

func TestReadTreeStopsAtBadFile(t *testing.T) {
	_, err := readTree(fstest.MapFS{"a.go": {Data: []byte("package\n")}}, parser.ImportsOnly)
	if err == nil || !strings.Contains(err.Error(), "a.go:") {
		t.Errorf("got error %v, want one with the file's name", err)
	}
}

func TestParseModule(t *testing.T) {
	m := parseModule([]byte(`// A comment.
module prony // ours

go 1.26.0

require example.org/one v1.0.0
require (
	example.org/two/v2 v2.1.0 // indirect
	// example.org/no v0.0.0
	example.org/three v0.3.0
)

tool example.org/one/cmd
`))
	if m.path != "prony" {
		t.Errorf("module path: got %q, want prony", m.path)
	}
	want := map[string]bool{"example.org/one": false, "example.org/two/v2": true, "example.org/three": false}
	if len(m.requires) != len(want) {
		t.Errorf("requires: got %v, want %v", m.requires, want)
	}
	for name, indirect := range want {
		if got, ok := m.requires[name]; !ok || got != indirect {
			t.Errorf("require %s: got indirect %t, present %t; want indirect %t", name, got, ok, indirect)
		}
	}
	providers := map[string]string{
		"example.org/two/v2/deep/er": "example.org/two/v2", "example.org/one": "example.org/one", "example.org/onely": "",
	}
	for imported, want := range providers {
		if got, _ := m.provider(imported); got != want {
			t.Errorf("provider of %s: got %q, want %q", imported, got, want)
		}
	}
}
