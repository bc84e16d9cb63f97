package driver_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"prony/internal/driver"
	"prony/internal/host"
	"prony/internal/plan"
)

func TestRunID(t *testing.T) {
	for _, c := range []struct {
		id   driver.RunID
		good bool
	}{
		{"20261130-a_b", true}, {"7", true}, {driver.RunID(strings.Repeat("x", 64)), true},
		{"", false}, {"-x", false}, {"_x", false}, {"a.b", false}, {"a b", false}, {"a/b", false}, {"ü", false},
		{driver.RunID(strings.Repeat("x", 65)), false},
	} {
		if err := c.id.Check(); (err == nil) != c.good {
			t.Errorf("%q: got %v, want good = %t", c.id, err, c.good)
		}
	}
}

func TestLabel(t *testing.T) {
	for _, c := range []struct {
		service string
		index   int
		want    string
	}{{"app", 0, "prony-r-1.app.0"}, {"my app.v2", 12, "prony-r-1.my_app_v2.12"}, {"Ä/..", 1, "prony-r-1.____.1"}} {
		got := driver.Request{Run: "r-1", Service: plan.Service{Name: c.service}, Index: c.index}.Label()
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.service, got, c.want)
		}
		if run, ours := driver.RunOf(got); run != "r-1" || !ours {
			t.Errorf("%q: got run %q, %t", got, run, ours)
		}
	}
	for _, name := range []string{"prony-test-1-2", "prony-", "prony-.x", "prony.x", "other-r.x", "prony-a b.x"} {
		if run, ours := driver.RunOf(name); ours {
			t.Errorf("%q: got run %q, want it to be none of ours", name, run)
		}
	}
}

func TestFeaturesMissing(t *testing.T) {
	all := plan.Limits{CPUs: 1, Cores: []int{0}, Memory: 1 << 20, PIDs: 5}
	for _, c := range []struct {
		name string
		can  driver.Features
		want []string
	}{
		{"nothing", driver.Features{}, []string{"cpus", "cpuset", "memory", "pids"}},
		{"some", driver.Features{CPUs: true, Memory: true}, []string{"cpuset", "pids"}},
		{"all", driver.Features{CPUs: true, Cores: true, Memory: true, PIDs: true}, nil},
	} {
		if got := c.can.Missing(all); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		if got := c.can.Missing(plan.Limits{}); len(got) != 0 {
			t.Errorf("%s, nothing asked: got %v", c.name, got)
		}
	}
}

func TestTook(t *testing.T) {
	asked := plan.Limits{CPUs: 0.2, Cores: []int{3, 1}, Memory: 1 << 20, PIDs: 5}
	for _, c := range []struct {
		name    string
		applied plan.Limits
		want    string
	}{
		{"as asked", plan.Limits{CPUs: 0.2, Cores: []int{1, 3}, Memory: 1 << 20, PIDs: 5}, ""},
		{"whole pages", plan.Limits{CPUs: 0.2, Cores: []int{1, 3}, Memory: 1<<20 - 4096, PIDs: 5}, ""},
		{"none of it", plan.Limits{}, "cpus: asked for 0.2, it says 0: the system did not take the limit\n" +
			"memory: asked for 1048576, it says 0: the system did not take the limit\n" +
			"pids: asked for 5, it says 0: the system did not take the limit\n" +
			"cpuset: asked for [3 1], it says []: the system did not take the limit"},
		{"more memory", plan.Limits{CPUs: 0.2, Cores: []int{1, 3}, Memory: 2 << 20, PIDs: 5}, "memory: asked for 1048576, it says 2097152: the system did not take the limit"},
		{"fewer cores", plan.Limits{CPUs: 0.2, Cores: []int{1}, Memory: 1 << 20, PIDs: 5}, "cpuset: asked for [3 1], it says [1]: the system did not take the limit"},
	} {
		got := ""
		if err := driver.Took(asked, c.applied); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q\nwant %q", c.name, got, c.want)
		}
	}
	if err := driver.Took(plan.Limits{}, asked); err != nil {
		t.Errorf("nothing asked: got %v", err)
	}
}

func TestUndo(t *testing.T) {
	var u driver.Undo
	var order []string
	bad := errors.New("it is stuck")
	for _, name := range []string{"first", "second", "third"} {
		u.Add("remove the "+name, func(context.Context) error {
			order = append(order, name)
			if name == "second" {
				return bad
			}
			return nil
		})
	}
	err := u.Run(t.Context())
	if got, want := strings.Join(order, " "), "third second first"; got != want {
		t.Errorf("got order %q, want %q", got, want)
	}
	if !errors.Is(err, bad) || err.Error() != "remove the second: it is stuck" {
		t.Errorf("got error %v", err)
	}
	if err := u.Run(t.Context()); err != nil || len(order) != 3 {
		t.Errorf("again: got %v and %v, want nothing to happen", err, order)
	}
}

