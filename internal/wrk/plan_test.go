package wrk_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"prony/internal/plan"
	"prony/internal/wrk"
)

func TestPlan(t *testing.T) {
	o, err := wrk.Parse([]string{"-t3", "-c10", "-d5s", "--timeout", "4", "-s", "x.lua", "-H", "A: 1", "--engine", "epoll",
		"http://h:81/p?q#f", "--", "one"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := o.Plan()
	if err != nil {
		t.Fatal(err)
	}
	want := plan.Plan{Load: plan.Load{
		Requests: []plan.Request{{Method: "GET", URL: "http://h:81/p?q", Headers: []plan.Header{{Name: "A", Value: "1"}},
			Weight: 1, Target: "/p?q", Host: "h:81"}},
		Model: plan.Closed, Connections: 10, Threads: 3, Duration: 5 * time.Second, Drain: -1,
		Script:   &plan.Script{File: "x.lua", Args: []string{"http://h:81/p?q#f", "one"}},
		Timeouts: plan.Timeouts{Request: 4 * time.Second},
		TLS:      plan.TLS{Insecure: true, NoResume: true}, Engine: plan.Epoll,
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestPlanURL(t *testing.T) {
	tests := []struct {
		url                    string
		quirks                 bool
		wantURL, target, wants string
	}{
		{"http://h", false, "http://h/", "/", "h"},
		{"http://h/a#f", false, "http://h/a", "/a", "h"},
		{"http://h/a#f", true, "http://h/a", "/a#f", "h"},
		{"http://h?x=1", false, "http://h/?x=1", "/?x=1", "h"},
		{"http://h?x=1", true, "http://h/", "/", "h"},
		{"https://[::1]/", false, "https://[::1]/", "/", "[::1]"},
		{"HTTP://u:p@h:8/", false, "http://h:8/", "/", "h:8"},
		{"ftp://h/", false, "http://h:21/", "/", "h"},
		{"https://h:444/x", false, "https://h:444/x", "/x", "h:444"},
	}
	for _, test := range tests {
		p, err := wrk.Options{URL: test.url, Quirks: test.quirks}.Plan()
		if err != nil {
			t.Errorf("%s: %v", test.url, err)
			continue
		}
		r := p.Load.Requests[0]
		if r.URL != test.wantURL || r.Target != test.target || r.Host != test.wants {
			t.Errorf("%s: got %s, target %s, host %s, want %s, %s, %s", test.url, r.URL, r.Target, r.Host, test.wantURL, test.target, test.wants)
		}
	}
	_, err := wrk.Options{URL: "zork://h/"}.Plan()
	if err == nil || !strings.HasPrefix(err.Error(), "unable to resolve h:zork") {
		t.Errorf("got error %v, want one about h:zork", err)
	}
}

func TestHeaders(t *testing.T) {
	headers := []string{"B: 2", "A: 1", "B: 3", "b: 4", "Host: other", "X:5", "none", ": empty", "Content-Length: 9", "content-length: 9", "E: ", "U: http://x"}
	tests := []struct {
		name   string
		quirks bool
		want   string
	}{
		{"ours", false, "[{B 3} {A 1} {b 4} {X 5} {E } {U http://x}]"},
		{"quirks", true, "[{B 3} {A 1} {b 4} {E } {U http://x}]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := wrk.Options{URL: "http://h/", Headers: headers, Quirks: test.quirks}.Plan()
			if err != nil {
				t.Fatal(err)
			}
			r := p.Load.Requests[0]
			if got := strings.ReplaceAll(sprint(r.Headers), "\n", ""); got != test.want || r.Host != "other" {
				t.Errorf("got %s and host %s, want %s and other", got, r.Host, test.want)
			}
		})
	}
}
