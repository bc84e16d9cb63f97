package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Catalog is a set of entries, read and checked.
type Catalog struct{ entries map[string]*Entry }

// named is a file system that knows what people call it.
type named struct {
	fs.FS
	name string
	lone string // the entry that it is itself, if it is one
}

// Named gives a file system a name, for messages.
func Named(name string, fsys fs.FS) fs.FS { return named{FS: fsys, name: name} }

// Dir is a folder of the user's: one of entries, or an entry itself.
func Dir(folder string) (fs.FS, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("open catalog %s: %w", folder, err)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return nil, fmt.Errorf("open catalog: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("open catalog %s: not a folder", folder)
	}
	n := named{FS: os.DirFS(abs), name: folder}
	if _, err := fs.Stat(n, targetFile); err == nil {
		n.lone = filepath.Base(abs)
	}
	return n, nil
}

// Open reads all entries of some folders; of two with the same name the later
// one counts. What is wrong with the files comes back as [Mistakes].
func Open(dirs ...fs.FS) (*Catalog, error) {
	c := &Catalog{entries: map[string]*Entry{}}
	var mistakes Mistakes
	for _, dir := range dirs {
		n, ok := dir.(named)
		if !ok {
			n = named{FS: dir, name: "catalog"}
		}
		wrong, err := c.read(n)
		if err != nil {
			return nil, fmt.Errorf("open catalog %s: %w", n.name, err)
		}
		mistakes = append(mistakes, wrong...)
	}
	for _, e := range c.entries {
		if e.SampleUpstream != "" && c.entries[e.SampleUpstream] == nil {
			m := e.sampleAt
			m.Text = unknown("entry "+quoted(e.SampleUpstream), e.SampleUpstream, c.names())
			mistakes = append(mistakes, m)
		}
	}
	if len(mistakes) > 0 {
		return nil, mistakes.sorted()
	}
	return c, nil
}

// read adds the entries of one folder.
func (c *Catalog) read(dir named) (Mistakes, error) {
	if dir.lone != "" {
		return c.add(dir.FS, dir.lone, dir.name)
	}
	folders, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, err
	}
	var mistakes Mistakes
	for _, f := range folders {
		if _, err := fs.Stat(dir, path.Join(f.Name(), targetFile)); err != nil {
			continue // not an entry
		}
		files, err := fs.Sub(dir.FS, f.Name())
		if err != nil {
			return nil, err
		}
		wrong, err := c.add(files, f.Name(), path.Join(filepath.ToSlash(dir.name), f.Name()))
		if err != nil {
			return nil, err
		}
		mistakes = append(mistakes, wrong...)
	}
	return mistakes, nil
}

// maxFile bounds the files of an entry, in bytes.
const maxFile = 16 << 20

// add reads an entry.
func (c *Catalog) add(files fs.FS, name, origin string) (Mistakes, error) {
	text, err := readFile(files, targetFile)
	if err != nil {
		return nil, err
	}
	e := &Entry{Name: name, Origin: origin, files: files, templates: map[string]Template{}}
	mistakes, err := e.load(text)
	c.entries[name] = e
	return mistakes, err
}

// load decodes the text of target.yaml and checks it against the other files.
func (e *Entry) load(text []byte) (Mistakes, error) {
	d := newDecoder(path.Join(e.Origin, targetFile))
	n := d.document(text)
	if n == nil {
		return d.mistakes, nil
	}
	d.entry(n, e)
	if at := d.places["sample-upstream"]; at != nil { // checked when all entries are read
		e.sampleAt = Mistake{File: d.file, Line: at.Line, Column: at.Column, Path: "sample-upstream"}
	}
	if len(d.mistakes) > 0 { // checking what was not understood yields nonsense
		return d.mistakes, nil
	}
	if err := e.loadTemplates(d); err != nil {
		return nil, err
	}
	d.check(e)
	return d.mistakes, nil
}

// loadTemplates parses the entry's .tmpl files.
func (e *Entry) loadTemplates(d *decoder) error {
	return fs.WalkDir(e.files, ".", func(name string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() || !strings.HasSuffix(name, templateSuffix) {
			return err
		}
		text, err := readFile(e.files, name)
		if err != nil {
			return err
		}
		t, err := ParseTemplate(string(text))
		var wrong *templateError
		if errors.As(err, &wrong) {
			d.wrongIn(e.fileName(name), string(text), wrong.at, "%v", wrong)
		}
		t.text = string(text)
		e.templates[name] = t
		return nil
	})
}

// fileName is what messages call a file of the entry.
func (e *Entry) fileName(name string) string { return path.Join(e.Origin, name) }

// readFile reads a file of bounded size.
func readFile(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("read %s: %d bytes, more than %d", name, info.Size(), maxFile)
	}
	return fs.ReadFile(files, name)
}

// Entries lists the entries by name.
func (c *Catalog) Entries() []*Entry {
	var all []*Entry
	for _, name := range c.names() {
		all = append(all, c.entries[name])
	}
	return all
}

// Entry finds an entry by its name.
func (c *Catalog) Entry(name string) (*Entry, error) {
	if e := c.entries[name]; e != nil {
		return e, nil
	}
	return nil, errors.New(unknown("catalog entry "+quoted(name), name, c.names()))
}

func (c *Catalog) names() []string { return slices.Sorted(maps.Keys(c.entries)) }
