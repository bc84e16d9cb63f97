package testserver_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"prony/internal/testserver"
)

// start runs a server for the length of the test.
func start(t *testing.T, c testserver.Config) *testserver.Server {
	t.Helper()
	s, err := testserver.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// dial opens a connection that gives up after ten seconds.
func dial(t *testing.T, s *testserver.Server) net.Conn {
	t.Helper()
	c, err := net.Dial(s.Addr().Network(), s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// get sends a request and returns the parsed answer with its body.
func get(t *testing.T, c net.Conn, br *bufio.Reader, path string) (*http.Response, string) {
	t.Helper()
	write(t, c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
	return answer(t, br, "GET")
}

func answer(t *testing.T, br *bufio.Reader, method string) (*http.Response, string) {
	t.Helper()
	resp, err := http.ReadResponse(br, &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// eventually waits for a condition that must come true without further help.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("never came true: %s", what)
		}
		time.Sleep(time.Millisecond) //house:sleep polls a condition, with a deadline
	}
}

func TestConfigMistakes(t *testing.T) {
	tests := []struct {
		name   string
		config testserver.Config
		want   []string
	}{
		{"network", testserver.Config{Network: "udp"}, []string{`network "udp"`}},
		{"unix without path", testserver.Config{Network: "unix"}, []string{"needs a path"}},
		{"all at once", testserver.Config{ErrorShare: 1.5, Delay: -1, Backlog: -1},
			[]string{"error share 1.5", "delay: is negative", "backlog -1"}},
		{"header splitting", testserver.Config{Headers: []testserver.Header{{Name: "A", Value: "b\r\nC: d"}}}, []string{"line break"}},
		{"two stall starts", testserver.Config{Stall: testserver.Stall{AtRequest: 1, After: 1}}, []string{"stall: has both"}},
		{"address", testserver.Config{Address: "127.0.0.1:99999"}, []string{"listen on tcp 127.0.0.1:99999"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := testserver.Start(tt.config)
			if err == nil {
				s.Close()
				t.Fatal("got no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to contain %q", err, want)
				}
			}
		})
	}
}

func TestNetworks(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name, url string
		config    testserver.Config
	}{
		{"default", "http://127.0.0.1:", testserver.Config{}},
		{"tcp6", "http://[::1]:", testserver.Config{Network: "tcp6"}},
		{"unix", "http://localhost", testserver.Config{Network: "unix", Address: filepath.Join(dir, "a")}},
		{"any host", "http://localhost:", testserver.Config{Address: ":0"}},
		{"backlog", "http://127.0.0.1:", testserver.Config{Backlog: 5}},
		{"backlog tcp6", "http://[::1]:", testserver.Config{Network: "tcp6", Backlog: 5}},
		{"backlog unix", "http://localhost", testserver.Config{Network: "unix", Address: filepath.Join(dir, "b"), Backlog: 5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if strings.HasSuffix(tt.name, "tcp6") && !hasIPv6() {
				t.Skip("no IPv6 loopback")
			}
			s := start(t, tt.config)
			if got := s.URL(); !strings.HasPrefix(got, tt.url) {
				t.Errorf("URL: got %s, want %s…", got, tt.url)
			}
			c := dial(t, s)
			br := bufio.NewReader(c)
			for range 2 { // kept alive
				if resp, body := get(t, c, br, "/"); resp.StatusCode != 200 || body != "ok\n" {
					t.Errorf("got %d %q, want 200 \"ok\\n\"", resp.StatusCode, body)
				}
			}
			if err := s.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := s.Restart(); err != nil { // the socket's file must be gone
				t.Fatal(err)
			}
			c = dial(t, s)
			get(t, c, bufio.NewReader(c), "/")
		})
	}
}

func hasIPv6() bool {
	ln, err := net.Listen("tcp6", "[::1]:0")
	if err == nil {
		ln.Close()
	}
	return err == nil
}

func TestNeverAccept(t *testing.T) {
	s := start(t, testserver.Config{Backlog: 1, NeverAccept: true})
	c := dial(t, s) // the kernel completes the handshake
	write(t, c, "GET / HTTP/1.1\r\n\r\n")
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); n != 0 || !isTimeout(err) {
		t.Errorf("got %d bytes, %v; want a timeout", n, err)
	}
	if got := s.Stats().Accepted; got != 0 {
		t.Errorf("accepted: got %d, want 0", got)
	}
	if runtime.GOOS != "linux" {
		return
	}
	full := false
	for range 5 { // two fit in the queue
		extra, err := net.DialTimeout("tcp", s.Addr().String(), 150*time.Millisecond)
		if err != nil {
			full = true
			break
		}
		defer extra.Close()
	}
	if !full {
		t.Error("five more connections fit in a backlog of 1")
	}
}

