package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"prony/internal/gateway"
	"prony/internal/testserver"
)

// start runs a gateway that ends with the test.
func start(t *testing.T, c gateway.Config) *gateway.Gateway {
	t.Helper()
	g, err := gateway.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// serve runs an upstream that ends with the test and returns its host:port.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// known runs the server whose behaviour its paths choose.
func known(t *testing.T, c testserver.Config) string {
	t.Helper()
	s, err := testserver.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return strings.TrimPrefix(strings.TrimSuffix(s.URL(), "/"), "http://")
}

// get returns the status and the body of an answer.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

// raw sends bytes and reads one answer, by hand.
func raw(t *testing.T, address, request string) *http.Response {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestHeaders(t *testing.T) {
	seen := make(chan *http.Request, 1)
	upstream := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen <- r
		w.Header().Set("Connection", "X-Hop")
		w.Header().Set("X-Hop", "1")
		w.Header().Set("X-End", "1")
	})
	g := start(t, gateway.Config{Upstreams: []string{"http://" + upstream + "/"}})
	r := raw(t, g.Address(), "GET /a%2Fb//c?x=1;y&z HTTP/1.1\r\nHost: shop.test\r\nConnection: keep-alive, X-Mine\r\nKeep-Alive: 5\r\n"+
		"X-Mine: 1\r\nTE: gzip\r\nProxy-Authorization: secret\r\nX-Forwarded-For: 192.0.2.7\r\nAccept-Encoding: br\r\nX-Other: 1\r\n\r\n")
	in := <-seen
	want := map[string]string{"X-Mine": "", "Keep-Alive": "", "Te": "", "Proxy-Authorization": "", "Connection": "",
		"X-Forwarded-For": "192.0.2.7", "Accept-Encoding": "br", "X-Other": "1", "User-Agent": ""}
	for name, want := range want {
		if got := in.Header.Get(name); got != want {
			t.Errorf("the upstream saw %s: %q, want %q", name, got, want)
		}
	}
	if in.Host != "shop.test" || in.RequestURI != "/a%2Fb//c?x=1;y&z" {
		t.Errorf("the upstream saw %s %s, want the client's host and target", in.Host, in.RequestURI)
	}
	for name, want := range map[string]string{"X-Hop": "", "X-End": "1"} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("the client saw %s: %q, want %q", name, got, want)
		}
	}
}

func TestBodies(t *testing.T) {
	upstream := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil { // to read while it answers
			t.Error(err)
		}
		w.Header().Set("Trailer", "X-Sum")
		w.WriteHeader(http.StatusCreated)
		n, err := io.Copy(w, r.Body)
		w.Header().Set("X-Sum", fmt.Sprint(n, err))
	})
	g := start(t, gateway.Config{Upstreams: []string{upstream}})
	want := strings.Repeat("0123456789", 50_000)
	bodies := map[string]io.Reader{"with a length": strings.NewReader(want), "chunked": io.MultiReader(strings.NewReader(want))}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			r, err := http.Post(g.URL()+"/", "text/plain", body)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Body.Close()
			got, err := io.ReadAll(r.Body)
			if err != nil || string(got) != want || r.StatusCode != http.StatusCreated {
				t.Errorf("got status %d, %d bytes, error %v; want 201 and the %d bytes sent", r.StatusCode, len(got), err, len(want))
			}
			if got := r.Trailer.Get("X-Sum"); got != "500000 <nil>" {
				t.Errorf("trailer: got %q", got)
			}
		})
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	const requests = 20
	cases := map[string]struct {
		keepAlive int
		want      int64
	}{"by default": {0, 1}, "kept": {8, 1}, "not kept": {-1, requests}}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := start(t, gateway.Config{Upstreams: []string{known(t, testserver.Config{})}, KeepAlive: c.keepAlive})
			for range requests {
				if status, body := get(t, g.URL()+"/"); status != 200 || body != "ok\n" {
					t.Fatalf("got %d %q", status, body)
				}
			}
			s := g.Status().Upstreams[0]
			if s.Connections != c.want || s.Requests != requests || s.Failures != 0 || s.Active != 0 {
				t.Errorf("got %+v, want %d connections, %d requests, no failure, none active", s, c.want, requests)
			}
		})
	}
}

func TestPolicies(t *testing.T) {
	// Upstream 0 holds what it gets until the test lets go.
	cases := map[gateway.Policy][3]int64{gateway.RoundRobin: {3, 3, 3}, gateway.LeastConn: {1, 4, 4}}
	for policy, want := range cases {
		t.Run(string(policy), func(t *testing.T) {
			arrived, release := make(chan struct{}, 9), make(chan struct{})
			slow := serve(t, func(http.ResponseWriter, *http.Request) { arrived <- struct{}{}; <-release })
			quick := func() string { return serve(t, func(http.ResponseWriter, *http.Request) { arrived <- struct{}{} }) }
			g := start(t, gateway.Config{Upstreams: []string{slow, quick(), quick()}, Policy: policy})
			var all sync.WaitGroup
			for range 9 {
				all.Go(func() { get(t, g.URL()+"/") })
				<-arrived
				settle(g) // a quick answer is over before the next request begins
			}
			var got [3]int64
			for i, u := range g.Status().Upstreams {
				got[i] = u.Requests
			}
			close(release)
			all.Wait()
			if got != want {
				t.Errorf("got %v requests by upstream, want %v", got, want)
			}
		})
	}
}

// settle waits until the quick upstreams have nothing in progress.
func settle(g *gateway.Gateway) {
	for s := g.Status().Upstreams; s[1].Active+s[2].Active > 0; s = g.Status().Upstreams {
		<-time.After(time.Millisecond)
	}
}

