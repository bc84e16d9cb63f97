package testserver_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"prony/internal/testserver"
)

// rawAnswer sends a request for path and returns all bytes up to the end of
// the connection, and how it ended.
func rawAnswer(t *testing.T, s *testserver.Server, method, path, proto string) (string, error) {
	t.Helper()
	c := dial(t, s)
	write(t, c, method+" "+path+" "+proto+"\r\nHost: x\r\nConnection: close\r\n\r\n")
	all, err := io.ReadAll(c)
	return string(all), err
}

const (
	ok     = "HTTP/1.1 200 OK\r\nServer: prony\r\n"
	closes = "Connection: close\r\n"
)

// TestPathBytes checks every byte of the answers to a client that closes.
func TestPathBytes(t *testing.T) {
	standard := ok + closes + "Content-Length: 3\r\n\r\nok\n"
	tests := []struct{ method, path, want string }{
		{"GET", "/", standard},
		{"HEAD", "/", strings.TrimSuffix(standard, "ok\n")},
		{"GET", "/any/other?path=1", standard},
		{"GET", "http://elsewhere/204", "HTTP/1.1 204 No Content\r\nServer: prony\r\n" + closes + "\r\n"},
		{"GET", "http://elsewhere?x", standard},
		{"GET", "/delay/1ms", standard},
		{"GET", "/status/503", "HTTP/1.1 503 Service Unavailable\r\nServer: prony\r\n" + closes + "Content-Length: 11\r\n\r\nstatus 503\n"},
		{"GET", "/status/299", "HTTP/1.1 299 \r\nServer: prony\r\n" + closes + "Content-Length: 11\r\n\r\nstatus 299\n"},
		{"GET", "/status/204", "HTTP/1.1 204 No Content\r\nServer: prony\r\n" + closes + "\r\n"},
		{"GET", "/bytes/20", ok + closes + "Content-Length: 20\r\n\r\nthe quick brown fox "},
		{"GET", "/bytes/0", ok + closes + "Content-Length: 0\r\n\r\n"},
		{"GET", "/chunked/2x9", ok + "Trailer: Prony-Crc32\r\n" + closes + "Transfer-Encoding: chunked\r\n\r\n" +
			"9;n=0;note=\"a;b\"\r\nthe quick\r\n9;n=1;note=\"a;b\"\r\n brown fo\r\n0;last\r\n" +
			fmt.Sprintf("Prony-Crc32: %08x\r\n\r\n", crc32.ChecksumIEEE([]byte("the quick brown fo")))},
		{"HEAD", "/chunked/2x9", ok + "Trailer: Prony-Crc32\r\n" + closes + "Transfer-Encoding: chunked\r\n\r\n"},
		{"GET", "/close", standard},
		{"GET", "/until-close", ok + closes + "\r\nok\n"},
		{"GET", "/http10", "HTTP/1.0 200 OK\r\nServer: prony\r\nContent-Length: 3\r\n\r\nok\n"},
		{"GET", "/early", standard},
		{"GET", "/1xx", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n" + standard},
		{"GET", "/304", "HTTP/1.1 304 Not Modified\r\nServer: prony\r\nETag: \"prony\"\r\n" + closes + "Content-Length: 3\r\n\r\n"},
		{"HEAD", "/head", strings.TrimSuffix(standard, "ok\n")},
		{"GET", "/drip/0s", standard},
		{"GET", "/huge-header/5", ok + "Huge: xxxxx\r\n" + closes + "Content-Length: 3\r\n\r\nok\n"},
		{"GET", "/redirect", "HTTP/1.1 302 Found\r\nServer: prony\r\nLocation: /\r\n" + closes + "Content-Length: 0\r\n\r\n"},
		{"GET", "/redirect/3", "HTTP/1.1 302 Found\r\nServer: prony\r\nLocation: /redirect/2\r\n" + closes + "Content-Length: 0\r\n\r\n"},
		{"GET", "/echo", ok + "Content-Type: text/plain\r\n" + closes + "Content-Length: 50\r\n\r\n" +
			"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"},
		{"GET", "/excess", standard + "EXCESS BYTES\r\n"},
		{"GET", "/garbage", "SSH-2.0-prony\r\n\x00\xff\xfe\x7f this is not HTTP\r\n\r\n"},
	}
	s := start(t, testserver.Config{})
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			got, err := rawAnswer(t, s, tt.method, tt.path, "HTTP/1.1")
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestBadArgumentsExplain(t *testing.T) {
	tests := []struct{ path, want string }{
		{"/delay/", "want a duration"},
		{"/delay/-1s", "want a duration"},
		{"/delay/11m", "want a duration up to 10m0s"},
		{"/status/100", "want a number from 200 to 999"},
		{"/status/1e2", "want a number"},
		{"/bytes/5GB", "want a size"},
		{"/bytes/68MB", "want a size up to 67108864"},
		{"/bytes/", "want a size"},
		{"/bytes/MB", "want a size"},
		{"/chunked/5", "want COUNTxSIZE"},
		{"/chunked/5x0", "want COUNTxSIZE"},
		{"/chunked/1000000x1000", "want COUNTxSIZE"},
		{"/slow-body/x", "want a duration"},
		{"/drip/x", "want a duration"},
		{"/huge-header/", "want a size"},
		{"/redirect/0", "want a number from 1"},
		{"/idle-close/x", "want a duration"},
		{"/close-after/0", "want a number from 1"},
		{"/work/x", "want a duration"},
		{"/lock/", "want a duration"},
		{"/pool/0x5ms", "want COUNTxDURATION"},
		{"/pool/20", "want COUNTxDURATION"},
		{"/aging/1ms", "want DURATION+DURATION"},
		{"/hold/5GB", "want a size"},
	}
	s := start(t, testserver.Config{})
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			c := dial(t, s)
			resp, body := get(t, c, bufio.NewReader(c), tt.path)
			if resp.StatusCode != 400 || !strings.Contains(body, tt.want) {
				t.Errorf("got %d %q, want 400 and %q", resp.StatusCode, body, tt.want)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	const truncated = ok + closes + "Content-Length: 8000\r\n\r\n"
	tests := []struct {
		path, head string
		body       int // bytes behind the head
		reset      bool
	}{
		{"/reset", "", 0, true},
		{"/reset-body", truncated, 4000, true},
		{"/truncated-body", truncated, 4000, false},
		{"/truncated-chunk", ok + closes + "Transfer-Encoding: chunked\r\n\r\n1f40;n=0;note=\"a;b\"\r\n", 4007, false},
	}
	s := start(t, testserver.Config{})
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			got, err := rawAnswer(t, s, "GET", tt.path, "HTTP/1.1")
			if errors.Is(err, syscall.ECONNRESET) != tt.reset || err != nil && !tt.reset {
				t.Errorf("end: got %v, want reset %v", err, tt.reset)
			}
			body, hasHead := strings.CutPrefix(got, tt.head)
			if !hasHead || len(body) != tt.body {
				t.Errorf("got %d bytes behind the head in %.200q, want %d", len(body), got, tt.body)
			}
		})
	}
	if got := s.Stats(); got.Faults != 4 || got.Responses != 0 {
		t.Errorf("got %d faults, %d responses; want 4, 0", got.Faults, got.Responses)
	}
}

