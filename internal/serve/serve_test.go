package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/serve"
	"prony/internal/store"
)

// began is when the first run of a test started, and now when notes are written.
var (
	began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now   = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
)

const campaignID = "20260301-120000-abc"

// run is a result with what lists and comparisons look at.
func run(i int, rate float64) result.Run {
	return result.Run{Schema: result.Schema, Kind: "load", Version: "1.0.0", Command: []string{"prony", "load", "http://127.0.0.1:8080/"},
		Started: began.Add(time.Duration(i) * time.Minute),
		Validity: result.Validity{Verdict: result.Valid, Findings: []result.Finding{
			{Rule: "loopback", ID: "Q1", Severity: result.Note, Where: "host", Message: "over loopback"}}},
		Bottleneck: &result.Bottleneck{What: "target-cpu", Where: "app[0]", Message: "the cores of app[0] are full"},
		Load: result.Load{Model: "closed", Protocol: "http/1.1", Engine: "epoll", EndedBy: "duration", DurationUS: 1e6, Rate: rate,
			Connections: result.Connections{Asked: 8, Opened: 8}, Requests: result.Requests{Asked: 1000, Started: 1000, Completed: 998, Failed: 2},
			Statuses: map[string]int64{"200": 998}},
		Generator: result.Generator{CPUUSPerRequest: 12.5, CPUs: 2},
		Services:  []result.Service{{Name: "app", CPUUSPerRequest: 80, MaxRSSBytes: 1 << 20}},
		Plan:      &plan.Plan{Name: "checkout", Seed: 1, Load: plan.Load{Connections: 8, Seed: 1, Requests: []plan.Request{{Method: "GET", URL: "http://127.0.0.1:8080/"}}}}}
}

// trial is one of the campaign: two variants in turn, the second faster.
func trial(number int) store.Record {
	instances := 1 + (number-1)%2
	variant := fmt.Sprintf("instances=%d", instances)
	rate := float64(1000*instances) + float64(number)
	p := &plan.Experiment{Name: "scaling", Question: "Does adding instances scale?", Variants: []plan.Variant{{Name: "instances=1"}, {Name: "instances=2"}}}
	return store.Record{Campaign: campaignID, Plan: p, Logs: map[string][]byte{"app[0]": []byte("listening\n")},
		Trial: result.Trial{Number: number, Block: (number - 1) / 2, Variant: variant, Values: map[string]string{"instances": fmt.Sprint(instances)}, Run: run(number, rate)}}
}

// fixture is a server over a store with a load and a campaign of twelve trials.
type fixture struct {
	*serve.Server
	store *store.Store
	load  store.RunID
	trial []store.RunID
	http  *httptest.Server
	token string // that requests bring
}

// config is a server's without a store.
func config() serve.Config {
	return serve.Config{Version: "1.0.0", Schema: []byte(`{"type": "object"}`), Plan: draft, Now: func() time.Time { return now },
		Pages: fstest.MapFS{"index.html": {Data: []byte("<!DOCTYPE html><title>Prony</title>")}, "assets/index-B3x9Qk2f.js": {Data: []byte("1")},
			"icon.svg": {Data: []byte("<svg/>")}}}
}

// draft knows one file that is right.
func draft(_ context.Context, text string) (serve.Draft, error) {
	if strings.HasPrefix(text, "prony: 1\n") {
		return serve.Draft{Name: "scaling", Plan: "trial 1: instances=1\n", Trials: 1, Variants: []string{"instances=1"}}, nil
	}
	return serve.Draft{Mistakes: []serve.Mistake{{Line: 1, Column: 1, Path: "prony", Message: "the version is missing", Remedy: "write prony: 1"}}}, nil
}

func start(t testing.TB, c serve.Config) *fixture {
	t.Helper()
	s, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "store.db"), store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return startOn(t, c, s)
}

func startOn(t testing.TB, c serve.Config, s *store.Store) *fixture {
	t.Helper()
	c.Store = s
	server, err := serve.New(c)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Server: server, store: s, http: httptest.NewServer(server), token: c.Token}
	t.Cleanup(func() { server.Close(); f.http.Close() })
	return f
}

// filled is a fixture with runs in it.
func filled(t testing.TB, c serve.Config) *fixture {
	t.Helper()
	f := start(t, c)
	f.load = f.put(t, store.Record{Trial: result.Trial{Run: run(0, 500)}})
	for n := 1; n <= 12; n++ {
		f.trial = append(f.trial, f.put(t, trial(n)))
	}
	return f
}

func (f *fixture) put(t testing.TB, r store.Record) store.RunID {
	t.Helper()
	id, err := f.store.Put(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// request makes a request as our own page does.
func (f *fixture) request(t testing.TB, method, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, f.http.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if method != "GET" {
		r.Header.Set("X-Prony", "1")
	}
	if f.token != "" {
		r.Header.Set("Authorization", "Bearer "+f.token)
	}
	return r
}

// answer is a response that has been read.
type answer struct {
	*http.Response
	body string
}

func (f *fixture) send(t testing.TB, r *http.Request) answer {
	t.Helper()
	// Redirects and compression would hide what the server said.
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp, string(b)}
}

// call sends a request of the API, whose answer has to have a status and to be as
// openapi.json describes it, and decodes the answer.
func (f *fixture) call(t testing.TB, method, path, body string, want int, into any) answer {
	t.Helper()
	a := f.send(t, f.request(t, method, path, body))
	if a.StatusCode != want {
		t.Fatalf("%s %s: status %d, want %d: %s", method, path, a.StatusCode, want, a.body)
	}
	described(t).check(t, method, path, a)
	if into != nil {
		if err := json.Unmarshal([]byte(a.body), into); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, a.body)
		}
	}
	return a
}

// refused calls and wants a problem whose detail holds a text.
func (f *fixture) refused(t testing.TB, method, path, body string, status int, text string) {
	t.Helper()
	var p struct {
		Status int
		Detail string
	}
	f.call(t, method, path, body, status, &p)
	if p.Status != status || !strings.Contains(p.Detail, text) {
		t.Errorf("%s %s: got %+v, want the status %d and %q in the detail", method, path, p, status, text)
	}
}

// asJSON is a body.
func asJSON(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
