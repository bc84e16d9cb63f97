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

const target = " http://127.0.0.1:8080/"

func TestParseOptions(t *testing.T) {
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		line string
		of   func(ab.Options) any
		want any
	}{
		{"", func(o ab.Options) any { return []int{o.Requests, o.Concurrency} }, []int{1, 1}},
		{"", func(o ab.Options) any { return []any{o.Method, o.Timeout, o.CellAttr} }, []any{"GET", 30 * time.Second, "bgcolor=white"}},
		{"-n 10", func(o ab.Options) any { return o.Requests }, 10},
		{"-n10", func(o ab.Options) any { return o.Requests }, 10},
		{"-n 10x", func(o ab.Options) any { return o.Requests }, 10},
		{"-n ~+7", func(o ab.Options) any { return o.Requests }, 7},
		{"-n 99999999999", func(o ab.Options) any { return o.Requests }, 1<<31 - 1},
		{"-n 9 -c 4", func(o ab.Options) any { return o.Concurrency }, 4},
		{"-n 200 -kc100", func(o ab.Options) any { return []any{o.KeepAlive, o.Concurrency} }, []any{true, 100}},
		{"-kqlSdrIn 9", func(o ab.Options) any {
			return []any{o.KeepAlive, o.Quiet, o.VariableLength, o.Short, o.NoPercentiles, o.Persist, o.NoSNI, o.Requests}
		}, []any{true, true, true, true, true, true, true, 9}},
		{"-t 30", func(o ab.Options) any { return []any{o.TimeLimit, o.Requests} }, []any{30 * time.Second, 50000}},
		{"-t 30 -n 1000000", func(o ab.Options) any { return o.Requests }, 1000000},
		{"-n 1000000 -t 30", func(o ab.Options) any { return o.Requests }, 50000},
		{"-n 9 -t 0", func(o ab.Options) any { return []any{o.TimeLimit, o.Requests} }, []any{time.Duration(0), 50000}},
		{"-s 5", func(o ab.Options) any { return o.Timeout }, 5 * time.Second},
		{"-s -1", func(o ab.Options) any { return o.Timeout }, 24 * time.Hour},
		{"-b 4096", func(o ab.Options) any { return o.Window }, 4096},
		{"-B 127.0.0.2", func(o ab.Options) any { return o.Source }, "127.0.0.2"},
		{"-p " + body + " -T a/b", func(o ab.Options) any { return []any{o.Method, string(o.Body), o.ContentType} }, []any{"POST", "hello", "a/b"}},
		{"-u " + body, func(o ab.Options) any { return []any{o.Method, o.HasBody, o.ContentType} }, []any{"PUT", true, "text/plain"}},
		{"-p /dev/null", func(o ab.Options) any { return []any{o.HasBody, len(o.Body)} }, []any{true, 0}},
		{"-p " + body + " -m PATCH", func(o ab.Options) any { return []any{o.Method, o.HasBody} }, []any{"PATCH", true}},
		{"-i", func(o ab.Options) any { return o.Method }, "HEAD"},
		{"-i -m OPTIONS", func(o ab.Options) any { return o.Method }, "OPTIONS"},
		{"-v 4", func(o ab.Options) any { return o.Verbosity }, 4},
		{"-w", func(o ab.Options) any { return o.HTML }, true},
		{"-x a", func(o ab.Options) any { return []any{o.HTML, o.TableAttr} }, []any{true, "a"}},
		{"-y a", func(o ab.Options) any { return []any{o.HTML, o.RowAttr} }, []any{true, "a"}},
		{"-z a", func(o ab.Options) any { return []any{o.HTML, o.CellAttr} }, []any{true, "a"}},
		{"-C a=1 -C b=2", func(o ab.Options) any { return o.Cookies }, []string{"a=1", "b=2"}},
		{"-H X:1 -H Y:~2~", func(o ab.Options) any { return o.Headers }, []plan.Header{{Name: "X", Value: "1"}, {Name: "Y", Value: "2"}}},
		{"-A ~~u:p", func(o ab.Options) any { return o.Credentials }, []plan.Header{{Name: "Authorization", Value: "Basic dTpw"}}},
		{"-P x:y -A u:p", func(o ab.Options) any { return len(o.Credentials) }, 2},
		{"-X proxy", func(o ab.Options) any { return []any{o.ProxyHost, o.ProxyPort} }, []any{"proxy", 80}},
		{"-X proxy:3128", func(o ab.Options) any { return []any{o.ProxyHost, o.ProxyPort} }, []any{"proxy", 3128}},
		{"-f TLS1", func(o ab.Options) any { return o.Protocol }, "1.0"},
		{"-f TLS1.1", func(o ab.Options) any { return o.Protocol }, "1.1"},
		{"-f tls1.2", func(o ab.Options) any { return o.Protocol }, "1.2"},
		{"-f TLS1.3 -f ALL", func(o ab.Options) any { return o.Protocol }, ""},
		{"-Z AES128-SHA", func(o ab.Options) any { return o.Ciphers }, "AES128-SHA"},
		{"-E " + body, func(o ab.Options) any { return o.CertFile }, body},
		{"-g a -e b", func(o ab.Options) any { return []string{o.GnuplotFile, o.CSVFile} }, []string{"a", "b"}},
		{"-k --", func(o ab.Options) any { return o.KeepAlive }, true},
		{"--quirks --plain --strict --print-spec", func(o ab.Options) any { return []bool{o.Quirks, o.Plain, o.Strict, o.PrintSpec} }, []bool{true, true, true, true}},
		{"--json - --engine=epoll", func(o ab.Options) any { return []string{o.JSON, o.Engine} }, []string{"-", "epoll"}},
		{"--json=out --engine io_uring", func(o ab.Options) any { return []string{o.JSON, o.Engine} }, []string{"out", "io_uring"}},
		{"--quirks -Q", func(o ab.Options) any { return o.Warnings }, []string{"ab: illegal option -- Q"}},
		{"--quirks --foo", func(o ab.Options) any { return o.Warnings }, []string{"ab: illegal option -- -foo"}},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			if got := tt.of(parse(t, tt.line+target)); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// The first lines and the codes are those of the original, but for the cases
// marked as ours.
func TestParseErrors(t *testing.T) {
	const conc = "ab: Cannot use concurrency level greater than total number of requests"
	tests := []struct {
		line string
		want string
		code int
	}{
		{"", "ab: wrong number of arguments", 22},
		{"-n", "ab: option requires an argument -- n\nab: wrong number of arguments", 22},
		{"-k", "ab: wrong number of arguments", 22},
		{"http://127.0.0.1/ extra", "ab: wrong number of arguments", 22},
		{"http://127.0.0.1/ -k", "ab: wrong number of arguments", 22},
		{"- http://127.0.0.1/", "ab: wrong number of arguments", 22},
		{"-n 0" + target, "Invalid number of requests\n\n", 1},
		{"-n -5" + target, "Invalid number of requests\n\n", 1},
		{"-n abc" + target, "Invalid number of requests\n\n", 1},
		{"-c 5" + target, conc, 22},
		{"-n 100 -c 20 -n 10" + target, conc, 22},
		{"-c -3" + target, "ab: Invalid Concurrency [Range 0..200000]", 22},
		{"-n 300000 -c 300000" + target, "ab: Invalid Concurrency [Range 0..200000]", 22},
		{"-p /nonexist" + target, "ab: Could not open POST data file (/nonexist): No such file or directory\n", 1},
		{"-p /dev/null -i" + target, "Cannot mix HEAD with other methods\n\n", 1},
		{"-i -p /dev/null" + target, "Cannot mix POST with other methods\n\n", 1},
		{"-m GET -u /dev/null" + target, "Cannot mix PUT with other methods\n\n", 1},
		{"-Z nope" + target, "error setting ciphersuite list [nope]\n", 1},
		{"-E /nonexist" + target, "unable to get certificate from '/nonexist'\n", 1},
		{"-A " + strings.Repeat("x", 800) + target, "Authentication credentials too long\n\n", 1},
		{"-P " + strings.Repeat("x", 800) + target, "Proxy credentials too long\n\n", 1},
		{"-h", "Usage: ab [options]", 22},
		{"--help", "Usage: ab [options]", 22},
		// Ours: what the original drops, or dies of after the banner.
		{"-Q" + target, "ab: illegal option -- Q\nUsage", 22},
		{"-kQ" + target, "ab: illegal option -- Q\nUsage", 22},
		{"--foo" + target, "ab: illegal option -- -foo\nUsage", 22},
		{"--plain=1" + target, "ab: illegal option -- -plain=1\nUsage", 22},
		{"--json", "ab: option requires an argument -- -json\n", 22},
		{"--engine x" + target, "ab: unknown engine \"x\"", 22},
		{"--quirks -Qk" + target, "ab: wrong number of arguments", 22},
		{"-c 0" + target, "ab: Invalid Concurrency [Range 1..200000]", 22},
		{"-s 0" + target, "Invalid timeout\n\n", 1},
		{"-t -1" + target, "Invalid time limit\n\n", 1},
		{"-f SSL3" + target, "ab: protocol SSL3 is not supported", 1},
		{"-f FOO" + target, "ab: unknown protocol FOO", 1},
		{"-B nope" + target, "ab: -B needs an IP address", 1},
		{"-H nocolon" + target, "ab: invalid header \"nocolon\"", 1},
		{"-X :80" + target, "ab: invalid proxy", 1},
		{"-X h:x" + target, "ab: invalid proxy", 1},
		{"-X h:80 https://127.0.0.1/", "ab: https through a proxy", 1},
		{"-Z HIGH:!aNULL" + target, "error setting ciphersuite list [HIGH:!aNULL]\nno cipher match: \"HIGH\"", 1},
		{"-Z TLS_AES_128_GCM_SHA256" + target, "error setting ciphersuite list [TLS_AES_128_GCM_SHA256]\nthe suites of TLS 1.3", 1},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			u := usage(t, words(tt.line))
			if !strings.HasPrefix(u.Stderr, tt.want) || u.Code != tt.code || u.Stdout != "" {
				t.Errorf("got %q, %d; want %q, %d", u.Stderr, u.Code, tt.want, tt.code)
			}
			if full := strings.HasSuffix(u.Stderr, ab.Usage()); full != (u.Code == 22) {
				t.Errorf("usage printed: %v, code %d", full, u.Code)
			}
			if u.Error() == "" || strings.Contains(u.Error(), "\n") {
				t.Errorf("Error() = %q, want one line", u.Error())
			}
		})
	}
}