func TestSilent(t *testing.T) {
	s := start(t, testserver.Config{})
	c := dial(t, s)
	write(t, c, "GET /silent HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n")
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); n != 0 || !isTimeout(err) {
		t.Errorf("got %d bytes, %v; want a timeout", n, err)
	}
	c.Close()
	eventually(t, "the fault is booked", func() bool { return s.Stats().Faults == 1 })
}

// TestConnectionFates checks which requests of a kept connection get answers.
func TestConnectionFates(t *testing.T) {
	many := func(path string, n int) []string { return strings.Split(strings.Repeat(path+" ", n-1)+path, " ") }
	tests := []struct {
		name   string
		config testserver.Config
		ask    []string
		want   int // answers
	}{
		{"kept alive", testserver.Config{}, many("/", 5), 5},
		{"close", testserver.Config{}, []string{"/", "/close", "/"}, 2},
		{"close-after", testserver.Config{}, many("/close-after/3", 5), 3},
		{"idle-close", testserver.Config{}, []string{"/", "/idle-close", "/", "/"}, 2},
		{"requests per connection", testserver.Config{MaxRequestsPerConn: 2}, many("/", 4), 2},
		{"HTTP/1.0 kept alive", testserver.Config{}, many("/http10-keepalive", 3), 3},
		{"204 and 304 have no body", testserver.Config{}, []string{"/204", "/304", "/status/304", "/"}, 4},
		{"interim", testserver.Config{}, many("/1xx", 2), 4}, // ReadResponse sees the 103s
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, tt.config)
			c := dial(t, s)
			var pipeline string
			for _, path := range tt.ask {
				pipeline += "GET " + path + " HTTP/1.1\r\n\r\n"
			}
			write(t, c, pipeline)
			_ = c.(*net.TCPConn).CloseWrite()
			br := bufio.NewReader(c)
			got := 0
			for {
				resp, err := http.ReadResponse(br, nil)
				if err != nil {
					break
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				if resp.StatusCode != 100 {
					got++
				}
			}
			if got != tt.want {
				t.Errorf("got %d answers, want %d", got, tt.want)
			}
		})
	}
}

