package catalog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"prony/internal/catalog"
)

// isJava reports whether an entry wants a Java development kit.
func isJava(e *catalog.Entry) bool {
	return slices.ContainsFunc(e.Needs, func(n catalog.Need) bool { return n.JDK > 0 })
}

// javaCache is where builds are kept over runs of the tests: in PRONY_CACHE, by
// default where the command keeps them.
func javaCache(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("PRONY_CACHE"); dir != "" {
		return filepath.Join(dir, "catalog")
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		absent(t, fmt.Errorf("find the folder of builds: %w", err))
	}
	return filepath.Join(dir, "prony", "catalog")
}

// built skips an entry that cannot run here, and one that was never built, since
// a test fetches nothing unless all have to run; then it is built.
func built(t *testing.T, tr catalog.Trial, e *catalog.Entry) {
	t.Helper()
	p := catalog.Place{Port: 1, Work: "/w", Cache: tr.Cache}
	if e.Kind == catalog.Gateway {
		p.Upstreams = []string{"a:1"}
	}
	_, command, err := e.Render(nil, p)
	if newer(err) {
		t.Skipf("Debian 12 has JDK 17 and nothing newer: %v", err)
	}
	if err != nil {
		absent(t, err)
	}
	if !command.Build.There() && !required() {
		t.Skipf("it is not built yet; prony catalog test %s does that, or PRONY_E2E=require", e.Name)
	}
	if err := command.Build.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// newer reports whether what is missing is a JDK that Debian 12 does not have.
func newer(err error) bool {
	var missing *catalog.MissingError
	if !errors.As(err, &missing) {
		return false
	}
	return slices.ContainsFunc(slices.Concat(missing.Ways...), func(l catalog.Lack) bool { return l.Need.JDK > 17 })
}

// TestLiveJava builds and tries the entries in Java one after the other, and
// counts the connections of their gateways. The first run fetches packages and
// takes minutes.
func TestLiveJava(t *testing.T) {
	tr := live(t)
	tr.Cache = javaCache(t)
	for _, e := range tr.Catalog.Entries() {
		if !isJava(e) {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			built(t, tr, e)
			o, err := tr.Run(t.Context(), e.Name)
			if err != nil {
				t.Fatal(err)
			}
			if !o.Good() || len(o.Routes) == 0 {
				t.Errorf("got %+v", o)
			}
			if e.Kind == catalog.Gateway {
				keepAlive(t, tr, e)
			}
		})
	}
}

// TestLiveJavaBytes holds the answer of Spring Boot on Tomcat against the
// published one: 211 bytes.
func TestLiveJavaBytes(t *testing.T) {
	tr := live(t)
	tr.Cache = javaCache(t)
	e, err := tr.Catalog.Entry("springboot-tomcat")
	if err != nil {
		t.Fatal(err)
	}
	built(t, tr, e)
	if got, head := answerBytes(t, tr.Serve(t, e.Name, nil), "/"); got != 211 {
		t.Errorf("got %d bytes, want 211:\n%s", got, head)
	}
}
