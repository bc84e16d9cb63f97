package serve_test

import (
	"strings"
	"testing"

	"prony/internal/result"
	"prony/internal/store"
	"prony/internal/web"
)

func TestPages(t *testing.T) {
	f := start(t, config())
	for path, want := range map[string]struct {
		status             int
		kind, cache, start string
	}{
		"/":                               {200, "text/html; charset=utf-8", "no-store", "<!DOCTYPE"},
		"/runs/k3f":                       {200, "text/html; charset=utf-8", "no-store", "<!DOCTYPE"},
		"/runs/v1.4":                      {200, "text/html; charset=utf-8", "no-store", "<!DOCTYPE"},
		"/index.html":                     {200, "text/html; charset=utf-8", "no-store", "<!DOCTYPE"},
		"/assets/index-B3x9Qk2f.js":       {200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable", "1"},
		"/icon.svg":                       {200, "image/svg+xml", "no-cache", "<svg"},
		"/nothing.js":                     {404, "application/problem+json", "no-store", "{"},
		"/assets/..%2f..%2f..%2fa.json":   {404, "application/problem+json", "no-store", "{"},
		"/..%2f..%2f..%2fetc%2fpasswd.js": {404, "application/problem+json", "no-store", "{"},
		"/assets/%00.js":                  {404, "application/problem+json", "no-store", "{"},
	} {
		a := f.send(t, f.request(t, "GET", path, ""))
		if a.StatusCode != want.status || a.Header.Get("Content-Type") != want.kind || a.Header.Get("Cache-Control") != want.cache || !strings.HasPrefix(a.body, want.start) {
			t.Errorf("%s: got %d, %v, %.40q", path, a.StatusCode, a.Header, a.body)
		}
	}
	if a := f.send(t, f.request(t, "POST", "/", "{}")); a.StatusCode != 405 {
		t.Errorf("POST /: status %d", a.StatusCode)
	}
	if a := f.send(t, f.request(t, "HEAD", "/", "")); a.StatusCode != 200 || a.body != "" {
		t.Errorf("HEAD /: status %d, %q", a.StatusCode, a.body)
	}
}

const evil = `"><script>alert(1)</script><img src=x onerror=alert(2)>`

// hostile is a server over a run with markup in every text.
func hostile(t *testing.T, pages bool) (*fixture, store.RunID) {
	t.Helper()
	c := config()
	if !pages {
		c.Pages = nil
	}
	f := start(t, c)
	r := run(0, 100)
	r.Plan.Name, r.Plan.Load.Requests[0].URL, r.Kind, r.Version, r.Bottleneck.Message = evil, "http://"+evil, evil, evil, evil
	r.Validity.Verdict = result.Verdict(evil)
	r.Validity.Findings[0].Message, r.Command, r.Services[0].Name = evil, []string{evil}, evil
	id := f.put(t, store.Record{Trial: result.Trial{Run: r}, Logs: map[string][]byte{"app<script>": []byte(evil)}})
	if err := f.store.Note(t.Context(), id, store.Note{Written: now, Text: evil}); err != nil {
		t.Fatal(err)
	}
	return f, id
}

// TestHostileTextsStayTexts: data reaches a browser as JSON or inside a report,
// and never as markup.
func TestHostileTextsStayTexts(t *testing.T) {
	f, id := hostile(t, true)
	for _, path := range []string{"/api/runs", "/api/runs/last", "/api/experiments", "/api/runs?text=%3Cscript%3E", "/api/runs/%3Cscript%3E", "/api/runs/last/bundle",
		"/api/compare?side=%3Cscript%3E&side=b", "/api/history?experiment=%3Cscript%3E", "/api/live/%3Cscript%3E", "/%3Cscript%3E.js", "/report/%3Cscript%3E"} {
		a := f.send(t, f.request(t, "GET", path, ""))
		kind := a.Header.Get("Content-Type")
		if strings.Contains(kind, "html") || strings.Contains(kind, "json") && strings.ContainsAny(a.body, "<>") {
			t.Errorf("%s: got the type %q and %.200s", path, kind, a.body)
		}
	}
	report := f.send(t, f.request(t, "GET", "/report/"+string(id), ""))
	if strings.Contains(report.body, "<script>alert") || strings.Contains(report.body, "<img src=x") || report.StatusCode != 200 {
		t.Errorf("status %d: the report holds markup of the data", report.StatusCode)
	}
}

// TestPlainList: without pages there is a list, in which texts are texts.
func TestPlainList(t *testing.T) {
	f, id := hostile(t, false)
	a := f.send(t, f.request(t, "GET", "/", ""))
	if a.StatusCode != 200 || !strings.Contains(a.body, `href="/report/`+string(id)+`"`) {
		t.Errorf("status %d: %s", a.StatusCode, a.body)
	}
	if strings.Contains(a.body, "<script") || strings.Contains(a.body, "<img") {
		t.Errorf("the list holds markup of the data: %s", a.body)
	}
	if a := f.send(t, f.request(t, "GET", "/anything", "")); a.StatusCode != 404 {
		t.Errorf("status %d, want 404", a.StatusCode)
	}
}

func TestReports(t *testing.T) {
	c := config()
	c.Complete = func(d *web.Document) { d.Advice = []string{"run it on two machines"} }
	f := filled(t, c)
	for path, want := range map[string]string{"/report/" + string(f.load): "run it on two machines", "/report/campaigns/last": "Does adding instances scale?"} {
		a := f.send(t, f.request(t, "GET", path, ""))
		if a.StatusCode != 200 || !strings.HasPrefix(a.body, "<!DOCTYPE html>") || !strings.Contains(a.body, want) {
			t.Errorf("%s: status %d, %.200q", path, a.StatusCode, a.body)
		}
		policy := a.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "sandbox allow-scripts") || strings.Contains(policy, "allow-same-origin") || !strings.Contains(policy, "script-src 'sha256-") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
	}
	for _, path := range []string{"/report/nothing", "/report/campaigns/nothing", "/report/..%2f..%2fetc"} {
		if a := f.send(t, f.request(t, "GET", path, "")); a.StatusCode != 404 {
			t.Errorf("%s: status %d, want 404", path, a.StatusCode)
		}
	}
	none := trial(99)
	none.Trial = result.Trial{Number: 99, Variant: "instances=1", Error: "app[0] did not start"}
	id := f.put(t, none)
	if a := f.send(t, f.request(t, "GET", "/report/"+string(id), "")); a.StatusCode != 422 || !strings.Contains(a.body, "did not start") {
		t.Errorf("a trial without a result: status %d, %s", a.StatusCode, a.body)
	}
	f.refused(t, "GET", "/api/compare?side="+string(id)+"&side=last", "", 422, "has no result")
	f.call(t, "GET", "/api/runs/"+string(id), "", 200, nil)
	f.call(t, "GET", "/api/runs", "", 200, nil)
	f.call(t, "GET", "/api/campaigns/last", "", 200, nil)
}