func isTimeout(err error) bool {
	ne, ok := errors.AsType[net.Error](err)
	return ok && ne.Timeout()
}

func TestPauseHoldsAnswers(t *testing.T) {
	s := start(t, testserver.Config{})
	c := dial(t, s)
	br := bufio.NewReader(c)
	get(t, c, br, "/")
	s.Pause()
	write(t, c, "GET /status/201 HTTP/1.1\r\n\r\n")
	eventually(t, "request read while paused", func() bool { return s.Stats().Requests == 2 })
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if _, err := br.Peek(1); !isTimeout(err) {
		t.Fatalf("while paused: got %v, want a timeout", err)
	}
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	s.Resume()
	if resp, _ := answer(t, br, "GET"); resp.StatusCode != 201 {
		t.Errorf("after resume: got %d, want 201", resp.StatusCode)
	}
}

func TestKillAndRestart(t *testing.T) {
	s := start(t, testserver.Config{})
	idle, asking := dial(t, s), dial(t, s)
	get(t, idle, bufio.NewReader(idle), "/")
	write(t, asking, "GET /delay/1m HTTP/1.1\r\n\r\n")
	eventually(t, "both requests read", func() bool { return s.Stats().Requests == 2 })
	if err := s.Restart(); err == nil {
		t.Error("restart of a running server: got no error")
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]net.Conn{"idle": idle, "asking": asking} {
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s connection: got %v, want a reset", name, err)
		}
	}
	if c, err := net.Dial("tcp", s.Addr().String()); err == nil {
		c.Close()
		t.Error("dial after kill: got a connection")
	}
	before := s.Addr().String()
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if got := s.Addr().String(); got != before {
		t.Errorf("address after restart: got %s, want %s", got, before)
	}
	c := dial(t, s)
	get(t, c, bufio.NewReader(c), "/")
	eventually(t, "the last answer is counted", func() bool { return s.Stats().Responses == 2 })
	got := s.Stats()
	if got.Requests != 3 || got.Responses != 2 || got.Aborted != 1 {
		t.Errorf("got %d requests, %d responses, %d aborted; want 3, 2, 1", got.Requests, got.Responses, got.Aborted)
	}
	s.Close()
	if err := s.Restart(); err == nil {
		t.Error("restart after close: got no error")
	}
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	s := start(t, testserver.Config{Stall: testserver.Stall{AtRequest: 6, For: time.Hour}})
	for _, path := range []string{"/", "/silent", "/delay/1m", "/drip/1m", "/slow-body/10m", "/status/200"} {
		write(t, dial(t, s), "GET "+path+" HTTP/1.1\r\n\r\n")
	}
	dial(t, s) // never asks
	eventually(t, "all connections busy", func() bool {
		got := s.Stats()
		return got.Requests == 6 && got.Open == 7
	})
	s.Pause()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no goroutine of the server is left", func() bool {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		return !bytes.Contains(stacks, []byte("testserver.(*conn)")) &&
			!bytes.Contains(stacks, []byte("testserver.(*Server).accept"))
	})
	got := s.Stats()
	if got.Open != 0 || got.Requests != got.Responses+got.Faults+got.Aborted {
		t.Errorf("books don't balance: %+v", got)
	}
}

func TestStatsBalance(t *testing.T) {
	s := start(t, testserver.Config{ErrorShare: 0.25})
	paths := []string{"/", "/status/404", "/bytes/5000", "/close", "/reset", "/truncated-body", "/chunked/3x10?q=1"}
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for _, path := range paths {
				client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
				resp, err := client.Get(s.URL() + path)
				if err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			}
		})
	}
	clients.Wait()
	half := dial(t, s)
	write(t, half, "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab")
	half.Close()
	bad := dial(t, s)
	write(t, bad, "nonsense\r\n\r\n")
	if resp, _ := answer(t, bufio.NewReader(bad), "GET"); resp.StatusCode != 400 {
		t.Errorf("nonsense: got %d, want 400", resp.StatusCode)
	}
	bad.Close()
	eventually(t, "all connections gone", func() bool { return s.Stats().Open == 0 })
	got := s.Stats()
	want := testserver.Stats{Accepted: 30, Requests: 28, Responses: 20, Faults: 8, Malformed: 1, Partial: 1}
	if got.Accepted != want.Accepted || got.Requests != want.Requests || got.Responses != want.Responses ||
		got.Faults != want.Faults || got.Aborted != 0 || got.Malformed != 1 || got.Partial != 1 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	var byPath testserver.PathStats
	for _, p := range got.ByPath {
		byPath.Requests += p.Requests
		byPath.Responses += p.Responses
		byPath.Faults += p.Faults
	}
	if byPath.Requests != 28 || byPath.Responses != 20 || byPath.Faults != 8 || got.ByPath["/chunked/3x10"].Responses != 4 {
		t.Errorf("by path: got %+v", got.ByPath)
	}
}

