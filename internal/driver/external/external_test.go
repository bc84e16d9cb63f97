package external_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"prony/internal/driver"
	"prony/internal/driver/external"
	"prony/internal/host"
	"prony/internal/plan"
)

func request(url string) driver.Request {
	return driver.Request{Run: "r", Service: plan.Service{Name: "app", Kind: plan.External, URL: url}, Site: driver.Site{Host: host.Local()}}
}

func TestExternal(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/up" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer server.Close()
	q := request(server.URL + "/base")
	q.Service.Ready = plan.Ready{Path: "/up", Within: 5 * time.Second}
	r, err := driver.Start(t.Context(), external.Driver{}, q)
	if err != nil {
		t.Fatal(err)
	}
	if r.Endpoint() != server.URL+"/base" || r.Place() != (host.Place{}) || len(r.Logs().Text()) != 0 || r.Err() != nil {
		t.Errorf("got %q, %+v, %q, %v", r.Endpoint(), r.Place(), r.Logs().Text(), r.Err())
	}
	if n, err := r.OOMKills(t.Context()); n != -1 || err != nil {
		t.Errorf("got %d kills, %v, want that nobody counts", n, err)
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	answer, err := http.Get(server.URL + "/up")
	if err != nil {
		t.Fatalf("after the stop: %v, want it to run on", err)
	}
	_ = answer.Body.Close()
	if left, err := driver.Find(t.Context(), external.Driver{}, q.Site, "r"); err != nil || len(left) != 0 {
		t.Errorf("got %v, %v left", left, err)
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*driver.Request)
		want string
	}{
		{"no scheme", func(r *driver.Request) { r.Service.URL = "example.com:80" }, "want http://HOST"},
		{"no host", func(r *driver.Request) { r.Service.URL = "http:///x" }, "want http://HOST"},
		{"no URL", func(r *driver.Request) { r.Service.URL = "http://a\x7f" }, "invalid control character"},
		{"two", func(r *driver.Request) { r.Service.Instances = 2 }, "another instance cannot be started"},
		{"limits", func(r *driver.Request) { r.Service.Limits.CPUs = 1 }, "cannot have: cpus"},
		{"log", func(r *driver.Request) { r.Service.Ready.Log = "x" }, "its log is not ours to read"},
	} {
		q := request("http://127.0.0.1:1")
		c.edit(&q)
		if _, err := driver.Start(t.Context(), external.Driver{}, q); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