// fake is a driver whose instance is an address that answers, or does not.
type fake struct {
	features driver.Features
	url      string
	ready    plan.Ready
	ended    chan struct{}
	exit     driver.Exit
	stops    atomic.Int64
	log      *driver.Log
	left     []driver.Leftover
}

func (f *fake) Features() driver.Features                   { return f.features }
func (f *fake) Check(context.Context, driver.Request) error { return nil }
func (f *fake) Start(context.Context, driver.Request) (*driver.Started, error) {
	return &driver.Started{Instance: f, Ready: f.ready, Ended: f.ended, Exit: func() driver.Exit { return f.exit }, Applied: plan.Limits{Memory: 64 << 20}}, nil
}
func (f *fake) Find(context.Context, driver.Site, driver.RunID) ([]driver.Leftover, error) {
	return f.left, nil
}
func (f *fake) Endpoint() string  { return f.url }
func (f *fake) Place() host.Place { return host.Place{} }
func (f *fake) Logs() *driver.Log { return f.log }
func (f *fake) Stop(context.Context) error {
	f.stops.Add(1)
	return nil
}

func request() driver.Request {
	return driver.Request{Run: "r", Service: plan.Service{Name: "app"}, Site: driver.Site{Host: host.Local()}, Ports: &driver.Ports{}}
}

func TestStartReady(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" && asked.Add(1) < 5 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		if r.URL.Path == "/elsewhere" {
			http.Redirect(w, r, "/", http.StatusFound)
		}
	}))
	defer server.Close()
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := deaf.Addr().String()
	_ = deaf.Close()
	for _, c := range []struct {
		name, url string
		ready     plan.Ready
		want      string // in the error; "" is success
	}{
		{"path", server.URL, plan.Ready{Path: "/", Status: 200, Within: 5 * time.Second}, ""},
		{"late", server.URL, plan.Ready{Path: "/late", Status: 200, Within: 5 * time.Second}, ""},
		{"another status", server.URL, plan.Ready{Path: "/elsewhere", Status: 302, Within: 5 * time.Second}, ""},
		{"no redirect is followed", server.URL, plan.Ready{Path: "/elsewhere", Status: 200, Within: 50 * time.Millisecond},
			"start app[0]: not ready within 50ms: GET " + server.URL + "/elsewhere: status 302, want 200"},
		{"connection", server.URL, plan.Ready{TCP: true, Within: 5 * time.Second}, ""},
		{"nobody", "http://" + free, plan.Ready{TCP: true, Within: 50 * time.Millisecond}, "start app[0]: not ready within 50ms: TCP connection to " + free + ": "},
		{"no line", server.URL, plan.Ready{Log: "^up", Within: 50 * time.Millisecond}, `not ready within 50ms: line that matches "^up": no line matched`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{url: c.url, ready: c.ready, log: driver.NewLog("", nil)}
			fmt.Fprint(f.log, "a line\n")
			r, err := driver.Start(t.Context(), f, request())
			if c.want == "" {
				if err != nil || r.Endpoint() != c.url {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasSuffix(err.Error(), "; its last lines:\n  a line") {
				t.Errorf("got error %v\nwant %q and the log in it", err, c.want)
			}
			if got := f.stops.Load(); got != 1 {
				t.Errorf("got %d stops, want 1", got)
			}
		})
	}
}

func TestStartRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*driver.Request)
		want string
	}{
		{"limits", func(r *driver.Request) { r.Service.Limits = plan.Limits{CPUs: 1, Memory: 1 << 20} },
			"start app[0]: limits that this kind of service cannot have: cpus, memory"},
		{"no host", func(r *driver.Request) { r.Site.Host = nil }, `start app[0]: host "": no host`},
		{"no address", func(r *driver.Request) { r.Site.Name = "sut" }, `start app[0]: host "sut": no address under which it can be reached`},
		{"no run", func(r *driver.Request) { r.Run = "" }, `start app[0]: run id "": want letters, digits, dashes and underscores, at most 64, the first a letter or a digit`},
		{"no ports", func(r *driver.Request) { r.Ports = nil }, "start app[0]: no ports to hand out"},
	} {
		q := request()
		c.edit(&q)
		_, err := driver.Start(t.Context(), &fake{features: driver.Features{Ports: true}}, q)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestAdvisory(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	q := request()
	q.Advisory, q.Service.Limits = true, plan.Limits{CPUs: 2}
	r, err := driver.Start(t.Context(), &fake{url: server.URL, ready: plan.Ready{TCP: true, Within: time.Second}, log: driver.NewLog("", nil)}, q)
	if err != nil {
		t.Fatal(err)
	}
	want := "limits are advisory and were not set (2 CPUs): limits that this kind of service cannot have: cpus"
	if got := strings.Join(r.Notes(), "|"); got != want {
		t.Errorf("got notes %q, want %q", got, want)
	}
}

func TestDeath(t *testing.T) {
	for _, c := range []struct {
		name string
		exit driver.Exit
		log  string
		want string
	}{
		{"status", driver.Exit{Reason: "exit status 3"}, "one\n\ntwo\n", "app[0] ended by itself before it was ready: exit status 3; its last lines:\n  one\n  two"},
		{"memory", driver.Exit{Reason: "ended by signal KILL", OOM: true}, "", "app[0] was killed for using more memory than its limit of 64 MiB (OOM kill) before it was ready: ended by signal KILL; it wrote nothing"},
		{"background", driver.Exit{Reason: "exit status 0", Clean: true}, "", "app[0] ended by itself before it was ready: exit status 0 (a program that goes into the background cannot be watched: start it in the foreground); it wrote nothing"},
	} {
		f := &fake{url: "http://127.0.0.1:1", ready: plan.Ready{TCP: true, Within: 10 * time.Second}, log: driver.NewLog("", nil), ended: make(chan struct{}), exit: c.exit}
		fmt.Fprint(f.log, c.log)
		close(f.ended)
		_, err := driver.Start(t.Context(), f, request())
		var death *driver.DeathError
		if !errors.As(err, &death) || err.Error() != c.want {
			t.Errorf("%s: got %q\nwant %q", c.name, err, c.want)
		}
	}
}

func TestCleanup(t *testing.T) {
	f := &fake{}
	stuck := errors.New("it is stuck")
	tries := 0
	add := func(name string, remove func() error) {
		f.left = append(f.left, driver.Leftover{Run: "r", Host: "sut", Kind: "folder", Name: name, Remove: func(context.Context) error { return remove() }})
	}
	add("/a", func() error { f.left = f.left[1:]; return nil })
	removed, err := driver.Cleanup(t.Context(), f, driver.Site{Host: host.Local()}, "r")
	if err != nil || len(removed) != 1 || removed[0].String() != "folder /a on sut (run r)" {
		t.Errorf("got %v, %v, want one thing removed", removed, err)
	}
	add("/b", func() error { tries++; return stuck })
	removed, err = driver.Cleanup(t.Context(), f, driver.Site{Host: host.Local()}, "r")
	if len(removed) != 0 || !errors.Is(err, stuck) || !strings.Contains(err.Error(), "left after the cleaning up: folder /b on sut (run r)") || tries != 3 {
		t.Errorf("got %v, %v after %d tries", removed, err, tries)
	}
	if _, err := driver.Cleanup(t.Context(), f, driver.Site{Host: host.Local()}, ""); err == nil || tries != 3 {
		t.Errorf("no run: got %v, want a refusal to clean up after all runs", err)
	}
}

func TestProgram(t *testing.T) {
	s := driver.Setting{Host: "::1", Port: 80, Work: "/w"}
	if got := s.URL(); got != "http://[::1]:80" {
		t.Errorf("got URL %q", got)
	}
	q := request()
	q.Base = "/base"
	q.Service.Process = &plan.Process{Command: []string{"${work}/a", "-p=${port}", "$${x}"}, Build: []string{"make", "${work}"}, Dir: "sub"}
	q.Service.Env = map[string]string{"LISTEN": "${host}"}
	p, err := q.Program(s)
	if err != nil || strings.Join(p.Command, " ") != "/w/a -p=80 ${x}" || p.Env["LISTEN"] != "::1" || p.Dir != "/base/sub" ||
		p.Build.Dir != "/base/sub" || p.Build.Command[1] != "${work}" {
		t.Errorf("got %+v, %v", p, err)
	}
	q.Service.Process.Command = []string{"${nothing}"}
	if _, err := q.Program(s); err == nil || !strings.Contains(err.Error(), "prepare the program: fill in") {
		t.Errorf("unknown variable: got %v", err)
	}
	q.Service.Process = nil
	if _, err := q.Program(s); err == nil || err.Error() != "prepare the program: it has no command" {
		t.Errorf("no program: got %v", err)
	}
	q.Render = func(driver.Setting) (driver.Program, error) {
		return driver.Program{Command: []string{"x"}, Env: map[string]string{"A": "1", "LISTEN": "2"}, Ready: plan.Ready{Path: "/up"}}, nil
	}
	p, err = q.Program(s)
	if err != nil || p.Env["A"] != "1" || p.Env["LISTEN"] != "::1" {
		t.Errorf("rendered: got %+v, %v, want the service's variables to win", p, err)
	}
	if got := q.ReadyOf(p); got.Path != "/up" || got.Status != 200 || got.Within != time.Minute {
		t.Errorf("got %+v, want the program's readiness with defaults", got)
	}
}
