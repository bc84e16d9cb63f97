package catalog

import (
	"context"
	"testing"
)

// FillTemplate fills in a text, for tests.
func FillTemplate(t Template, values map[string]string, upstreams []string) string {
	return scope{values, upstreams}.fill(t)
}

// TemplateWords makes a command of a text, for tests.
func TemplateWords(t Template, values map[string]string, upstreams []string) ([]string, error) {
	return scope{values, upstreams}.words(t)
}

// Serve starts an entry in front of given upstreams until the test ends.
func (t Trial) Serve(tb testing.TB, name string, params map[string]string, upstreams ...string) (address string) {
	tb.Helper()
	e, err := t.Catalog.Entry(name)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := t.start(context.Background(), e, params, upstreams, tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.stop)
	return s.address
}
