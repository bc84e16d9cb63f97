package httpwire_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"prony/internal/httpwire"
)

type (
	request = httpwire.Request
	headers = []httpwire.Header
)

func TestRequestAppend(t *testing.T) {
	tests := []struct {
		name string
		r    request
		want string
	}{
		{"zero but Host", request{Host: "h"}, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"},
		{"target as it is", request{Target: "/a?b=c#d", Host: "h:8080"}, "GET /a?b=c#d HTTP/1.1\r\nHost: h:8080\r\n\r\n"},
		{"order and case kept", request{Host: "h", Headers: headers{{"b", "1"}, {"A", "2"}, {"b", "3"}}},
			"GET / HTTP/1.1\r\nHost: h\r\nb: 1\r\nA: 2\r\nb: 3\r\n\r\n"},
		{"Host replaced", request{Host: "h", Headers: headers{{"X", "1"}, {"hOST", "other"}}},
			"GET / HTTP/1.1\r\nX: 1\r\nhOST: other\r\n\r\n"},
		{"empty Host given", request{Headers: headers{{"Host", ""}}}, "GET / HTTP/1.1\r\nHost: \r\n\r\n"},
		{"HTTP/1.0", request{Proto: "HTTP/1.0"}, "GET / HTTP/1.0\r\n\r\n"},
		{"HTTP/1.0 with Host", request{Proto: "HTTP/1.0", Host: "h"}, "GET / HTTP/1.0\r\nHost: h\r\n\r\n"},
		{"body", request{Method: "DELETE", Host: "h", Body: []byte("hello"), Headers: headers{{"X", "1"}}},
			"DELETE / HTTP/1.1\r\nHost: h\r\nX: 1\r\nContent-Length: 5\r\n\r\nhello"},
		{"empty POST", request{Method: "POST", Host: "h"}, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"},
		{"empty PUT", request{Method: "PUT", Host: "h"}, "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"},
		{"empty PATCH", request{Method: "PATCH", Host: "h"}, "PATCH / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"},
		{"length given", request{Method: "POST", Host: "h", Body: []byte("hi"), Headers: headers{{"content-length", "2"}, {"X", "1"}}},
			"POST / HTTP/1.1\r\nHost: h\r\ncontent-length: 2\r\nX: 1\r\n\r\nhi"},
		{"chunked", request{Method: "POST", Host: "h", Body: []byte("2\r\nhi\r\n0\r\n\r\n"), Headers: headers{{"Transfer-Encoding", "chunked"}}},
			"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"},
		{"close", request{Method: "POST", Host: "h", Close: true, Headers: headers{{"X", "1"}}},
			"POST / HTTP/1.1\r\nHost: h\r\nX: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"},
		{"close given too", request{Host: "h", Close: true, Headers: headers{{"connection", "x, CLOSE"}}},
			"GET / HTTP/1.1\r\nHost: h\r\nconnection: x, CLOSE\r\n\r\n"},
		{"tab and obs-text", request{Host: "h", Headers: headers{{"X", "a\tb\xff"}}}, "GET / HTTP/1.1\r\nHost: h\r\nX: a\tb\xff\r\n\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.r.Append([]byte("before|"))
			if err != nil || string(got) != "before|"+tt.want {
				t.Errorf("got %q, %v\nwant %q", got, err, tt.want)
			}
			if n, methods, err := httpwire.CheckRequest([]byte(tt.want)); n != 1 || len(methods) != 1 || err != nil {
				t.Errorf("CheckRequest: %d, %q, %v", n, methods, err)
			}
		})
	}
}

func TestRequestRefused(t *testing.T) {
	field := func(name, value string) request { return request{Host: "h", Headers: headers{{name, value}}} }
	chunked := headers{{"Transfer-Encoding", "chunked"}}
	tests := []struct {
		name string
		r    request
		want string // text in the error
	}{
		{"space in method", request{Host: "h", Method: "GET /x"}, "method"},
		{"line end in method", request{Host: "h", Method: "GET\r\n"}, "method"},
		{"space in target", request{Host: "h", Target: "/a b"}, "at byte 2"},
		{"line end in target", request{Host: "h", Target: "/\r\nX: 1"}, "target"},
		{"NUL in target", request{Host: "h", Target: "/\x00"}, "target"},
		{"DEL in target", request{Host: "h", Target: "/\x7f"}, "target"},
		{"other protocol", request{Host: "h", Proto: "HTTP/2.0"}, "protocol"},
		{"line end in protocol", request{Host: "h", Proto: "HTTP/1.1\r\nX: 1"}, "protocol"},
		{"line end in Host", request{Host: "h\r\nX: 1"}, "host"},
		{"space in Host", request{Host: "h x"}, "host"},
		{"no Host", request{}, "no host"},
		{"two Hosts", request{Headers: headers{{"Host", "a"}, {"host", "b"}}}, "twice"},
		{"space in given Host", field("Host", "a b"), "space"},
		{"empty name", field("", "1"), "name"},
		{"colon in name", field("X:", "1"), "name"},
		{"line end in name", field("X\n", "1"), "name"},
		{"CR in value", field("X", "1\r"), "control"},
		{"LF in value", field("X", "1\nY: 2"), "control"},
		{"NUL in value", field("X", "some longer value\x00"), "control"},
		{"length without body", field("Content-Length", "5"), "0 bytes"},
		{"length is a list", field("Content-Length", "0, 0"), "0 bytes"},
		{"length twice", request{Host: "h", Headers: headers{{"Content-Length", "0"}, {"Content-Length", "0"}}}, "twice"},
		{"length and chunked", request{Host: "h", Headers: append(headers{{"Content-Length", "5"}}, chunked...), Body: []byte("0\r\n\r\n")}, "both"},
		{"chunked in HTTP/1.0", request{Proto: "HTTP/1.0", Headers: chunked, Body: []byte("0\r\n\r\n")}, "HTTP/1.0"},
		{"not ending in chunked", field("Transfer-Encoding", "chunked, gzip"), "end in chunked"},
		{"chunked twice", field("Transfer-Encoding", "chunked, chunked"), "twice"},
		{"chunked body missing", request{Host: "h", Headers: chunked}, "incomplete"},
		{"chunked body wrong", request{Host: "h", Headers: chunked, Body: []byte("hello\r\n")}, "chunk"},
		{"more than the chunked body", request{Host: "h", Headers: chunked, Body: []byte("0\r\n\r\nGET")}, "3 bytes after"},
		{"close and keep-alive", request{Host: "h", Close: true, Headers: headers{{"Connection", "keep-alive"}}}, "keep-alive"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.r.Append([]byte("before"))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			if string(got) != "before" {
				t.Errorf("got %q with the error", got)
			}
		})
	}
}

