package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Objects are the entry's Kubernetes objects, as they are written; nil if it
// has none.
func (e *Entry) Objects() ([]byte, error) {
	if e.Manifest == "" {
		return nil, nil
	}
	text, err := readFile(e.files, e.Manifest)
	if err != nil {
		return nil, fmt.Errorf("read the manifest of catalog entry %s: %w", e.Name, err)
	}
	return text, nil
}

// checkManifest wants a file of objects, each with what Kubernetes asks of all
// (Kubernetes API conventions, "Types (Kinds)" and "Metadata").
func (d *decoder) checkManifest(e *Entry) {
	if e.Manifest == "" {
		return
	}
	if strings.HasSuffix(e.Manifest, templateSuffix) || !fs.ValidPath(e.Manifest) {
		d.wrongAt("manifest", "want a file of the entry that is no template, found %q", e.Manifest)
		return
	}
	text, err := readFile(e.files, e.Manifest)
	if err != nil {
		d.wrongAt("manifest", "%s is no file of the entry", quoted(e.Manifest))
		return
	}
	if err := objects(text); err != nil {
		d.wrongAt("manifest", "%s: %v", e.Manifest, err)
	}
}

// objects says what is wrong with a text of Kubernetes objects.
func objects(text []byte) error {
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		var object struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string
			Metadata   struct{ Name string }
		}
		switch err := loader.Load(&object); {
		case errors.Is(err, io.EOF) && n > 1:
			return nil
		case errors.Is(err, io.EOF):
			return errors.New("it holds no object")
		case err != nil:
			return err
		case object.APIVersion == "" || object.Kind == "" || object.Metadata.Name == "":
			return fmt.Errorf("object %d: want apiVersion, kind and metadata.name", n)
		}
	}
}
