package catalog_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"prony/internal/catalog"
	"prony/internal/testserver"
)

// live is a trial of our catalog with the real command. What is not on the
// machine is skipped by the caller.
func live(t *testing.T) catalog.Trial {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "prony")
	if out, err := exec.Command("go", "build", "-o", file, "prony/cmd/prony").CombinedOutput(); err != nil {
		absent(t, fmt.Errorf("the command does not build: %w\n%s", err, out))
	}
	return catalog.Trial{Catalog: ours(t), Cache: filepath.Join(dir, "builds"), Prony: file}
}

// absent skips a test, or fails it where all have to run.
func absent(t *testing.T, err error) {
	t.Helper()
	if required() {
		t.Fatalf("PRONY_E2E=require: %v", err)
	}
	t.Skip(err)
}

// required reports whether tests may not be skipped.
func required() bool { return os.Getenv("PRONY_E2E") == "require" }

// skipMissing skips what this machine lacks.
func skipMissing(t *testing.T, err error) {
	t.Helper()
	var missing *catalog.MissingError
	if errors.As(err, &missing) {
		t.Skip(err)
	}
}

// TestLive starts every entry and asks for its routes; those in Java have
// [TestLiveJava].
func TestLive(t *testing.T) {
	tr := live(t)
	for _, e := range tr.Catalog.Entries() {
		if isJava(e) {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			if e.Name == "iris" && !moduleIsThere("github.com/kataras/iris") {
				t.Skip("its module is not in the cache, and a test fetches nothing")
			}
			o, err := tr.Run(t.Context(), e.Name)
			skipMissing(t, err)
			if err != nil {
				t.Fatal(err)
			}
			if !o.Good() || len(o.Routes) == 0 {
				t.Errorf("got %+v", o)
			}
		})
	}
}

func moduleIsThere(module string) bool {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(strings.TrimSpace(string(out)), module))
	return err == nil
}

// TestLiveKeepAlive counts the connections of every gateway but those in Java.
func TestLiveKeepAlive(t *testing.T) {
	tr := live(t)
	for _, e := range tr.Catalog.Entries() {
		if e.Kind == catalog.Gateway && !isJava(e) {
			keepAlive(t, tr, e)
		}
	}
}

// keepAlive counts, at the upstream, the connections that a gateway opens for 40
// requests on one connection: each its own, or a few of them again.
func keepAlive(t *testing.T, tr catalog.Trial, e *catalog.Entry) {
	t.Helper()
	const requests = 40
	for _, keepalive := range []string{"on", "off"} {
		t.Run(e.Name+" keepalive="+keepalive, func(t *testing.T) {
			_, _, err := e.Render(nil, catalog.Place{Port: 1, Work: "/w", Cache: "/c", Upstreams: []string{"a:1"}})
			skipMissing(t, err)
			s, err := testserver.Start(testserver.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			gateway := tr.Serve(t, e.Name, map[string]string{"keepalive": keepalive}, hostPort(s.URL()))
			before := s.Stats()
			c := dial(t, gateway)
			for range requests {
				if status, _, body := c.get(t, "/"); !strings.Contains(status, " 200 ") || body != "ok\n" {
					t.Fatalf("got %q with %q", status, body)
				}
			}
			after := s.Stats()
			got := after.Accepted - before.Accepted
			if n := after.Requests - before.Requests; n != requests {
				t.Errorf("%d requests arrived, want %d", n, requests)
			}
			if keepalive == "on" && got > 4 || keepalive == "off" && got != requests {
				t.Errorf("got %d connections for %d requests", got, requests)
			}
		})
	}
}

// TestLiveBytes holds the answers of OpenResty against the published ones: 294
// bytes directly and 317 through the gateway, each 4 less where nginx stands in
// and says Server: nginx.
func TestLiveBytes(t *testing.T) {
	tr := live(t)
	e, err := tr.Catalog.Entry("openresty")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = e.Render(nil, catalog.Place{Port: 1, Work: "/w"})
	skipMissing(t, err)
	direct := tr.Serve(t, "openresty", nil)
	through := tr.Serve(t, "openresty-gateway", nil, direct)
	for address, want := range map[string]int{direct: 294, through: 317} {
		got, head := answerBytes(t, address, "/")
		if strings.Contains(head, "Server: nginx\r\n") {
			want -= len("openresty") - len("nginx")
		}
		if got != want {
			t.Errorf("got %d bytes, want %d:\n%s", got, want, head)
		}
	}
}

// answerBytes are the bytes of an answer that comes in one chunk, and what they
// begin with.
func answerBytes(t *testing.T, address, path string) (n int, head string) {
	t.Helper()
	status, fields, body := dial(t, address).get(t, path)
	chunk := fmt.Sprintf("%x\r\n\r\n0\r\n\r\n", len(body))
	return len(status) + len(fields) + len(body) + len(chunk), status + fields
}

func hostPort(url string) string {
	return strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")
}

// client is a connection that a test speaks on by hand.
type client struct {
	net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, address string) client {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return client{c, bufio.NewReader(c)}
}

// get reads an answer in pieces: status line, fields with the empty line, and
// the body, of one chunk if it is chunked.
func (c client) get(t *testing.T, path string) (status, head, body string) {
	t.Helper()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	line := func() string {
		s, err := c.in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	status = line()
	length, chunked := 0, false
	for {
		s := line()
		head += s
		if s == "\r\n" {
			break
		}
		_, _ = fmt.Sscanf(strings.ToLower(s), "content-length: %d", &length) // other fields are not it
		chunked = chunked || strings.EqualFold(s, "Transfer-Encoding: chunked\r\n")
	}
	if chunked {
		if _, err := fmt.Sscanf(line(), "%x", &length); err != nil {
			t.Fatal(err)
		}
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(c.in, text); err != nil {
		t.Fatal(err)
	}
	if chunked {
		if end := line() + line() + line(); end != "\r\n0\r\n\r\n" {
			t.Fatalf("the body ends with %q", end)
		}
	}
	return status, head, string(text)
}