func TestCheckRequest(t *testing.T) {
	const get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
	const post = "POST /x HTTP/1.0\r\nContent-Length: 3\r\n\r\na\nb"
	const chunked = "PUT /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
	tests := []struct {
		name, in, want string // want: methods joined by spaces, or the error
	}{
		{"one", get, "GET"},
		{"pipelined", get + post + chunked + get, "GET POST PUT GET"},
		{"line ends between", "\r\n" + get + "\r\n\n" + get + "\r\n", "GET GET"},
		{"bare LF", "HEAD / HTTP/1.1\nHost: h\n\n", "HEAD"},
		{"nothing", "", "incomplete request at 1:1"},
		{"line ends only", "\r\n\r\n", "incomplete request at 3:1"},
		{"no blank line", "GET / HTTP/1.1\r\nHost: h\r\n", "incomplete request at 3:1"},
		{"cut in the method", "GE", "incomplete request at 1:3"},
		{"cut in the target", "GET /ab", "incomplete request at 1:8"},
		{"cut in the version", "GET / HTT", "incomplete request at 1:10"},
		{"cut in a field", "GET / HTTP/1.1\r\nHo", "incomplete request at 2:3"},
		{"cut in the body", post[:len(post)-1], "incomplete request at 5:1"},
		{"cut in a chunk", chunked[:len(chunked)-5], "incomplete request at 7:1"},
		{"second cut", get + "GET", "incomplete request at 4:4"},
		{"bad method", "G(T / HTTP/1.1\r\n\r\n", "invalid HTTP method at 1:2"},
		{"no target", "GET\r\n\r\n", "invalid HTTP method at 1:4"},
		{"empty target", "GET  HTTP/1.1\r\n\r\n", "invalid URL at 1:5"},
		{"no version", "GET /\r\n\r\n", "invalid URL at 1:6"},
		{"bad version", "GET / HTTP/2.0\r\n\r\n", "invalid HTTP version at 1:7"},
		{"space in target", "GET /a b HTTP/1.1\r\n\r\n", "invalid HTTP version at 1:8"},
		{"after the version", "GET / HTTP/1.1 \r\n\r\n", "invalid HTTP version at 1:7"},
		{"no colon", "GET / HTTP/1.1\r\nHost h\r\n\r\n", "invalid character in header at 2:1"},
		{"fold", "GET / HTTP/1.1\r\nHost: h\r\n x\r\n\r\n", "invalid character in header at 3:1"},
		{"control character", "GET / HTTP/1.1\r\nHost: \x01\r\n\r\n", "invalid character in header at 2:1"},
		{"bad length", "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", "invalid content-length or transfer-encoding at 2:1"},
		{"both", "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n", "unexpected content-length header at 3:1"},
		{"no length", "GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", "transfer-encoding does not end in chunked at 4:1"},
		{"bad chunk", "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "invalid chunked body at 4:1"},
		{"not a request", "hello world, how are you", "invalid HTTP version at 1:14"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			count, methods, err := httpwire.CheckRequest([]byte(tt.in))
			got := strings.Join(methods, " ")
			if err != nil {
				got = err.Error()
				if want := new(httpwire.RequestError); !errors.As(err, &want) {
					t.Errorf("error of type %T", err)
				}
			}
			if got != tt.want || count != len(methods) {
				t.Errorf("got %q (%d), want %q", got, count, tt.want)
			}
		})
	}
}

