package ab_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"prony/internal/ab"
	"prony/internal/plan"
)

// wire puts a request together as the encoder does: a Host among the headers
// keeps its place, and so does a Content-Length.
func wire(r plan.Request) string {
	target := r.Target
	if target == "" {
		rest := r.URL[strings.Index(r.URL, "://")+3:]
		target, _, _ = strings.Cut(rest[strings.Index(rest, "/"):], "#")
	}
	var b strings.Builder
	b.WriteString(r.Method + " " + target + " " + r.Proto + "\n")
	for _, h := range r.Headers {
		b.WriteString(h.Name + ": " + h.Value + "\n")
	}
	return b.String() + "\n" + string(r.Body)
}

// What goes on the wire was seen from the original with the same arguments,
// but for the cases marked as ours.
func TestWire(t *testing.T) {
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, []byte("body\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const tail = "User-Agent: ApacheBench/2.3\nAccept: */*\n\n"
	tests := []struct{ name, line, want string }{
		{"plain", "http://127.0.0.1:18799/", "GET / HTTP/1.0\nHost: 127.0.0.1:18799\n" + tail},
		{"default port", "http://127.0.0.1:80/a?b=c", "GET /a?b=c HTTP/1.0\nHost: 127.0.0.1\n" + tail},
		{"https port", "https://h:443/", "GET / HTTP/1.0\nHost: h\n" + tail},
		{"https other port", "https://h:80/", "GET / HTTP/1.0\nHost: h:80\n" + tail},
		{"IPv6", "http://[::1]:81/", "GET / HTTP/1.0\nHost: [::1]:81\n" + tail},
		{"everything", "--quirks -k -C a=1 -C b=2 -A u:p -P x:y -H X-A:~1 -H user-agent:foo -T t/x -p " + body + " -m PATCH http://127.0.0.1:18799/a?b#c",
			"PATCH /a?b#c HTTP/1.0\nConnection: Keep-Alive\nCookie: b=2\nAuthorization: Basic dTpw\n" +
				"Proxy-Authorization: Basic eDp5\nContent-length: 5\nContent-type: t/x\nX-A: 1\nuser-agent: foo\n" +
				"Host: 127.0.0.1:18799\nAccept: */*\n\nbody\n"},
		{"ours: all cookies, no fragment", "-C a=1 -C b=2 http://h/a?b#c", "GET /a?b HTTP/1.0\nCookie: a=1; b=2\nHost: h\n" + tail},
		{"replaced", "-i -H Accept:~q -H Host:~~hh~ http://127.0.0.1:18799/", "HEAD / HTTP/1.0\nAccept: q\nHost: hh\nUser-Agent: ApacheBench/2.3\n\n"},
		{"proxy", "-X 127.0.0.1:1 http://foo.example:81/x", "GET http://foo.example:81/x HTTP/1.0\nHost: foo.example:81\n" + tail},
		{"ours: proxy without scheme", "-X 127.0.0.1:1 foo.example/x", "GET http://foo.example/x HTTP/1.0\nHost: foo.example\n" + tail},
		{"put", "-u " + body + " http://h/", "PUT / HTTP/1.0\nContent-length: 5\nContent-type: text/plain\nHost: h\n" + tail + "body\n"},
		{"bad escape is kept", "http://h/%zz", "GET /%zz HTTP/1.0\nHost: h\n" + tail},
		{"dots are kept", "http://h/a/../b//c", "GET /a/../b//c HTTP/1.0\nHost: h\n" + tail},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := parse(t, tt.line).Plan()
			if err != nil {
				t.Fatal(err)
			}
			if got := wire(p.Load.Requests[0]); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestHeaderLines(t *testing.T) {
	o, err := ab.Parse([]string{"-H", "A: 1\r\nB: 2\r\n", "http://h/"})
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.Header{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}}
	if !reflect.DeepEqual(o.Headers, want) {
		t.Errorf("got %v, want %v", o.Headers, want)
	}
}

func TestPlanLoad(t *testing.T) {
	cert := filepath.Join(t.TempDir(), "pem")
	if err := os.WriteFile(cert, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		line string
		of   func(plan.Load) any
		want any
	}{
		{"-n 100 -c 10 http://h/", func(l plan.Load) any {
			return []any{l.Model, l.Count, l.Duration, l.Connections, l.Threads, l.Pipeline, l.Record, l.NoKeepAlive, l.SameLength, l.AbortAfter, l.Engine}
		}, []any{plan.Closed, int64(100), time.Duration(0), 10, 1, 1, int64(100), true, true, int64(1), plan.Auto}},
		{"-k -l -r http://h/", func(l plan.Load) any { return []any{l.NoKeepAlive, l.SameLength, l.AbortAfter} }, []any{false, false, int64(0)}},
		{"-t 5 http://h/", func(l plan.Load) any { return []any{l.Count, l.Duration, l.Record} }, []any{int64(50000), 5 * time.Second, int64(50000)}},
		{"-n 30000000 http://h/", func(l plan.Load) any { return []any{l.Count, l.Record} }, []any{int64(30000000), int64(20000000)}},
		{"-s 7 http://h/", func(l plan.Load) any { return l.Timeouts }, plan.Timeouts{Connect: 7 * time.Second, TLS: 7 * time.Second, Request: 7 * time.Second}},
		{"-B ::1 --engine epoll http://h/", func(l plan.Load) any { return []any{l.Sources, l.Engine} }, []any{[]string{"::1"}, plan.Epoll}},
		{"-X p:8 http://h/", func(l plan.Load) any { return l.Dial }, "p:8"},
		{"-X p http://h/", func(l plan.Load) any { return l.Dial }, "p:80"},
		{"http://h:9/a", func(l plan.Load) any { return []any{l.Requests[0].URL, l.Requests[0].Target} }, []any{"http://h:9/a", ""}},
		{"h/a", func(l plan.Load) any { return l.Requests[0].URL }, "http://h/a"},
		{"http://h/%zz", func(l plan.Load) any { return []any{l.Requests[0].URL, l.Requests[0].Target} }, []any{"http://h/", "/%zz"}},
		{"-f TLS1.2 http://h/", func(l plan.Load) any { return l.TLS }, plan.TLS{}},
		{"https://h/", func(l plan.Load) any { return l.TLS }, plan.TLS{Insecure: true, NoResume: true, ServerName: "h"}},
		{"https://127.0.0.1/", func(l plan.Load) any { return l.TLS }, plan.TLS{Insecure: true, NoResume: true, NoSNI: true}},
		{"-H Host:~a.b:1 https://127.0.0.1/", func(l plan.Load) any { return l.TLS.ServerName }, "a.b"},
		{"-I -f TLS1.2 -Z ECDHE-RSA-AES128-GCM-SHA256:AES128-SHA -E " + cert + " https://h/", func(l plan.Load) any { return l.TLS }, plan.TLS{
			Insecure: true, NoResume: true, NoSNI: true, MinVersion: "1.2", MaxVersion: "1.2", CertFile: cert, KeyFile: cert,
			Ciphers: []string{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_128_CBC_SHA"}}},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			p, err := parse(t, tt.line).Plan()
			if err != nil {
				t.Fatal(err)
			}
			if got := tt.of(p.Load); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
