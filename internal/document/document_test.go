package document_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"prony/internal/document"
)

// read is a file of a version, a name and a list of sizes.
func read(text string) (name string, sizes []string, seen map[string]bool, err error) {
	r, top, err := document.Open("f.yaml", []byte(text), "form: 1 and sizes")
	if err != nil {
		return "", nil, nil, err
	}
	seen = r.Mapping(top, map[string]func(*yaml.Node){
		"name":  func(n *yaml.Node) { name = r.Text(n) },
		"sizes": func(n *yaml.Node) { r.List(n, func(n *yaml.Node) { sizes = append(sizes, r.Text(n)) }) },
	})
	return name, sizes, seen, r.Err()
}

func TestRead(t *testing.T) {
	name, sizes, seen, err := read("sizes: [1, '', x]\nname: a b")
	if err != nil || name != "a b" || strings.Join(sizes, "|") != "1||x" || !seen["name"] || !seen["sizes"] || len(seen) != 2 {
		t.Errorf("got %q %q %v %v", name, sizes, seen, err)
	}
}

func TestMistakes(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", " \n", "f.yaml:1: empty: want form: 1 and sizes"},
		{"a comment alone", "# later\n", "f.yaml:1: not YAML"},
		{"no YAML", "name: a\nsizes: [1\n", "f.yaml:"},
		{"no mapping", "[1]", "f.yaml:1:1: want a mapping, key: value"},
		{"an unknown key", "name: a\nsize: 1", `f.yaml:2:1: unknown key "size" (allowed: name, sizes)`},
		{"twice", "name: a\nsizes: []\nname: b", "f.yaml:3:1: name is given twice"},
		{"no list", "sizes: 1", "f.yaml:1:8: want a list"},
		{"no value", "sizes: [[1]]", "f.yaml:1:9: want a value"},
		{"nothing for a value", "name:", "want a value"},
		{"an anchor", "name: &a b", "f.yaml:1:7: want a value"},
		{"several", "size: 1\nname: [a]", "f.yaml:2:7: want a value"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, _, err := read(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want %s", err, tt.want)
			}
		})
	}
}