func TestBytesCounted(t *testing.T) {
	s := start(t, testserver.Config{})
	c := dial(t, s)
	const request = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"
	write(t, c, request)
	all, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	got := s.Stats()
	if got.BytesIn != int64(len(request)) || got.BytesOut != int64(len(all)) {
		t.Errorf("got %d in, %d out; want %d, %d", got.BytesIn, got.BytesOut, len(request), len(all))
	}
}

func TestPathsAreBounded(t *testing.T) {
	s := start(t, testserver.Config{})
	c := dial(t, s)
	br := bufio.NewReader(c)
	for i := range 1100 {
		get(t, c, br, fmt.Sprintf("/page/%d", i))
	}
	eventually(t, "all are counted", func() bool { return s.Stats().Responses == 1100 })
	got := s.Stats().ByPath
	if len(got) != 1001 || got["*"].Responses != 100 {
		t.Errorf("got %d paths, %d others; want 1001, 100", len(got), got["*"].Responses)
	}
}

func TestTLS(t *testing.T) {
	serverTLS, pool := testserver.SelfSigned()
	s := start(t, testserver.Config{TLS: serverTLS})
	client := &tls.Config{RootCAs: pool, ServerName: "localhost", ClientSessionCache: tls.NewLRUClientSessionCache(1)}
	for range 2 {
		c := tls.Client(dial(t, s), client)
		get(t, c, bufio.NewReader(c), "/") // reads the session ticket on the way
		c.Close()
	}
	write(t, dial(t, s), "GET / HTTP/1.1\r\n\r\n")
	eventually(t, "three handshakes", func() bool {
		got := s.Stats()
		return got.TLSFull == 1 && got.TLSResumed == 1 && got.TLSFailed == 1
	})
	c := tls.Client(dial(t, s), client)
	write(t, c, "GET /until-close HTTP/1.1\r\n\r\n")
	if all, err := io.ReadAll(c); err != nil || !bytes.HasSuffix(all, []byte("\r\n\r\nok\n")) {
		t.Errorf("got %q, %v; want a body ended by close_notify", all, err)
	}
	c = tls.Client(dial(t, s), client)
	write(t, c, "GET /reset HTTP/1.1\r\n\r\n")
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("/reset: got %v, want a reset", err)
	}
}

func TestTLSFaults(t *testing.T) {
	clients := testserver.NewAuthority()
	clientCert := clients.Certificate(testserver.Issue{Client: true})
	tests := []struct {
		name string
		make func() (*tls.Config, *tls.Config) // server's, client's
		want string
	}{
		{"expired", func() (*tls.Config, *tls.Config) {
			s, pool := testserver.Expired()
			return s, &tls.Config{RootCAs: pool}
		}, "expired"},
		{"wrong host", func() (*tls.Config, *tls.Config) {
			s, pool := testserver.WrongHost()
			return s, &tls.Config{RootCAs: pool}
		}, "wrong.invalid, not localhost"},
		{"unknown authority", func() (*tls.Config, *tls.Config) {
			s, _ := testserver.SelfSigned()
			return s, &tls.Config{RootCAs: testserver.NewAuthority().Pool()}
		}, "unknown authority"},
		{"client certificate", func() (*tls.Config, *tls.Config) {
			s, pool := testserver.SelfSigned("localhost")
			return testserver.RequireClient(s, clients.Pool()), &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{clientCert}}
		}, ""},
		{"no client certificate", func() (*tls.Config, *tls.Config) {
			s, pool := testserver.SelfSigned("localhost")
			return testserver.RequireClient(s, clients.Pool()), &tls.Config{RootCAs: pool}
		}, "certificate required"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			serverTLS, clientTLS := tt.make()
			clientTLS.ServerName = "localhost"
			s := start(t, testserver.Config{TLS: serverTLS})
			c := tls.Client(dial(t, s), clientTLS)
			_, err := io.WriteString(c, "GET / HTTP/1.1\r\n\r\n")
			if err == nil { // TLS 1.3 learns of a refused client late
				_, err = c.Read(make([]byte, 1))
			}
			if got := fmt.Sprint(err); (tt.want == "") != (err == nil) || !strings.Contains(got, tt.want) {
				t.Errorf("got error %v, want %q", err, tt.want)
			}
		})
	}
}