func TestUpstreamFailures(t *testing.T) {
	target := known(t, testserver.Config{})
	closed := func() string { // an address where nobody listens
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}()
	cases := map[string]struct {
		upstream, path string
		want           int
	}{
		"refused": {closed, "/", 502}, "garbage": {target, "/garbage", 502}, "reset": {target, "/reset", 502},
		"silent": {target, "/silent", 504}, "an error of its own": {target, "/status/503", 503},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := start(t, gateway.Config{Upstreams: []string{c.upstream}, Timeout: 300 * time.Millisecond})
			status, _ := get(t, g.URL()+c.path)
			failures := g.Status().Upstreams[0].Failures
			if status != c.want || (failures == 1) != (c.want != 503) {
				t.Errorf("got status %d and %d failures, want status %d", status, failures, c.want)
			}
		})
	}
}

func TestBrokenBodyIsAFailure(t *testing.T) {
	g := start(t, gateway.Config{Upstreams: []string{known(t, testserver.Config{BodySize: 1000})}})
	r, err := http.Get(g.URL() + "/truncated-body")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if got, err := io.ReadAll(r.Body); err == nil {
		t.Errorf("the client got %d bytes as a whole body", len(got))
	}
	if got := g.Status().Upstreams[0].Failures; got != 1 {
		t.Errorf("got %d failures, want 1", got)
	}
}

func TestClientThatLeavesIsNoFailure(t *testing.T) {
	arrived, left := make(chan struct{}), make(chan struct{})
	upstream := serve(t, func(_ http.ResponseWriter, r *http.Request) { close(arrived); <-r.Context().Done(); close(left) })
	g := start(t, gateway.Config{Upstreams: []string{upstream}})
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", g.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() { <-arrived; leave() }()
	if _, err := http.DefaultClient.Do(r); err == nil {
		t.Error("the request that was given up was answered")
	}
	<-left
	for g.Status().Upstreams[0].Active > 0 {
		<-time.After(time.Millisecond)
	}
	if got := g.Status().Upstreams[0].Failures; got != 0 {
		t.Errorf("got %d failures, want none", got)
	}
}

func TestMaxConns(t *testing.T) {
	g := start(t, gateway.Config{Upstreams: []string{known(t, testserver.Config{})}, MaxConns: 2})
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if status, _ := get(t, g.URL()+"/delay/5ms"); status != 200 {
				t.Errorf("got status %d", status)
			}
		})
	}
	all.Wait()
	if got := g.Status().Upstreams[0].Connections; got > 2 {
		t.Errorf("got %d connections, want 2 at most", got)
	}
}

func TestUpgrade(t *testing.T) {
	upstream := serve(t, func(w http.ResponseWriter, r *http.Request) {
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", r.Header.Get("Upgrade"))
		line, _ := rw.ReadString('\n')
		_, _ = io.WriteString(c, "echo "+line)
	})
	g := start(t, gateway.Config{Upstreams: []string{upstream}})
	c, err := net.Dial("tcp", g.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	in := bufio.NewReader(c)
	if r, err := http.ReadResponse(in, nil); err != nil || r.StatusCode != 101 {
		t.Fatalf("got %v, error %v, want a change of protocol", r, err)
	}
	_, _ = io.WriteString(c, "hello\n")
	if got, err := in.ReadString('\n'); got != "echo hello\n" {
		t.Errorf("got %q, error %v", got, err)
	}
}

func TestStatusPage(t *testing.T) {
	for _, on := range []bool{false, true} {
		t.Run(fmt.Sprintf("on=%t", on), func(t *testing.T) {
			upstream := serve(t, func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) })
			g := start(t, gateway.Config{Upstreams: []string{upstream}, Status: on})
			get(t, g.URL()+"/")
			status, body := get(t, g.URL()+gateway.StatusPath)
			if !on {
				if status != 404 {
					t.Errorf("got status %d, want the upstream's 404", status)
				}
				return
			}
			var got gateway.Status
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatal(err)
			}
			want := gateway.UpstreamStatus{Address: upstream, Requests: 1, Connections: 1}
			if len(got.Upstreams) != 1 || got.Upstreams[0] != want {
				t.Errorf("got %+v, want %+v", got.Upstreams, want)
			}
		})
	}
}

func TestConfigMistakes(t *testing.T) {
	cases := map[string]struct {
		config gateway.Config
		want   string
	}{
		"nothing behind":    {gateway.Config{}, "no upstream: name at least one, as host:port"},
		"no port":           {gateway.Config{Upstreams: []string{"app"}}, `upstream "app": want host:port`},
		"port too high":     {gateway.Config{Upstreams: []string{"app:70000"}}, `upstream "app:70000": want a port from 1 to 65535`},
		"https":             {gateway.Config{Upstreams: []string{"https://app:1"}}, `upstream "https://app:1": want host:port and nothing else (plain HTTP, no path)`},
		"unknown policy":    {gateway.Config{Upstreams: []string{"a:1"}, Policy: "random"}, `policy "random": want roundrobin or leastconn`},
		"negative timeout":  {gateway.Config{Upstreams: []string{"a:1"}, Timeout: -1}, "timeout -1ns: is negative"},
		"negative maximum":  {gateway.Config{Upstreams: []string{"a:1"}, MaxConns: -1}, "connections -1: is negative"},
		"two at the time":   {gateway.Config{Policy: "x"}, "no upstream: name at least one, as host:port\npolicy \"x\": want roundrobin or leastconn"},
		"cannot be reached": {gateway.Config{Upstreams: []string{"a:1"}, Address: "256.0.0.1:1"}, "listen tcp"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := gateway.Start(c.config)
			if err == nil || !strings.HasPrefix(err.Error(), "start gateway: "+c.want) {
				t.Errorf("got error %v, want %q", err, "start gateway: "+c.want)
			}
		})
	}
}
