package serve_test

import (
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"prony/internal/serve"
	"prony/internal/store"
)

const token = "0123456789abcdef"

func TestNewRefuses(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, c := range map[string]struct {
		config serve.Config
		want   error
	}{
		"public without a token": {serve.Config{Store: s, Public: true}, serve.ErrToken},
		"a short token":          {serve.Config{Store: s, Token: "secret"}, serve.ErrToken},
		"public with a token":    {serve.Config{Store: s, Public: true, Token: token}, nil},
		"loopback without":       {serve.Config{Store: s}, nil},
	} {
		if _, err := serve.New(c.config); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	if _, err := serve.New(serve.Config{}); err == nil {
		t.Error("got a server without a store")
	}
}

// TestHosts: who calls the server by a foreign name was led here.
func TestHosts(t *testing.T) {
	c := config()
	c.Hosts = []string{"bench.example"}
	private := start(t, c)
	c.Public, c.Token = true, token
	public := start(t, c)
	for host, want := range map[string]struct{ private, public int }{
		"127.0.0.1:7676": {200, 200}, "127.0.0.1": {200, 200}, "localhost:1": {200, 200}, "LOCALHOST.": {200, 200}, "[::1]:7676": {200, 200},
		"bench.example": {200, 200}, "Bench.Example.:8443": {200, 200},
		"evil.example": {403, 403}, "localhost.evil.example": {403, 403}, "127.0.0.1.evil.example:7676": {403, 403}, "evil.example:7676": {403, 403},
		"192.168.1.10:7676": {403, 200}, "0.0.0.0:7676": {403, 200}, "[::ffff:127.0.0.1]": {200, 200}, "2130706433": {403, 403}, "": {200, 200}, // the client fills it in
	} {
		for f, want := range map[*fixture]int{private: want.private, public: want.public} {
			for _, path := range []string{"/api/runs", "/", "/report/last"} {
				r := f.request(t, "GET", path, "")
				r.Host = host
				got := f.send(t, r).StatusCode
				if path == "/report/last" && got == 404 {
					got = 200 // there is no run; it was answered
				}
				if got != want {
					t.Errorf("host %q, public %v, %s: status %d, want %d", host, f == public, path, got, want)
				}
			}
		}
	}
}

// TestToken: nothing is answered without it, neither pages nor problems that
// tell what there is.
func TestToken(t *testing.T) {
	c := config()
	c.Token = token
	f := start(t, c)
	for name, h := range map[string]struct {
		authorization string
		want          int
	}{
		"bearer": {"Bearer " + token, 200}, "any case of the scheme": {"bearer " + token, 200},
		"none": {"", 401}, "wrong": {"Bearer 0123456789abcdeF", 401}, "longer": {"Bearer " + token + "0", 401}, "empty": {"Bearer ", 401}, "no scheme": {token, 401},
	} {
		for _, path := range []string{"/", "/api/runs", "/assets/index-B3x9Qk2f.js", "/api/openapi.json"} {
			r := f.request(t, "GET", path, "")
			r.Header.Del("Authorization")
			if h.authorization != "" {
				r.Header.Set("Authorization", h.authorization)
			}
			a := f.send(t, r)
			if a.StatusCode != h.want {
				t.Errorf("%s, %s: status %d, want %d", name, path, a.StatusCode, h.want)
			}
			if h.want == 401 && !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Basic ") {
				t.Errorf("%s: a browser would not ask for it: %v", name, a.Header)
			}
		}
	}
	r := f.request(t, "GET", "/api/runs", "")
	r.SetBasicAuth("anybody", token)
	if got := f.send(t, r).StatusCode; got != 200 {
		t.Errorf("as a password: status %d", got)
	}
	r.SetBasicAuth(token, "")
	if got := f.send(t, r).StatusCode; got != 401 {
		t.Errorf("as a user: status %d, want 401", got)
	}
}

