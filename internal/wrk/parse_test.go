package wrk_test

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"prony/internal/wrk"
)

const url = "http://127.0.0.1:8080/"

// options are the defaults with changes.
func options(change func(*wrk.Options)) wrk.Options {
	o := wrk.Options{Threads: 2, Connections: 10, Duration: 10 * time.Second, Timeout: 2 * time.Second, URL: url}
	change(&o)
	return o
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, args string // separated by blanks; _ stands for a blank
		want       func(o *wrk.Options)
	}{
		{"nothing", url, func(o *wrk.Options) {}},
		{"attached", "-t8 -c4096 -d60s " + url, func(o *wrk.Options) { o.Threads, o.Connections, o.Duration = 8, 4096, time.Minute }},
		{"apart", "-t 8 -c 4k -d 1m " + url, func(o *wrk.Options) { o.Threads, o.Connections, o.Duration = 8, 4000, time.Minute }},
		{"long", "--threads=8 --connections 16 --duration=2h " + url, func(o *wrk.Options) { o.Threads, o.Connections, o.Duration = 8, 16, 2*time.Hour }},
		{"abbreviated", "--th 8 --con=16 --l --d 3 " + url, func(o *wrk.Options) {
			o.Threads, o.Connections, o.Latency, o.Duration = 8, 16, true, 3*time.Second
		}},
		{"behind the URL", url + " -t8 --latency -c16", func(o *wrk.Options) { o.Threads, o.Connections, o.Latency = 8, 16, true }},
		{"undocumented letters", "-L -T30 " + url, func(o *wrk.Options) { o.Latency, o.Timeout = true, 30*time.Second }},
		{"cluster", "-Lvc16 " + url, func(o *wrk.Options) { o.Latency, o.Version, o.Connections = true, true, 16 }},
		{"last one counts", "-c16 -c32 " + url, func(o *wrk.Options) { o.Connections = 32 }},
		{"headers", "-H A:_1 --header=B:_2 " + url, func(o *wrk.Options) { o.Headers = []string{"A: 1", "B: 2"} }},
		{"script", "-s x.lua " + url + " one two", func(o *wrk.Options) { o.Script, o.ScriptArgs = "x.lua", []string{"one", "two"} }},
		{"after --", "-s x.lua -- " + url + " --timeout 30", func(o *wrk.Options) {
			o.Script, o.ScriptArgs = "x.lua", []string{"--timeout", "30"}
		}},
		{"capital units", "-c1K -d1M --timeout 1H " + url, func(o *wrk.Options) { o.Connections, o.Duration, o.Timeout = 1000, time.Minute, time.Hour }},
		{"as scanf reads", "-c +16 -d _1_s_x " + url, func(o *wrk.Options) { o.Connections, o.Duration = 16, time.Second }},
		{"our own", "--quirks --plain --strict --json out.json --engine=epoll --print-spec " + url, func(o *wrk.Options) {
			o.Quirks, o.Plain, o.Strict, o.JSON, o.Engine, o.PrintSpec = true, true, true, "out.json", "epoll", true
		}},
		{"our own, abbreviated", "--q --pl --st --j o --print " + url, func(o *wrk.Options) {
			o.Quirks, o.Plain, o.Strict, o.JSON, o.PrintSpec = true, true, true, "o", true
		}},
		{"wrk's names first", "--s x.lua " + url, func(o *wrk.Options) { o.Script = "x.lua" }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := wrk.Parse(split(test.args))
			if err != nil {
				t.Fatalf("parse: %v", err)
			}
			want := options(test.want)
			if len(got.ScriptArgs) == 0 {
				got.ScriptArgs = nil
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func split(args string) []string {
	list := strings.Fields(args)
	for i := range list {
		list[i] = strings.ReplaceAll(list[i], "_", " ")
	}
	return list
}

// TestRejections: the messages are those that wrk 4.1 with glibc prints; an
// empty one is the usage alone.
func TestRejections(t *testing.T) {
	tests := []struct{ name, args, want string }{
		{"nothing", "", ""},
		{"no URL", "-t2", ""},
		{"help", "--help", ""},
		{"question mark", "-? " + url, ""},
		{"h is no letter", "-h", "wrk: invalid option -- 'h'"},
		{"r", "-r " + url, ""},
		{"unknown letter", "-x " + url, "wrk: invalid option -- 'x'"},
		{"unknown name", "--foo=1 " + url, "wrk: unrecognized option '--foo=1'"},
		{"ambiguous", "--t 2 " + url, "wrk: option '--t' is ambiguous; possibilities: '--threads' '--timeout'"},
		{"ambiguous help", "--he", "wrk: option '--he' is ambiguous; possibilities: '--header' '--help'"},
		{"argument missing", "-c10 -c", "wrk: option requires an argument -- 'c'"},
		{"argument missing, long", "--th", "wrk: option '--threads' requires an argument"},
		{"argument unwanted", "--lat=3 " + url, "wrk: option '--latency' doesn't allow an argument"},
		{"fraction", "-d 1.5s " + url, ""},
		{"milliseconds", "-d 100ms " + url, ""},
		{"days", "-d 1d " + url, ""},
		{"unknown unit", "-t2x " + url, ""},
		{"long unit", "-c 2kb " + url, ""},
		{"hexadecimal", "-t 0x2 " + url, ""},
		{"empty number", "-t _ " + url, ""},
		{"word", "--timeout " + url, ""},
		{"no threads", "-t0 " + url, ""},
		{"no duration", "-d0 " + url, ""},
		{"no connections", "-c0 " + url, "number of connections must be >= threads"},
		{"few connections", "-t2 -c1 " + url, "number of connections must be >= threads"},
		{"negative", "-t -1 " + url, "number of connections must be >= threads"},
		{"overflow", "-t 18446744073709551616P " + url, "number of connections must be >= threads"},
		{"URL before connections", "-t2 -c1 a", "invalid URL: a"},
		{"timeout zero", "-T0 " + url, "timeout must be at least 1s"},
		{"unknown engine", "--engine=x " + url, `wrk: option '--engine': unknown engine "x", want one of [auto io_uring epoll goroutines]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := wrk.Parse(split(test.args))
			var usage *wrk.UsageError
			if !errors.As(err, &usage) {
				t.Fatalf("got error %v, want a usage error", err)
			}
			if got := strings.TrimSuffix(usage.Stderr, "\n"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if usage.Code != 1 || usage.Stdout != wrk.Usage() || usage.Error() == "" {
				t.Errorf("got code %d, want 1 and the usage on stdout", usage.Code)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	_, err := wrk.Parse([]string{"-v", "-x"})
	var usage *wrk.UsageError
	if !errors.As(err, &usage) || !usage.Version {
		t.Errorf("got %v, want an error that asks for the version line", err)
	}
	if got, want := wrk.VersionLine("0.1.0", "epoll"), "wrk prony/0.1.0 [epoll] compatible with wrk 4.2.0\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestUsage: what wrk prints comes first, byte for byte.
func TestUsage(t *testing.T) {
	want, err := os.ReadFile("testdata/wrk-4.1-usage.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(wrk.Usage(), string(want)) {
		t.Errorf("got\n%swant it to begin with\n%s", wrk.Usage(), want)
	}
	for _, name := range []string{"quirks", "plain", "strict", "json", "engine", "print-spec"} {
		if !strings.Contains(wrk.Usage(), "--"+name+" ") {
			t.Errorf("the usage does not mention --%s", name)
		}
	}
}

func TestTarget(t *testing.T) {
	tests := []struct {
		url          string
		want, quirks wrk.Target // an empty host: refused
	}{
		{url, wrk.Target{"http", "127.0.0.1", "8080", "/"}, wrk.Target{"http", "127.0.0.1", "8080", "/"}},
		{"https://h", wrk.Target{"https", "h", "", "/"}, wrk.Target{"https", "h", "", "/"}},
		{"http://[::1]:80/a?b", wrk.Target{"http", "::1", "80", "/a?b"}, wrk.Target{"http", "::1", "80", "/a?b"}},
		{"http://u:p@h/a", wrk.Target{"http", "h", "", "/a"}, wrk.Target{"http", "h", "", "/a"}},
		{"http://@h/", wrk.Target{"http", "h", "", "/"}, wrk.Target{"http", "h", "", "/"}},
		{"http://h/a?b#c", wrk.Target{"http", "h", "", "/a?b"}, wrk.Target{"http", "h", "", "/a?b#c"}},
		{"http://h?x=1", wrk.Target{"http", "h", "", "/?x=1"}, wrk.Target{"http", "h", "", "/"}},
		{"http://h#c", wrk.Target{"http", "h", "", "/"}, wrk.Target{}},
		{"http://a_b/", wrk.Target{"http", "a_b", "", "/"}, wrk.Target{}},
		{"HTTPS://h/", wrk.Target{"https", "h", "", "/"}, wrk.Target{"HTTPS", "h", "", "/"}},
		{"http://h:00080/", wrk.Target{"http", "h", "00080", "/"}, wrk.Target{"http", "h", "00080", "/"}},
	}
	for _, refused := range []string{"", "a", "http://", "http:///x", "1http://a", "h+p://a", "//a/", "/a", "http:/a", "unix:///x",
		"http://a b/", "http://a/b c", "http://a/\u00e4", "http://\u00e4/", "http://a:/", "http://a:1x/", "http://a:65536/", "http://a:99999/",
		"http://a@b@c/", "http://[::1/", "http://[zz]/", "http://[::1]x/", "http://a%20/", "http://a/\r\nX: 1"} {
		tests = append(tests, struct {
			url          string
			want, quirks wrk.Target
		}{url: refused})
	}
	for _, test := range tests {
		t.Run(test.url, func(t *testing.T) {
			for quirks, want := range map[bool]wrk.Target{false: test.want, true: test.quirks} {
				got, err := wrk.Options{URL: test.url, Quirks: quirks}.Target()
				if got != want && want.Host != "" || (err == nil) != (want.Host != "") {
					t.Errorf("quirks %v: got %+v, %v, want %+v", quirks, got, err, want)
				}
				if err != nil && err.Error() != "invalid URL: "+test.url {
					t.Errorf("got message %q", err)
				}
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"-t8 -c16 " + url, "--th=2 --\x00", "-Lvc", "-d 1m http://[::1]:8/x?y#z", "--t", "http://a@b:1/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := wrk.Parse(strings.Split(text, " "))
		if err != nil {
			return
		}
		if o.Threads < 1 || o.Connections < o.Threads || o.Duration <= 0 || o.Timeout <= 0 {
			t.Errorf("accepted %+v", o)
		}
		p, err := o.Plan()
		if err == nil && (!strings.HasPrefix(p.Load.Requests[0].Target, "/") || strings.ContainsAny(p.Load.Requests[0].Target, " \r\n")) {
			t.Errorf("got target %q", p.Load.Requests[0].Target)
		}
	})
}
