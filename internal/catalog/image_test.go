package catalog_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	embedded "prony/catalog"
)

// instructions are the words of a Dockerfile's lines, continued ones joined and
// comments left out.
func instructions(text string) [][]string {
	var all [][]string
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(words[0], "#") {
			all = append(all, words)
		}
	}
	return all
}

// TestDockerfiles holds the syntax of Dockerfiles (Dockerfile reference): FROM
// first, known instructions, pinned images, and only files copied that are there.
func TestDockerfiles(t *testing.T) {
	known := []string{"FROM", "ARG", "WORKDIR", "COPY", "RUN", "EXPOSE", "ENV", "ENTRYPOINT", "CMD", "USER"}
	for _, e := range ours(t).Entries() {
		if e.Image == nil || e.Image.Dockerfile == "" {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			text, err := fs.ReadFile(embedded.Files, path.Join(e.Name, e.Image.Dockerfile))
			if err != nil {
				t.Fatal(err)
			}
			all := instructions(string(text))
			if len(all) == 0 || all[0][0] != "FROM" {
				t.Fatalf("it does not begin with FROM: %q", all)
			}
			for _, words := range all {
				switch {
				case !slices.Contains(known, words[0]) || len(words) < 2:
					t.Errorf("%q is no instruction", words)
				case words[0] == "FROM" && (!strings.Contains(words[1], ":") || strings.HasSuffix(words[1], ":latest")):
					t.Errorf("%q: want an image with a version", words)
				case words[0] == "COPY" && !strings.HasPrefix(words[1], "--from="):
					for _, name := range words[1 : len(words)-1] {
						if !slices.Contains(e.Build.Inputs, name) {
							t.Errorf("%q: %s is not among the build's inputs %q", words, name, e.Build.Inputs)
						}
					}
				}
			}
		})
	}
}

// object is what the test wants of a Kubernetes object.
type object struct {
	Kind string
	Spec struct {
		Template struct {
			Spec struct {
				Containers []struct {
					Image     string
					Resources struct{ Limits map[string]string }
				}
			}
		}
	}
}

// TestManifests parses the Kubernetes objects: every container has an image with
// a version and the limits of the published benchmarks.
func TestManifests(t *testing.T) {
	for _, e := range ours(t).Entries() {
		text, err := e.Objects()
		if err != nil {
			t.Fatal(err)
		}
		if text == nil {
			if e.Image != nil && e.Image.Dockerfile != "" {
				t.Errorf("%s has a Dockerfile and no manifest", e.Name)
			}
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			loader, err := yaml.NewLoader(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			kinds := map[string]int{}
			for {
				var o object
				err := loader.Load(&o)
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				kinds[o.Kind]++
				for _, c := range o.Spec.Template.Spec.Containers {
					limits := c.Resources.Limits["cpu"] + " " + c.Resources.Limits["memory"]
					if want := []string{"200m 400Mi", "8 16Gi"}; !slices.Contains(want, limits) || !strings.HasPrefix(c.Image, "prony/"+e.Name+":") {
						t.Errorf("got image %s with limits %s, want prony/%s:VERSION with one of %q", c.Image, limits, e.Name, want)
					}
				}
			}
			if kinds["Deployment"] != 1 || kinds["Service"] != 1 {
				t.Errorf("got %v, want a Deployment and a Service", kinds)
			}
		})
	}
}
