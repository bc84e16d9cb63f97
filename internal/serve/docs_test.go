package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prony/internal/serve"
)

const page = "../../docs/api.md"

// exchange is an example of the page: a request and what is answered.
type exchange struct {
	line                  int
	method, path, request string
	headers               map[string]string
	status                int
	response, kind        string
}

var blocks = regexp.MustCompile("(?ms)^```http\n(.*?)^```\n")

// exchanges reads the blocks of the page: request line, headers, an empty line
// and a body; then the same of the answer.
func exchanges(t *testing.T) (all []exchange) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range blocks.FindAllSubmatchIndex(text, -1) {
		e := exchange{line: 1 + bytes.Count(text[:m[0]], []byte("\n")), headers: map[string]string{}}
		request, response, ok := strings.Cut(string(text[m[2]:m[3]]), "\nHTTP/1.1 ")
		if !ok {
			t.Fatalf("%s:%d: there is no answer", page, e.line)
		}
		head, body, _ := strings.Cut(strings.TrimSpace(request), "\n\n")
		lines := strings.Split(head, "\n")
		e.method, e.path, _ = strings.Cut(lines[0], " ")
		for _, h := range lines[1:] {
			name, value, _ := strings.Cut(h, ": ")
			e.headers[name] = value
		}
		e.request = body
		head, e.response, _ = strings.Cut(strings.TrimSpace(response), "\n\n")
		if e.status, err = strconv.Atoi(strings.Fields(head)[0]); err != nil {
			t.Fatalf("%s:%d: %v", page, e.line, err)
		}
		if _, kind, ok := strings.Cut(head, "Content-Type: "); ok {
			e.kind = strings.TrimSpace(kind)
		}
		all = append(all, e)
	}
	return all
}

// TestExamplesOfThePage makes every request that docs/api.md shows, in its order,
// with the headers that it shows, and finds in the answer what is shown of it:
// … stands for anything, and keys may be left out.
func TestExamplesOfThePage(t *testing.T) {
	p := newPlay()
	f := filled(t, func() serve.Config { c := config(); c.Run = p.run; return c }())
	f.put(t, trial(13)) // to be removed
	live := ""
	called := map[string]bool{}
	for _, e := range exchanges(t) {
		where := fmt.Sprintf("%s:%d: %s %s", page, e.line, e.method, e.path)
		r, err := http.NewRequestWithContext(t.Context(), e.method, f.http.URL+strings.ReplaceAll(e.path, "k7mdwq2x9e", live), strings.NewReader(e.request))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range e.headers {
			r.Header.Set(name, value)
		}
		a := f.send(t, r)
		if a.StatusCode != e.status {
			t.Errorf("%s: status %d, shown %d: %s", where, a.StatusCode, e.status, a.body)
			continue
		}
		if kind := a.Header.Get("Content-Type"); e.kind != "" && kind != e.kind {
			t.Errorf("%s: got the type %q, shown %q", where, kind, e.kind)
		}
		described(t).check(t, e.method, e.path, a)
		called[e.method+" "+described(t).pathOf(e.path)] = true
		if e.method+e.path == "POST/api/runs" {
			live = field(t, a.body, "id")
			(<-p.begun)([]byte(`{"event":"trial","at":"2026-03-02T12:00:00Z","number":1,"of":1,"block":0,"variant":"instances=1","left":"about 12s"}`))
			p.end <- nil // a stream that ends can be shown whole
		}
		if strings.HasSuffix(e.kind, "json") {
			compareShown(t, where, e.response, strings.ReplaceAll(a.body, orElse(live, "\x00"), "k7mdwq2x9e"))
		} else if e.response != "" && e.response != "…" && !strings.Contains(a.body, e.response) {
			t.Errorf("%s: got %q, shown %q", where, a.body, e.response)
		}
	}
	for _, route := range serve.Routes() {
		if !called[route] {
			t.Errorf("%s has no example for %s", page, route)
		}
	}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func field(t *testing.T, text, key string) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	s, _ := m[key].(string)
	return s
}

// compareShown finds what is shown in what was answered.
func compareShown(t *testing.T, where, shown, got string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(shown), &a); err != nil {
		t.Errorf("%s: what is shown is no JSON: %v", where, err)
		return
	}
	if err := json.Unmarshal([]byte(got), &b); err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	if why := within(a, b, ""); why != "" {
		t.Errorf("%s: %s\n%s", where, why, got)
	}
}

// within says where a shown value is not in another one; "" if it is. The last
// element "…" of a list stands for any others.
func within(shown, got any, at string) string {
	switch s := shown.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		for key, v := range s {
			if !ok || !hasKey(g, key) {
				return fmt.Sprintf("there is no %s.%s", at, key)
			}
			if why := within(v, g[key], at+"."+key); why != "" {
				return why
			}
		}
	case []any:
		g, ok := got.([]any)
		more := slices.Contains(s, any("…"))
		if more {
			s = s[:len(s)-1]
		}
		if !ok || len(g) < len(s) || len(g) > len(s) && !more {
			return fmt.Sprintf("%s has %d elements, shown %d", at, len(g), len(s))
		}
		for i, v := range s {
			if why := within(v, g[i], fmt.Sprintf("%s[%d]", at, i)); why != "" {
				return why
			}
		}
	default:
		if text, ok := shown.(string); ok && strings.HasSuffix(text, "…") {
			g, ok := got.(string)
			if !ok || !strings.HasPrefix(g, strings.TrimSuffix(text, "…")) {
				return fmt.Sprintf("%s is %v, shown %v", at, got, shown)
			}
		} else if shown != got {
			return fmt.Sprintf("%s is %v, shown %v", at, got, shown)
		}
	}
	return ""
}

func hasKey(m map[string]any, key string) bool {
	_, ok := m[key]
	return ok
}
