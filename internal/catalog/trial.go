package catalog

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// sampleUpstreams is how many upstreams a gateway gets in a trial: two, so that
// a configuration that only works with one is found out.
const sampleUpstreams = 2

// Trial starts entries to see whether they are what they say.
type Trial struct {
	Catalog *Catalog
	Params  map[string]string // of the entry; its upstreams have their defaults
	Cache   string            // folder of builds, absolute
	Prony   string            // this program; see [Place]
	// Say is told what goes on, a line each; it may be nil.
	Say func(line string)
}

// Outcome is what a trial found.
type Outcome struct {
	URL      string
	Routes   []RouteCheck
	Counters []Counter // after the routes; nil if the entry has none
	// CounterError says why the counters cannot be right.
	CounterError error
}

// RouteCheck is a route and what was wrong with its answer, if anything.
type RouteCheck struct {
	Route Route
	Err   error
}

// Good reports whether everything was as the entry says.
func (o Outcome) Good() bool {
	for _, r := range o.Routes {
		if r.Err != nil {
			return false
		}
	}
	return o.CounterError == nil
}

// Run starts an entry on a free port of loopback in a temporary folder, waits
// until it serves, asks for its routes and stops it. A gateway gets upstreams
// of its sample, and owes their routes too. The error is about starting; wrong
// answers are in the outcome.
func (t Trial) Run(ctx context.Context, name string) (Outcome, error) {
	e, err := t.Catalog.Entry(name)
	if err != nil {
		return Outcome{}, err
	}
	dir, err := os.MkdirTemp("", "prony-catalog-")
	if err != nil {
		return Outcome{}, fmt.Errorf("try catalog entry %s: %w", name, err)
	}
	defer os.RemoveAll(dir)
	routes, upstreams := e.Routes, []string(nil)
	if e.Kind == Gateway {
		sample, err := t.Catalog.Entry(e.SampleUpstream)
		if err != nil {
			return Outcome{}, fmt.Errorf("try catalog entry %s: sample-upstream: %w", name, err)
		}
		routes = append(routes[:len(routes):len(routes)], sample.Routes...)
		for i := range sampleUpstreams {
			s, err := t.start(ctx, sample, nil, nil, filepath.Join(dir, fmt.Sprint("upstream", i+1)))
			if err != nil {
				return Outcome{}, err
			}
			defer s.stop()
			upstreams = append(upstreams, s.address)
		}
	}
	s, err := t.start(ctx, e, t.Params, upstreams, filepath.Join(dir, "entry"))
	if err != nil {
		return Outcome{}, err
	}
	defer s.stop()
	return t.look(ctx, e, s, routes), ctx.Err()
}

// look asks a server for the routes and the counters.
func (t Trial) look(ctx context.Context, e *Entry, s *server, routes []Route) Outcome {
	o := Outcome{URL: "http://" + s.address}
	var right int64
	for _, r := range routes {
		check := RouteCheck{r, r.Check(ctx, o.URL)}
		if check.Err == nil {
			right++
		}
		o.Routes = append(o.Routes, check)
	}
	if e.Counters != nil {
		o.Counters, o.CounterError = e.Counters.Read(ctx, o.URL)
		var sum int64
		for _, c := range o.Counters {
			sum += c.Requests
		}
		if o.CounterError == nil && sum < right {
			o.CounterError = fmt.Errorf("%d requests counted, but %d were answered", sum, right)
		}
	}
	return o
}

// Read asks a server for its counters.
func (c Counters) Read(ctx context.Context, server string) ([]Counter, error) {
	a, err := ask(ctx, http.MethodGet, server+c.Path)
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	if a.status != http.StatusOK {
		return nil, fmt.Errorf("read counters at %s: got status %d, want 200", c.Path, a.status)
	}
	return c.Format.Parse(a.body)
}

// server is an entry that runs.
type server struct {
	address string
	cmd     *exec.Cmd
	cancel  context.CancelFunc
	ended   chan struct{} // closed when the program has ended
	err     error         // of it, then
	said    tail
}

// start renders, builds and starts an entry and waits until it serves.
func (t Trial) start(ctx context.Context, e *Entry, params map[string]string, upstreams []string, work string) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, fmt.Errorf("start catalog entry %s: %w", e.Name, err)
	}
	files, command, err := e.Render(params, Place{Port: port, Work: work, Cache: t.Cache, Prony: t.Prony, Upstreams: upstreams})
	if err != nil {
		return nil, err
	}
	if command.Build != nil {
		if !command.Build.There() {
			t.say("building %s", e.Name)
		}
		if err := command.Build.Build(ctx); err != nil {
			return nil, fmt.Errorf("start catalog entry %s: %w", e.Name, err)
		}
	}
	if err := errors.Join(os.MkdirAll(work, 0o755), files.Write(work)); err != nil {
		return nil, fmt.Errorf("start catalog entry %s: %w", e.Name, err)
	}
	t.say("starting %s on port %d", e.Name, port)
	s, err := launch(ctx, command, net.JoinHostPort("127.0.0.1", fmt.Sprint(port)))
	if err == nil {
		err = s.await(ctx, e.Ready)
	}
	if err != nil {
		return nil, fmt.Errorf("start catalog entry %s: %w", e.Name, err)
	}
	return s, nil
}

func (t Trial) say(format string, args ...any) {
	if t.Say != nil {
		t.Say(fmt.Sprintf(format, args...))
	}
}

// freePort is a port where nobody listens now. Another program may take it
// before ours does; then ours says so and ends.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// launch starts the program of a command.
func launch(ctx context.Context, command Command, address string) (*server, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &server{address: address, cancel: cancel, ended: make(chan struct{})}
	s.cmd = exec.CommandContext(ctx, command.Args[0], command.Args[1:]...)
	s.cmd.Dir, s.cmd.Env = command.Dir, append(os.Environ(), command.Env...)
	s.cmd.Stdout, s.cmd.Stderr = &s.said, &s.said
	tidyEnd(s.cmd)
	if err := s.cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		s.err = s.cmd.Wait()
		close(s.ended)
	}()
	return s, nil
}

// stop ends the program and waits for it.
func (s *server) stop() {
	s.cancel()
	<-s.ended
	sweep(s.cmd)
}

// pollEvery is the time between two looks at a program that starts.
const pollEvery = 20 * time.Millisecond

// await waits until the server is ready. If that does not come, the program is
// stopped, and its last words are in the error.
func (s *server) await(ctx context.Context, ready Ready) error {
	ctx, cancel := context.WithTimeout(ctx, ready.Within)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	last := errors.New("it was not asked")
	for {
		select {
		case <-s.ended:
			s.stop()
			return fmt.Errorf("it ended before it served: %v%s", s.err, s.said.lines())
		case <-ctx.Done():
			s.stop()
			return fmt.Errorf("it does not serve %s within %v: %w%s", ready.Path, ready.Within, last, s.said.lines())
		case <-tick.C:
		}
		a, err := ask(ctx, http.MethodGet, "http://"+s.address+ready.Path)
		if err == nil && a.status == ready.Status {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("got status %d, want %d", a.status, ready.Status)
		}
		if ctx.Err() == nil {
			last = err
		}
	}
}
