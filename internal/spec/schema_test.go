package spec_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"prony/internal/spec"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := spec.Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("experiment.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("experiment.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// plain is a YAML file as an editor sees it: values of JSON.
func plain(t *testing.T, text []byte) (any, error) {
	t.Helper()
	var value any
	if err := yaml.Load(text, &value); err != nil {
		return nil, err
	}
	b, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(b))
}

func TestSchemaTakesWhatLoadTakes(t *testing.T) {
	s := compiled(t)
	for _, pattern := range []string{"../../examples/*.yaml", "../../experiments/*.yaml", "../plan/testdata/good/*.yaml"} {
		for _, file := range files(t, pattern, 3) {
			text := read(t, file)
			if _, err := spec.Load(file, text, spec.Overrides{}); err != nil {
				t.Error(err)
			}
			value, err := plain(t, text)
			if err == nil {
				err = s.Validate(value)
			}
			if err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// TestSchemaRefuses: mistakes of spelling, kind and choice show in an editor.
func TestSchemaRefuses(t *testing.T) {
	s := compiled(t)
	for _, name := range []string{"no-version", "later-version", "three-unknown-keys", "misplaced-key", "misplaced-image", "no-kind", "two-kinds",
		"three-wrong-quantities", "zero-instances", "list-for-text", "text-for-mapping", "no-load", "wrong-url", "wrong-host-url",
		"unknown-words", "repeat", "repeat-zero", "empty-lists", "scale", "quoted-scale", "zero-scale"} {
		t.Run(name, func(t *testing.T) {
			file := files(t, "testdata/wrong/*-"+name+".yaml", 1)[0]
			value, err := plain(t, read(t, file))
			if err != nil {
				t.Fatal(err)
			}
			if s.Validate(value) == nil {
				t.Errorf("the schema takes %s", filepath.Base(file))
			}
		})
	}
}

// TestSchemaSaysEverything: each key has a description that ends as a sentence.
func TestSchemaSaysEverything(t *testing.T) {
	text, err := spec.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	objects := map[string]any{"experiment": root}
	for name, def := range root["$defs"].(map[string]any) {
		objects[name] = def
	}
	if len(objects) < 12 {
		t.Fatalf("got %d objects, want at least 12", len(objects))
	}
	for name, object := range objects {
		for key, value := range object.(map[string]any)["properties"].(map[string]any) {
			if doc, _ := value.(map[string]any)["description"].(string); !strings.HasSuffix(doc, ".") {
				t.Errorf("%s.%s: description %q", name, key, doc)
			}
		}
	}
	golden(t, "testdata/schema.json", string(text))
}

// TestEveryKeyIsRead: a key of the schema that no field takes would be accepted
// and do nothing. Whatever is set must show in what Write makes of the structs.
func TestEveryKeyIsRead(t *testing.T) {
	var have []string
	for _, file := range files(t, "testdata/every-*.yaml", 2) { // a search for capacity excludes other keys
		e := load(t, string(read(t, file)))
		written := spec.Experiment{Prony: 1, Name: e.Name, Question: e.Question, Services: e.Services, Hosts: e.Hosts, Load: e.Load,
			Repeat: e.Repeat, Order: e.Order, Baseline: e.Baseline, Expect: e.Expect, OnFailure: e.OnFailure, Cooldown: e.Cooldown, Seed: e.Seed, Scale: e.Scale}
		var b bytes.Buffer
		if err := spec.Write(&b, written); err != nil {
			t.Fatal(err)
		}
		have = append(have, keys(t, b.Bytes())...)
	}
	schema, err := spec.Schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range schemaKeys(t, schema) {
		if !slices.Contains(have, key) && key != "vary" {
			t.Errorf("key %s is in the schema and does not come back from a file that sets it", key)
		}
	}
}

// keys lists the keys of all mappings of a file.
func keys(t *testing.T, text []byte) []string {
	t.Helper()
	var all []string
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 {
				all = append(all, c.Value)
			}
			walk(c)
		}
	}
	var n yaml.Node
	if err := yaml.Load(text, &n); err != nil {
		t.Fatal(err)
	}
	walk(&n)
	return all
}

func schemaKeys(t *testing.T, text []byte) []string {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	var all []string
	objects := []any{root}
	for _, def := range root["$defs"].(map[string]any) {
		objects = append(objects, def)
	}
	for _, o := range objects {
		for key := range o.(map[string]any)["properties"].(map[string]any) {
			all = append(all, key)
		}
	}
	return all
}