func TestIdleTimeouts(t *testing.T) {
	tests := []struct {
		name, path string
		config     testserver.Config
	}{
		{"of the server", "/", testserver.Config{IdleTimeout: 20 * time.Millisecond}},
		{"of the path", "/idle-close/20ms", testserver.Config{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := dial(t, start(t, tt.config))
			br := bufio.NewReader(c)
			if resp, _ := get(t, c, br, tt.path); resp.Close {
				t.Error("the close is announced")
			}
			from := time.Now()
			if _, err := br.Peek(1); err != io.EOF {
				t.Errorf("got %v, want EOF", err)
			}
			if got := time.Since(from); got < 10*time.Millisecond {
				t.Errorf("closed after %v, want about 20ms", got)
			}
		})
	}
}

// TestNetHTTP lets the standard client judge the legal answers.
func TestNetHTTP(t *testing.T) {
	standard := strings.Repeat("abc", 100)
	tests := []struct {
		path   string
		status int
		size   int
	}{
		{"/", 200, 300}, {"/delay/2ms", 200, 300}, {"/status/418", 418, 11}, {"/bytes/1MB", 200, 1e6},
		{"/bytes/2KiB", 200, 2048}, {"/chunked/50x1000", 200, 50000}, {"/chunked/0x0", 200, 0}, {"/close", 200, 300},
		{"/until-close", 200, 300}, {"/http10", 200, 300}, {"/http10-keepalive", 200, 300}, {"/early", 200, 300},
		{"/1xx", 200, 300}, {"/204", 204, 0}, {"/304", 304, 0}, {"/slow-body/10ms", 200, 1000}, {"/drip/0s", 200, 300},
		{"/huge-header/100kB", 200, 300}, {"/redirect/4", 200, 300}, {"/uuid", 200, 47}, {"/idle-close", 200, 300},
		{"/close-after/1", 200, 300},
	}
	s := start(t, testserver.Config{Body: []byte(standard)})
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			resp, err := client.Get(s.URL() + tt.path)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != tt.status || len(body) != tt.size {
				t.Errorf("got %d and %d bytes, want %d and %d", resp.StatusCode, len(body), tt.status, tt.size)
			}
			if tt.size == 300 && string(body) != standard {
				t.Errorf("got body %q", body)
			}
			sum := resp.Trailer.Get("Prony-Crc32")
			if want := fmt.Sprintf("%08x", crc32.ChecksumIEEE(body)); strings.HasPrefix(tt.path, "/chunked") && sum != want {
				t.Errorf("trailer: got %q, want %q", sum, want)
			}
		})
	}
}

func TestVaryingBodies(t *testing.T) {
	s := start(t, testserver.Config{})
	c := dial(t, s)
	br := bufio.NewReader(c)
	uuid := regexp.MustCompile(`^{"uuid":"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"}$`)
	uuids, sizes := map[string]bool{}, map[int]bool{}
	for range 20 {
		_, body := get(t, c, br, "/uuid")
		if !uuid.MatchString(body) {
			t.Errorf("got %q, want a random UUID", body)
		}
		uuids[body] = true
		_, body = get(t, c, br, "/variable")
		sizes[len(body)] = true
	}
	if len(uuids) != 20 || len(sizes) != 20 {
		t.Errorf("got %d uuids and %d sizes, want 20 and 20", len(uuids), len(sizes))
	}
}

