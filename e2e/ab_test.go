package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// readAB reads the labelled lines of ab's report; of two with one label the
// first.
func readAB(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		label, value, ok := strings.Cut(line, ":")
		if _, known := all[label]; ok && !known && !strings.HasPrefix(line, " ") {
			all[label] = strings.TrimSpace(value)
		}
	}
	return all
}

func rateOf(t *testing.T, report map[string]string) float64 {
	t.Helper()
	word, _, _ := strings.Cut(report["Requests per second"], " ")
	return value(t, word, "")
}

// body is a report without the banner, whose words differ.
func body(t *testing.T, report string) string {
	t.Helper()
	_, rest, ok := strings.Cut(report, "Benchmarking ")
	if !ok {
		t.Fatalf("found no line of its start in\n%s", report)
	}
	// The ciphers are those of two libraries, and the doubts speak of ab's rounding.
	rest = regexp.MustCompile(`(?m)^(SSL/TLS Protocol|Server Temp Key): .*$`).ReplaceAllString(rest, "$1")
	return regexp.MustCompile(`(?m)^(WARNING|ERROR): The median .*\n .*\n`).ReplaceAllString(rest, "")
}

// TestABLikeAB: the same arguments, the same server, ab and prony ab.
func TestABLikeAB(t *testing.T) {
	ab := need(t, "ab", "apt-get install apache2-utils")
	n := startNginx(t)
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, []byte("a=b&c=d"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, args string }{
		{"plain", "-n 2000 -c 20 URL/html/test.html"},
		{"kept", "-k -n 2000 -c 20 URL/"},
		{"quiet, without a scheme", "-q -n 500 -c 5 HOST/"},
		{"POST", "-n 1000 -c 10 -p " + file + " -T application/x-www-form-urlencoded URL/"},
		{"404", "-n 1000 -c 10 URL/missing"},
		{"HEAD", "-n 1000 -c 10 -i URL/"},
		{"HEAD, kept", "-n 1000 -c 10 -i -k URL/"},
		{"large", "-n 200 -c 10 URL/large"},
		{"short tables", "-n 1000 -c 10 -S -d URL/"},
		{"any length", "-n 500 -c 10 -l URL/"},
		{"TLS", "-n 200 -c 10 -f TLS1.2 TLS/"},
		{"headers", "-n 500 -c 10 -H X-A:b -C a=b -A user:secret URL/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := strings.Fields(strings.NewReplacer("URL", n.url(""), "TLS/", n.tls("/"), "HOST", strings.TrimPrefix(n.url(""), "http://")).Replace(tt.args))
			before := n.counters(t)
			original := command(t, ab, args...)
			middle := n.counters(t)
			ours := command(t, binary, append([]string{"ab", "--plain"}, args...)...)
			after := n.counters(t)
			if ours.code != original.code {
				t.Errorf("got status %d, want %d\n%s", ours.code, original.code, ours.stderr)
			}
			sameShape(t, body(t, ours.stdout), body(t, original.stdout))
			if strings.Join(shape(ours.stderr), "\n") != strings.Join(shape(original.stderr), "\n") {
				t.Errorf("got progress\n%s\nwant\n%s", ours.stderr, original.stderr)
			}
			got, want := readAB(body(t, ours.stdout)), readAB(body(t, original.stdout))
			sameFigures(t, got, want)
			if a, b := after.since(middle).requests, middle.since(before).requests; a != b {
				t.Errorf("nginx counted %d requests of prony, %d of ab", a, b)
			}
			alike(t, rateOf(t, got), rateOf(t, want), func() (float64, float64) {
				ours, original := command(t, binary, append([]string{"ab"}, args...)...), command(t, ab, args...)
				return rateOf(t, readAB(ours.stdout)), rateOf(t, readAB(original.stdout))
			})
		})
	}
}

// sameFigures compares what does not depend on time.
func sameFigures(t *testing.T, got, want map[string]string) {
	t.Helper()
	for label, w := range want {
		g, ok := got[label]
		switch label {
		case "Time taken for tests", "Time per request", "Transfer rate", "Connect", "Processing", "Waiting", "Total", "Requests per second":
			if !ok {
				t.Errorf("got no %s", label)
			}
		default:
			if g != w {
				t.Errorf("%s: got %q, want %q", label, g, w)
			}
		}
	}
}

// TestPublishedABCommands: verbatim but for the address and the number of
// requests.
func TestPublishedABCommands(t *testing.T) {
	n := startNginx(t)
	host := strings.TrimPrefix(n.url(""), "http://")
	for _, line := range []string{"ab -c 100 -n 5000 HOST/html/test.html", "ab -c 200 -n 3000 HOST/api/html/test.html"} {
		t.Run(line, func(t *testing.T) {
			before := n.counters(t)
			got, out := prony(t, strings.Fields(strings.ReplaceAll(line, "HOST", host))...)
			report := readAB(out.stdout)
			want := strings.Fields(line)[4]
			if report["Complete requests"] != want || report["Failed requests"] != "0" || report["Concurrency Level"] != strings.Fields(line)[2] {
				t.Errorf("got %v", report)
			}
			if counted := n.settled(t, before, got.sent()); itoa(counted.requests) != want || itoa(got.sent()) != want {
				t.Errorf("nginx counted %d requests, prony %d, want %s", counted.requests, got.sent(), want)
			}
		})
	}
}
