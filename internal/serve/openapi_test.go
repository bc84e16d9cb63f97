package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"prony/internal/serve"
)

// description is openapi.json as tests look things up in it.
type description struct {
	doc      map[string]any
	compiler *jsonschema.Compiler
}

// describedOnce reads the description once for all tests.
var describedOnce = sync.OnceValues(func() (*description, error) {
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	return &description{doc.(map[string]any), c}, c.AddResource("file:///openapi.json", doc)
})

func described(t testing.TB) *description {
	t.Helper()
	d, err := describedOnce()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// compiling guards the compiler, which tests share.
var compiling sync.Mutex

// schema compiles the schema at a place.
func (d *description) schema(t testing.TB, place []string) *jsonschema.Schema {
	t.Helper()
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", "+", "%2B")
	var pointer strings.Builder
	for _, p := range place {
		pointer.WriteString("/" + escape.Replace(p))
	}
	compiling.Lock()
	defer compiling.Unlock()
	s, err := d.compiler.Compile("file:///openapi.json#" + pointer.String())
	if err != nil {
		t.Fatalf("%v: %v", place, err)
	}
	return s
}

// at looks a place up, through references.
func (d *description) at(place ...string) (any, []string) {
	var v any = d.doc
	at := []string{}
	for _, key := range place {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, at
		}
		v, at = m[key], append(at, key)
		if m, ok := v.(map[string]any); ok {
			if ref, ok := m["$ref"].(string); ok {
				v, at = d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
			}
		}
	}
	return v, at
}

// pathOf finds the path of the description that a request has taken.
func (d *description) pathOf(path string) string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	best := ""
	for p := range d.doc["paths"].(map[string]any) {
		want := strings.Split(p, "/")
		fits := len(want) == len(parts)
		for i := 0; fits && i < len(want); i++ {
			fits = want[i] == parts[i] || strings.HasPrefix(want[i], "{")
		}
		if fits && (best == "" || !strings.Contains(p, "{")) {
			best = p
		}
	}
	return best
}

// check holds an answer against the description.
func (d *description) check(t testing.TB, method, path string, a answer) {
	t.Helper()
	p := d.pathOf(path)
	response, place := d.at("paths", p, strings.ToLower(method), "responses", fmt.Sprint(a.StatusCode))
	if response == nil {
		t.Errorf("%s %s: the description of %q does not know the status %d", method, path, p, a.StatusCode)
		return
	}
	content, _ := response.(map[string]any)["content"].(map[string]any)
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	if len(content) == 0 {
		if a.body != "" {
			t.Errorf("%s %s: got %q, want nothing", method, path, a.body)
		}
		return
	}
	if content[kind] == nil {
		t.Errorf("%s %s: got the type %q, want one of %v", method, path, kind, slices.Sorted(maps.Keys(content)))
		return
	}
	if !strings.HasSuffix(kind, "json") {
		return
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(a.body))
	if err == nil {
		err = d.schema(t, append(place, "content", kind, "schema")).Validate(v)
	}
	if err != nil {
		t.Errorf("%s %s: %v\n%s", method, path, err, a.body)
	}
}

// TestOpenAPIHasEveryRoute: what is served and what is described are the same.
func TestOpenAPIHasEveryRoute(t *testing.T) {
	var inText []string
	for path, v := range described(t).doc["paths"].(map[string]any) {
		for method := range v.(map[string]any) {
			inText = append(inText, strings.ToUpper(method)+" "+path)
		}
	}
	routes := serve.Routes()
	slices.Sort(inText)
	slices.Sort(routes)
	if !slices.Equal(inText, routes) {
		t.Errorf("described:\n%s\nserved:\n%s", strings.Join(inText, "\n"), strings.Join(routes, "\n"))
	}
}

// TestOpenAPIExamples: every example is of the schema beside it, and each JSON
// answer and body has one, but for documents that describe themselves.
func TestOpenAPIExamples(t *testing.T) {
	d, count := described(t), 0
	var walk func(v any, place []string)
	walk = func(v any, place []string) {
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		if example, ok := m["example"]; ok && m["schema"] != nil {
			count++
			if err := d.schema(t, append(slices.Clone(place), "schema")).Validate(example); err != nil {
				t.Errorf("%v: %v", place, err)
			}
		} else if last := place[max(0, len(place)-1):]; len(last) == 1 && strings.HasSuffix(last[0], "json") && m["schema"] != nil &&
			!slices.Contains(place, "/api/openapi.json") && !slices.Contains(place, "/api/schema") {
			t.Errorf("%v has no example", place)
		}
		for key, x := range m {
			walk(x, append(slices.Clone(place), key))
		}
	}
	walk(d.doc, nil)
	if count < 30 {
		t.Errorf("%d examples only: are they still written as this test reads them?", count)
	}
	for _, s := range slices.Collect(maps.Keys(d.doc["components"].(map[string]any)["schemas"].(map[string]any))) {
		d.schema(t, []string{"components", "schemas", s})
	}
}

// TestOpenAPIParameters: the description names each variable of its path, and ids
// of operations are unique.
func TestOpenAPIParameters(t *testing.T) {
	d, ids := described(t), map[string]bool{}
	for path, methods := range d.doc["paths"].(map[string]any) {
		for method, v := range methods.(map[string]any) {
			op := v.(map[string]any)
			id, _ := op["operationId"].(string)
			if id == "" || ids[id] {
				t.Errorf("%s %s: the operation is called %q, which is no name of its own", method, path, id)
			}
			ids[id] = true
			var named []string
			all, _ := op["parameters"].([]any)
			for _, p := range all {
				if p := p.(map[string]any); p["in"] == "path" {
					named = append(named, "{"+p["name"].(string)+"}")
				}
			}
			for part := range strings.SplitSeq(path, "/") {
				if strings.HasPrefix(part, "{") && !slices.Contains(named, part) {
					t.Errorf("%s %s: %s is not described", method, path, part)
				}
			}
		}
	}
}

func TestOpenAPIIsServed(t *testing.T) {
	f := start(t, config())
	var got struct{ OpenAPI string }
	a := f.call(t, "GET", "/api/openapi.json", "", 200, &got)
	if got.OpenAPI != "3.1.0" || !json.Valid([]byte(a.body)) {
		t.Errorf("got %q", got.OpenAPI)
	}
}
