package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"prony/internal/testserver"
)

func writeScript(t *testing.T, lua string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.lua")
	if err := os.WriteFile(file, []byte(lua), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestF3MeasuredAndCorrectedApart(t *testing.T) {
	url := serveKnown(t, testserver.Config{Stall: testserver.Stall{AtRequest: 200, For: 400e6}})
	o := prony(t, "wrk", "-t1", "-c2", "-d1s", "--latency", url)
	if !regexp.MustCompile(`(?m)^Note: latencies are as measured; wrk would add`).MatchString(o.out) {
		t.Errorf("nothing tells measured from invented samples:\n%s", o.out)
	}
}

func TestF10NestedTablesAreCopied(t *testing.T) {
	file := writeScript(t, `
function setup(thread) thread:set("deep", {a = {b = {c = "kept"}}}) end
function init(args) wrk.path = "/bytes/10?" .. deep.a.b.c end`)
	o := prony(t, "wrk", "-t1", "-c1", "-d1s", "-s", file, serveKnown(t, testserver.Config{}))
	if o.code != exitGood || !strings.Contains(o.out, "requests in") {
		t.Errorf("status %d\n%s%s", o.code, o.out, o.err)
	}
}

func TestF11OptionsForTheScriptWarn(t *testing.T) {
	file := writeScript(t, `function init(args) end`)
	o := prony(t, "wrk", "-t1", "-c1", "-d1s", "-s", file, serveKnown(t, testserver.Config{}), "--", "--timeout", "5s")
	if !strings.Contains(o.out+o.err, "--timeout") {
		t.Errorf("no word about --timeout behind --:\n%s%s", o.out, o.err)
	}
}

func TestF25SameModelAsTheOriginal(t *testing.T) {
	url := serveKnown(t, testserver.Config{})
	wrk := prony(t, "wrk", "-t2", "-c4", "-d3s", "--print-spec", url).out
	ab := prony(t, "ab", "-n", "10", "-c", "2", "--print-spec", url+"/").out
	if strings.Contains(wrk, "rate:") || !strings.Contains(wrk, "connections: 4") || !strings.Contains(wrk, "duration: 3s") {
		t.Errorf("wrk became\n%s", wrk)
	}
	if !strings.Contains(ab, "HTTP/1.0") || !strings.Contains(ab, "count: 10") || !strings.Contains(ab, "keepalive: false") {
		t.Errorf("ab became\n%s", ab)
	}
}

func TestF54LengthFailuresAreExplained(t *testing.T) {
	url := serveKnown(t, testserver.Config{})
	o := prony(t, "ab", "-n", "20", "-c", "2", url+"/variable")
	if !regexp.MustCompile(`\(Connect: 0, Receive: 0, Length: [1-9]\d*, Exceptions: 0\)`).MatchString(o.out) {
		t.Errorf("no length failures:\n%s", o.out)
	}
	if o := prony(t, "ab", "-l", "-n", "20", "-c", "2", url+"/variable"); !regexp.MustCompile(`Failed requests: +0\n`).MatchString(o.out) {
		t.Errorf("-l still fails:\n%s", o.out)
	}
}

func TestF55NumbersWithKeepAliveAndTLS(t *testing.T) {
	cfg, _ := testserver.SelfSigned("127.0.0.1")
	for name, c := range map[string]testserver.Config{"plain": {}, "TLS": {TLS: cfg}} {
		url := serveKnown(t, c)
		for _, args := range [][]string{{"ab", "-k"}, {"ab"}} {
			o := prony(t, append(args, "-n", "103", "-c", "10", url+"/")...)
			if !regexp.MustCompile(`Complete requests: +103\n`).MatchString(o.out) || o.code != 0 {
				t.Errorf("%s, %v: status %d\n%s%s", name, args, o.code, o.out, o.err)
			}
		}
	}
}

func TestF56AlwaysAReport(t *testing.T) {
	url := serveKnown(t, testserver.Config{})
	for _, path := range []string{"/chunked/5x1000", "/until-close", "/http10-keepalive", "/bytes/0"} {
		for _, flags := range [][]string{{"ab", "-k"}, {"ab"}} {
			o := prony(t, append(flags, "-n", "20", "-c", "4", url+path)...)
			if !regexp.MustCompile(`Complete requests: +20\n`).MatchString(o.out) {
				t.Errorf("%v %s: status %d\n%s%s", flags, path, o.code, o.out, o.err)
			}
		}
	}
}