func TestParseURL(t *testing.T) {
	type parts struct {
		TLS  bool
		Host string
		Port int
		Path string
	}
	tests := []struct {
		url  string
		want parts // no Host: invalid
	}{
		{"http://127.0.0.1/", parts{false, "127.0.0.1", 80, "/"}},
		{"https://example.com/a?b", parts{true, "example.com", 443, "/a?b"}},
		{"127.0.0.1:8080/x", parts{false, "127.0.0.1", 8080, "/x"}},
		{"localhost/x/", parts{false, "localhost", 80, "/x/"}},
		{"http://[::1]:8080/", parts{false, "::1", 8080, "/"}},
		{"http://[::1]/", parts{false, "::1", 80, "/"}},
		{"http://127.0.0.1", parts{}},
		{"http://127.0.0.1:8080", parts{}},
		{"", parts{}},
		{"http:///x", parts{}},
		{"http://80/", parts{}},
		{"http://127.0.0.1:0/", parts{}},
		{"http://127.0.0.1:99999/", parts{}},
		{"http://127.0.0.1:/", parts{}},
		{"http://127.0.0.1:80a/", parts{}},
		{"http://u:p@127.0.0.1/", parts{}},
		{"http://[fe80::1%lo]:80/", parts{}},
		{"http://[::1]x/", parts{}},
		{"http://[::1/", parts{}},
		{"HTTP://127.0.0.1/", parts{}},
		{"http://127.0.0.1?x=/1", parts{}},
	}
	for _, tt := range tests {
		t.Run(tt.url, func(t *testing.T) {
			if tt.want.Host == "" {
				u := usage(t, []string{tt.url})
				if !strings.HasPrefix(u.Stderr, "ab: invalid URL\nUsage") || u.Code != 22 {
					t.Errorf("got %q, %d", u.Stderr, u.Code)
				}
				return
			}
			o := parse(t, tt.url)
			if got := (parts{o.TLS, o.Host, o.Port, o.Path}); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// Every line of the original's usage is in ours, in place.
func TestUsage(t *testing.T) {
	if want := read(t, "testdata/usage.txt"); !strings.HasPrefix(ab.Usage(), want) {
		t.Error(firstDifference(ab.Usage(), want))
	}
}

func TestShowVersion(t *testing.T) {
	for _, line := range []string{"-V", "-n 5 -V nonsense", "--version"} {
		o, err := ab.Parse(words(line))
		if err != nil || !o.ShowVersion {
			t.Errorf("Parse(%q) = %v, %v; want ShowVersion", line, o.ShowVersion, err)
		}
		if _, err := o.Plan(); err == nil {
			t.Errorf("Parse(%q).Plan() has no error", line)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"-kc 10 -n 100 http://h/", "-t 5 -H a:b h/", "--json x --quirks -Q [::1]:8/", "-X p:1 -C a -A b http://h/#x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Fields(line)
		for _, a := range args { // files of the machine are no input
			if strings.ContainsAny(a, "puE") && strings.HasPrefix(a, "-") {
				return
			}
		}
		o, err := ab.Parse(args)
		if err != nil || o.ShowVersion {
			return
		}
		p, err := o.Plan()
		if err != nil {
			t.Fatalf("Parse(%q) is good, Plan is not: %v", args, err)
		}
		l := p.Load
		if l.Count < 1 || int64(l.Connections) > l.Count || l.Connections < 1 || l.Timeouts.Request <= 0 || len(l.Requests) != 1 {
			t.Errorf("Parse(%q) makes the plan %+v", args, l)
		}
	})
}
