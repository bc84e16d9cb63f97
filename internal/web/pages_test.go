package web_test

import (
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"prony/internal/web"
)

func file(t *testing.T, name string) string {
	t.Helper()
	b, err := fs.ReadFile(web.Pages(), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// The page names each of its parts by hash, and a changed part would not be
// run.
func TestPagesNameTheirPartsByHash(t *testing.T) {
	index := file(t, "index.html")
	parts := regexp.MustCompile(`(?:src|href)="/([^"]+)" integrity="(sha256-[^"]+)"`).FindAllStringSubmatch(index, -1)
	if len(parts) != 2 {
		t.Fatalf("index.html loads %d files, want a style and a script:\n%s", len(parts), index)
	}
	for _, p := range parts {
		if got, want := p[2], "sha256-"+hash(file(t, p[1])); got != want {
			t.Errorf("%s: the page expects %s, the file has %s", p[1], got, want)
		}
		if !regexp.MustCompile(`-[A-Za-z0-9_-]{8,}\.(js|css)$`).MatchString(p[1]) {
			t.Errorf("%s does not name its content, so that browsers could not keep it", p[1])
		}
		if strings.HasSuffix(p[1], ".js") && !strings.Contains(index, "script-src '"+p[2]+"'") {
			t.Errorf("the policy does not name the script %s by its hash", p[1])
		}
	}
	if all, err := fs.Glob(web.Pages(), "*"); err != nil || len(all) != 3 {
		t.Errorf("the pages are %v (%v), want index.html, a script and a style", all, err)
	}
}

// Nothing is loaded from elsewhere and nothing runs that is not in the bundle.
func TestPagesAreClosed(t *testing.T) {
	index := file(t, "index.html")
	for _, bad := range []string{"http://", "https://", "unsafe", "<style", "onload"} {
		if strings.Contains(index, bad) {
			t.Errorf("index.html holds %q", bad)
		}
	}
	for _, want := range []string{"default-src 'none'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(index, want) {
			t.Errorf("the policy lacks %q", want)
		}
	}
	if n := strings.Count(index, "<script"); n != 1 {
		t.Errorf("index.html has %d scripts, want 1", n)
	}
	err := fs.WalkDir(web.Pages(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		for _, bad := range []string{"eval(", "new Function", "innerHTML=`", "document.write"} {
			if strings.Contains(file(t, name), bad) {
				t.Errorf("%s holds %q", name, bad)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