// FuzzRequest wants whatever Append lets through to be one request, and
// http.ReadRequest to read from it what was put in.
func FuzzRequest(f *testing.F) {
	f.Add("GET", "/", "h", "X-A", "1", []byte(nil), false)
	f.Add("POST", "/a?b=c", "h:80", "Content-Type", "text/plain", []byte("hello"), true)
	f.Add("PUT", "*", "[::1]:80", "Transfer-Encoding", "chunked", []byte("1\r\na\r\n0\r\n\r\n"), false)
	f.Add("M-SEARCH", "/\xff", "", "Host", "x", []byte("GET / HTTP/1.1\r\n\r\n"), false)
	f.Add("GET", "http://a/b", "a", "Content-Length", "0", []byte(nil), false)
	f.Add("GET", "/", "h", "Connection", "close", []byte(nil), true)
	f.Fuzz(func(t *testing.T, method, target, host, name, value string, body []byte, close bool) {
		r := request{Method: method, Target: target, Host: host, Headers: headers{{name, value}}, Body: body, Close: close}
		wire, err := r.Append(nil)
		if err != nil {
			return
		}
		if n, methods, err := httpwire.CheckRequest(wire); n != 1 || err != nil || method != "" && methods[0] != method {
			t.Errorf("CheckRequest(%q): %d, %q, %v", wire, n, methods, err)
		}
		checkReadRequest(t, r, wire)
	})
}

// checkReadRequest compares r with what net/http makes of its wire form.
// Permitted differences: net/http parses the target as a URL, may fail at that
// and takes the host from one in absolute form; it reads a method CONNECT as an
// authority; it refuses codings but a lone chunked; and it takes Host,
// Content-Length, Transfer-Encoding and Trailer out of the fields.
func checkReadRequest(t *testing.T, r request, wire []byte) {
	t.Helper()
	br := bufio.NewReader(bytes.NewReader(wire))
	got, err := http.ReadRequest(br)
	if err != nil {
		_, urlErr := url.ParseRequestURI(r.Target)
		name := http.CanonicalHeaderKey(r.Headers[0].Name)
		if urlErr == nil && name != "Transfer-Encoding" && name != "Trailer" && r.Method != "CONNECT" {
			t.Errorf("ReadRequest(%q): %v", wire, err)
		}
		return
	}
	if r.Method != "" && got.Method != r.Method || r.Target != "" && got.RequestURI != r.Target {
		t.Errorf("%q read as %s %s", wire, got.Method, got.RequestURI)
	}
	if strings.HasPrefix(r.Target, "/") && !strings.EqualFold(r.Headers[0].Name, "host") && got.Host != r.Host {
		t.Errorf("%q: host read as %q", wire, got.Host)
	}
	checkReadBody(t, r, got, br)
}

// checkReadBody compares what follows the request line.
func checkReadBody(t *testing.T, r request, got *http.Request, br *bufio.Reader) {
	t.Helper()
	h := r.Headers[0]
	body, err := io.ReadAll(got.Body)
	if err != nil || len(got.TransferEncoding) == 0 && !bytes.Equal(body, r.Body) {
		t.Errorf("body read as %q, %v; want %q", body, err, r.Body)
	}
	if rest, err := io.ReadAll(br); len(rest) > 0 || err != nil {
		t.Errorf("left over after the request: %q, %v", rest, err)
	}
	if r.Close && !got.Close {
		t.Errorf("close was not read")
	}
	switch key := http.CanonicalHeaderKey(h.Name); key {
	case "Host", "Content-Length", "Transfer-Encoding", "Trailer", "Connection":
	default:
		if got, want := got.Header[key], []string{strings.Trim(h.Value, " \t")}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s read as %q, want %q", key, got, want)
		}
	}
}
