package testserver_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"prony/internal/testserver"
)

func TestRequests(t *testing.T) {
	chunked := "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
	tests := []struct {
		name, ask string
		status    int
		body      string // behind the echoed head
		close     bool
	}{
		{"length", "POST /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", false},
		{"same length twice", "POST /echo HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", false},
		{"chunks", chunked + "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nTrail: er\r\n\r\n", 200, "abcde", false},
		{"bare line feeds", "POST /echo HTTP/1.1\nContent-Length: 1\n\nx", 200, "x", false},
		{"empty lines before", "\r\n\r\nPOST /echo HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", 200, "x", false},
		{"close", "GET /echo HTTP/1.1\r\nConnection: foo, Close\r\n\r\n", 200, "", true},
		{"HTTP/1.0", "GET /echo HTTP/1.0\r\n\r\n", 200, "", true},
		{"HTTP/1.0 kept alive", "GET /echo HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", 200, "", false},
		{"two lengths", "POST /echo HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi", 400, "", true},
		{"negative length", "POST /echo HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400, "", true},
		{"length and chunks", "POST /echo HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "", true},
		{"huge length", "POST /echo HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 413, "", true},
		{"bad chunk size", chunked + "zz\r\n", 400, "", true},
		{"chunk too long", chunked + "2\r\nabcd\r\n", 400, "", true},
		{"other coding", "POST /echo HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "", true},
		{"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "", true},
		{"HTTP/0.9", "GET /\r\n", 400, "", true},
		{"space before colon", "GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400, "", true},
		{"huge head", "GET / HTTP/1.1\r\nA: " + strings.Repeat("a", 70000) + "\r\n\r\n", 431, "", true},
	}
	s := start(t, testserver.Config{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := dial(t, s)
			br := bufio.NewReader(c)
			write(t, c, tt.ask)
			resp, body := answer(t, br, "POST")
			if resp.StatusCode != tt.status || resp.Close != tt.close {
				t.Errorf("got %d, close %v; want %d, %v", resp.StatusCode, resp.Close, tt.status, tt.close)
			}
			if _, got, _ := strings.Cut(body, "\r\n\r\n"); tt.status == 200 && !strings.HasSuffix(got, tt.body) {
				t.Errorf("got %q, want it to end in %q", body, tt.body)
			}
			if tt.close {
				if _, err := br.ReadByte(); err != io.EOF {
					t.Errorf("after the answer: got %v, want EOF", err)
				}
			} else if resp, _ := get(t, c, br, "/status/201"); resp.StatusCode != 201 {
				t.Errorf("next request: got %d, want 201", resp.StatusCode)
			}
		})
	}
}

func TestExpectContinue(t *testing.T) {
	c := dial(t, start(t, testserver.Config{}))
	br := bufio.NewReader(c)
	write(t, c, "POST /echo HTTP/1.1\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
	if resp, _ := answer(t, br, "POST"); resp.StatusCode != 100 {
		t.Fatalf("before the body: got %d, want 100", resp.StatusCode)
	}
	write(t, c, "body")
	if resp, body := answer(t, br, "POST"); resp.StatusCode != 200 || !strings.HasSuffix(body, "\r\n\r\nbody") {
		t.Errorf("got %d %q", resp.StatusCode, body)
	}
}

func TestPipelinedAnswersAreInOrder(t *testing.T) {
	c := dial(t, start(t, testserver.Config{}))
	br := bufio.NewReader(c)
	paths := []string{"/delay/20ms", "/status/201", "/chunked/3x5", "/status/202", "/204", "/status/203"}
	var ask string
	for _, path := range paths {
		ask += "GET " + path + " HTTP/1.1\r\n\r\n"
	}
	write(t, c, ask)
	for i, want := range []int{200, 201, 200, 202, 204, 203} {
		if resp, _ := answer(t, br, "GET"); resp.StatusCode != want {
			t.Errorf("%s: got %d, want %d", paths[i], resp.StatusCode, want)
		}
	}
}

func TestHTTP10(t *testing.T) {
	tests := []struct{ path, want string }{
		{"/", ok + closes + "Content-Length: 3\r\n\r\nok\n"},
		{"/chunked/2x3", ok + closes + "\r\nthe qu"}, // no chunks for HTTP/1.0
		{"/1xx", ok + closes + "Content-Length: 3\r\n\r\nok\n"},
	}
	s := start(t, testserver.Config{})
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			got, err := rawAnswer(t, s, "GET", tt.path, "HTTP/1.0")
			if err != nil || got != tt.want {
				t.Errorf("got  %q, %v\nwant %q", got, err, tt.want)
			}
		})
	}
}

// FuzzParseRequest compares with net/http wherever both accept the bytes.
func FuzzParseRequest(f *testing.F) {
	for _, seed := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST http://h/p?q HTTP/1.0\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcd",
		"PUT /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nT: r\r\n\r\nrest",
		"\r\nGET / HTTP/1.1\nA:b\n\n", "PRI * HTTP/2.0\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		method, path, body, ok := testserver.ParseRequest(b)
		left, drained := testserver.ReadsPast(b)
		if ok != drained || drained && left > len(b) {
			t.Fatalf("keeping the body changes the parse: %v, %v, %d left", ok, drained, left)
		}
		br := bufio.NewReader(bytes.NewReader(b))
		want, err := http.ReadRequest(br)
		if !ok || err != nil {
			return
		}
		if method != want.Method || path == "" {
			t.Errorf("got %s %q, want %s", method, path, want.Method)
		}
		wantBody, err := io.ReadAll(io.LimitReader(want.Body, 1<<20))
		if err == nil && !bytes.Equal(body, wantBody) {
			t.Errorf("body: got %q, want %q", body, wantBody)
		}
	})
}