func TestSlowAnswersTakeTheirTime(t *testing.T) {
	tests := []struct {
		path  string
		least time.Duration
	}{{"/delay/30ms", 30 * time.Millisecond}, {"/slow-body/30ms", 30 * time.Millisecond}, {"/drip/1ms", 50 * time.Millisecond}}
	for _, precise := range []bool{false, true} {
		s := start(t, testserver.Config{Precise: precise})
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s precise %v", tt.path, precise), func(t *testing.T) {
				c := dial(t, s)
				from := time.Now()
				get(t, c, bufio.NewReader(c), tt.path)
				if got := time.Since(from); got < tt.least {
					t.Errorf("took %v, want at least %v", got, tt.least)
				}
			})
		}
	}
}

// TestEarly checks that the answer comes although the body has not, and that
// the connection is usable once it has.
func TestEarly(t *testing.T) {
	s := start(t, testserver.Config{})
	c := dial(t, s)
	br := bufio.NewReader(c)
	write(t, c, "POST /early HTTP/1.1\r\nContent-Length: 10\r\n\r\n01234")
	if resp, _ := answer(t, br, "POST"); resp.StatusCode != 200 || resp.Close {
		t.Errorf("got %d, close %v; want 200, false", resp.StatusCode, resp.Close)
	}
	write(t, c, "56789")
	if resp, _ := get(t, c, br, "/status/201"); resp.StatusCode != 201 {
		t.Errorf("after the body: got %d, want 201", resp.StatusCode)
	}
	write(t, c, "POST /early HTTP/1.1\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n")
	if resp, _ := answer(t, br, "POST"); !resp.Close {
		t.Error("a final answer instead of 100 must close")
	}
}

func TestFixedHeadersAndEmptyBody(t *testing.T) {
	s := start(t, testserver.Config{Body: []byte{}, Headers: []testserver.Header{{Name: "A", Value: "1"}, {Name: "A", Value: "2"}}})
	got, err := rawAnswer(t, s, "GET", "/", "HTTP/1.1")
	if want := ok + "A: 1\r\nA: 2\r\n" + closes + "Content-Length: 0\r\n\r\n"; got != want || err != nil {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestErrorShare(t *testing.T) {
	tests := []struct {
		name     string
		config   testserver.Config
		low, top int // errors among 200
	}{
		{"none", testserver.Config{}, 0, 0},
		{"all", testserver.Config{ErrorShare: 1}, 200, 200},
		{"spaced", testserver.Config{ErrorShare: 0.29}, 58, 58},
		{"seeded", testserver.Config{ErrorShare: 0.29, ErrorSeed: 7}, 38, 78}, // ± 3 standard deviations
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.config.ErrorStatus = 502
			var pattern [2]bytes.Buffer
			for i := range pattern {
				c := dial(t, start(t, tt.config))
				br := bufio.NewReader(c)
				for range 200 {
					resp, _ := get(t, c, br, "/")
					fmt.Fprintln(&pattern[i], resp.StatusCode)
				}
			}
			if got := strings.Count(pattern[0].String(), "502"); got < tt.low || got > tt.top {
				t.Errorf("got %d errors, want %d to %d", got, tt.low, tt.top)
			}
			if pattern[0].String() != pattern[1].String() {
				t.Error("a second server fails other requests")
			}
		})
	}
}

func TestErrorDelay(t *testing.T) {
	s := start(t, testserver.Config{Delay: 40 * time.Millisecond, ErrorShare: 0.5, ErrorDelay: 20 * time.Millisecond})
	c := dial(t, s)
	br := bufio.NewReader(c)
	for i, want := range []time.Duration{40 * time.Millisecond, 20 * time.Millisecond} {
		from := time.Now()
		resp, _ := get(t, c, br, "/")
		if got := time.Since(from); got < want || (resp.StatusCode == 500) != (i == 1) {
			t.Errorf("request %d: got %d after %v, want at least %v", i, resp.StatusCode, got, want)
		}
	}
}