// TestForeignPages: what a page of another origin can send changes nothing, also
// when the browser adds a password by itself.
func TestForeignPages(t *testing.T) {
	c := config()
	c.Token = token
	f := filled(t, c)
	for name, h := range map[string]struct {
		headers map[string]string
		want    int
	}{
		"a program with the token":         {map[string]string{"Authorization": "Bearer " + token}, 200},
		"our page":                         {map[string]string{"Sec-Fetch-Site": "same-origin", "X-Prony": "1"}, 200},
		"our page in an older browser":     {map[string]string{"Origin": f.http.URL, "X-Prony": "1"}, 200},
		"our page without the header":      {map[string]string{"Sec-Fetch-Site": "same-origin"}, 403},
		"a form elsewhere":                 {map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"}, 403},
		"a script elsewhere":               {map[string]string{"Sec-Fetch-Site": "cross-site", "X-Prony": "1"}, 403},
		"another port of this machine":     {map[string]string{"Sec-Fetch-Site": "same-site", "X-Prony": "1"}, 403},
		"an older browser elsewhere":       {map[string]string{"Origin": "http://evil.example", "X-Prony": "1"}, 403},
		"a sandbox":                        {map[string]string{"Origin": "null", "X-Prony": "1"}, 403},
		"a form of an older browser":       {map[string]string{"Content-Type": "text/plain"}, 403},
		"a script elsewhere with a bearer": {map[string]string{"Sec-Fetch-Site": "cross-site", "Authorization": "Bearer " + token}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"POST /api/runs/" + string(f.load) + "/tags"} {
				method, path, _ := strings.Cut(path, " ")
				r := f.request(t, method, path, `{"tags": ["x"]}`)
				r.Header.Del("X-Prony")
				r.SetBasicAuth("", token)
				for k, v := range h.headers {
					r.Header.Set(k, v)
				}
				if a := f.send(t, r); a.StatusCode != h.want {
					t.Errorf("%s %s: status %d, want %d: %s", method, path, a.StatusCode, h.want, a.body)
				}
			}
		})
	}
	// Every route that changes something is behind the same door, and no page
	// elsewhere is told that it may ask.
	for _, route := range serve.Routes() {
		method, path, _ := strings.Cut(route, " ")
		r := f.request(t, method, strings.NewReplacer("{id}", string(f.load), "{tag}", "x").Replace(path), "")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		a := f.send(t, r)
		if a.StatusCode != 403 {
			t.Errorf("%s from elsewhere: status %d, want 403", route, a.StatusCode)
		}
		r.Method = "OPTIONS"
		r.Header.Set("Access-Control-Request-Method", method)
		if a = f.send(t, r); a.StatusCode < 400 || a.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("OPTIONS %s: status %d, %v", path, a.StatusCode, a.Header)
		}
	}
}

// TestMethods: a wrong one is answered with the right ones.
func TestMethods(t *testing.T) {
	f := filled(t, config())
	allowed := map[string]map[string]bool{}
	for _, route := range serve.Routes() {
		method, path, _ := strings.Cut(route, " ")
		if allowed[path] == nil {
			allowed[path] = map[string]bool{}
		}
		allowed[path][method] = true
	}
	for path, methods := range allowed {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE", "PATCH", "BREW"} {
			if methods[method] {
				continue
			}
			a := f.send(t, f.request(t, method, strings.NewReplacer("{id}", string(f.load), "{tag}", "x").Replace(path), ""))
			if a.StatusCode != http.StatusMethodNotAllowed || a.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s %s: status %d, want 405 and a problem", method, path, a.StatusCode)
			}
			for m := range methods {
				if !strings.Contains(a.Header.Get("Allow"), m) {
					t.Errorf("%s %s: Allow is %q, without %s", method, path, a.Header.Get("Allow"), m)
				}
			}
		}
	}
	for _, path := range []string{"/api/", "/api/nothing", "/api/runs/x/y/z", "/api"} {
		if a := f.send(t, f.request(t, "GET", path, "")); path != "/api" && (a.StatusCode != 404 || a.Header.Get("Content-Type") != "application/problem+json") {
			t.Errorf("%s: status %d, %v", path, a.StatusCode, a.Header)
		}
	}
}

// TestSecurityHeaders: on every kind of answer.
func TestSecurityHeaders(t *testing.T) {
	f := filled(t, config())
	for _, path := range []string{"/", "/assets/index-B3x9Qk2f.js", "/api/runs", "/api/nothing", "/report/last", "/report/nothing", "/api/runs/last/bundle", "/nothing.js"} {
		a := f.send(t, f.request(t, "GET", path, ""))
		policy := a.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q lacks %s", path, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
			t.Errorf("%s: the policy %q allows too much", path, policy)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin"} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
}
