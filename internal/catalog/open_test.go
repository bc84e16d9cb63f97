package catalog_test

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	embedded "prony/catalog"
	"prony/internal/catalog"
)

var update = flag.Bool("update", false, "write the expected outputs anew")

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; -update writes it anew\ngot:\n%s\nwant:\n%s", file, got, want)
	}
}

// ours opens the catalog that comes with the binary.
func ours(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(catalog.Named("catalog", embedded.Files))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// folder makes a file system of texts.
func folder(texts map[string]string) fs.FS {
	files := fstest.MapFS{}
	for name, text := range texts {
		files[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return files
}

// minimal is the least that an entry has to say.
const minimal = "description: d\nkind: app\nrun: {command: x}\nroutes: [{path: /}]\n"

func TestOurEntries(t *testing.T) {
	want := []string{"gateway", "go-http", "haproxy", "hello", "iris", "nginx", "nginx-static", "openresty", "openresty-gateway"}
	c := ours(t)
	var got []string
	for _, e := range c.Entries() {
		got = append(got, e.Name)
	}
	if missing := slices.DeleteFunc(want, func(name string) bool { return slices.Contains(got, name) }); len(missing) > 0 {
		t.Errorf("entries %q are missing", missing)
	}
	for _, e := range c.Entries() {
		t.Run(e.Name, func(t *testing.T) {
			if len(e.Description) > 100 || strings.HasSuffix(e.Description, ".") {
				t.Errorf("description %q: want one line of a list", e.Description)
			}
			var text bytes.Buffer
			if err := e.Describe(&text, func(catalog.Need) (catalog.Found, error) { return catalog.Found{}, errors.New("no") }); err != nil {
				t.Fatal(err)
			}
			golden(t, e.Name+".show", text.String())
		})
	}
}

// TestMistakes reads entries that are wrong. Each file of testdata/wrong is a
// target.yaml; beside it are the messages.
func TestMistakes(t *testing.T) {
	files, err := filepath.Glob("testdata/wrong/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = catalog.Open(folder(map[string]string{
				"e/target.yaml": string(text), "e/there.txt": "x", "e/conf.tmpl": "line\n  ${port} ${nosuch}\n", "e/open.tmpl": "a\nb ${",
				"e/objects.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n---\nkind: Pod\n", "e/odd.yaml": "a: [", "e/empty.yaml": "",
			}))
			var mistakes catalog.Mistakes
			if !errors.As(err, &mistakes) {
				t.Fatalf("got error %v, want mistakes", err)
			}
			for _, m := range mistakes {
				if m.File == "" || m.Line == 0 {
					t.Errorf("%v has no place", m)
				}
			}
			golden(t, "wrong/"+name+".err", err.Error()+"\n")
		})
	}
}

func TestOpenTakesTheLater(t *testing.T) {
	first := folder(map[string]string{"a/target.yaml": minimal, "b/target.yaml": minimal, "README.md": "no entry", "c/other.txt": "no entry"})
	second := folder(map[string]string{"b/target.yaml": strings.Replace(minimal, ": d", ": mine", 1)})
	c, err := catalog.Open(first, catalog.Named("mine", second))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range c.Entries() {
		got = append(got, e.Origin+" "+e.Description)
	}
	if want := []string{"catalog/a d", "mine/b mine"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDir(t *testing.T) {
	dir := t.TempDir()
	lone := filepath.Join(dir, "lone")
	if err := os.Mkdir(lone, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(lone, "target.yaml"), []byte(minimal), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"the entry itself": lone, "a folder of entries": dir} {
		t.Run(name, func(t *testing.T) {
			fsys, err := catalog.Dir(path)
			if err != nil {
				t.Fatal(err)
			}
			c, err := catalog.Open(fsys)
			if err != nil {
				t.Fatal(err)
			}
			if e, err := c.Entry("lone"); err != nil || e.Origin != filepath.ToSlash(lone) {
				t.Errorf("got %+v, error %v", e, err)
			}
		})
	}
	for name, path := range map[string]string{"nothing": filepath.Join(dir, "no"), "a file": filepath.Join(lone, "target.yaml")} {
		if _, err := catalog.Dir(path); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
}

func TestEntryByName(t *testing.T) {
	_, err := ours(t).Entry("ngnix")
	if want := `unknown catalog entry "ngnix", did you mean nginx? (allowed: `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got error %v, want %q", err, want)
	}
}

// FuzzTarget reads anything as target.yaml: it never panics, and every mistake
// has a place.
func FuzzTarget(f *testing.F) {
	f.Add(minimal)
	f.Add("a: &x [*x]\n")
	files, _ := filepath.Glob("testdata/wrong/*.yaml") // fewer seeds at worst
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := catalog.Open(folder(map[string]string{"e/target.yaml": text}))
		var mistakes catalog.Mistakes
		switch {
		case errors.As(err, &mistakes):
			for _, m := range mistakes {
				if m.File == "" || m.Text == "" {
					t.Errorf("mistake without a place or a text: %+v", m)
				}
			}
		case err != nil:
			t.Errorf("got error %v, want mistakes or none", err)
		default:
			for _, e := range c.Entries() {
				_, _, _ = e.Render(nil, catalog.Place{Port: 1, Work: "/w", Cache: "/c"})
			}
		}
	})
}
