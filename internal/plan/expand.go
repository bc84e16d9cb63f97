package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"prony/internal/schedule"
	"prony/internal/spec"
)

// Bounds of a warm-up that ends by itself. The least is for what was compiled
// ahead of time; a catalog entry that knows better asks for more.
const (
	leastWarmup = 10 * time.Second
	mostWarmup  = 3 * time.Minute
)

// expand turns the services and loads of one combination into a plan, with
// every default written out.
func (m *maker) expand(s spec.Setup, services []Service) Plan {
	for _, one := range s.Services {
		if one.Kubernetes != nil {
			m.wrong("services."+one.Name+".kubernetes", errors.New("understood, but Prony does not run services in Kubernetes yet; "+
				"use docker or compose, or name what runs in the cluster by its url"))
		}
	}
	p := Plan{Services: startOrder(services)}
	if m.spec.Scale.Auto {
		p.Fit = &Fit{Unseen: m.facts.unseen(services)}
		m.reduce(&p)
	}
	p.Cores = p.cores(m.facts)
	for i, t := range s.Load {
		x := expander{m: m, p: &p, t: t, path: loadPath(i, len(s.Load)), loads: len(s.Load)}
		l := x.load()
		l.Cores = p.CoresOf("", Generator)
		if i == 0 {
			p.Load = l
			continue
		}
		p.Also = append(p.Also, l)
	}
	return p
}

// expander is one load under way.
type expander struct {
	m    *maker
	p    *Plan
	t    spec.Traffic
	path string
	// loads is how many share the generator.
	loads int
}

func (x *expander) load() Load {
	t := x.t
	if t.Target == "" {
		t.Target = x.p.target()
		x.t.Target = t.Target
	}
	l := Load{Name: t.Name, Connections: int(min(scaled(int64(t.Connections), x.m.plan.Scale), math.MaxInt32)), Threads: t.Threads, Duration: time.Duration(t.Duration),
		Count: scaled(t.Count, x.m.pace), NoKeepAlive: t.KeepAlive != nil && !*t.KeepAlive, Pipeline: t.Pipeline,
		ConnectRate: t.ConnectRate, Dial: t.Dial, Sources: t.Sources, MaxHeader: int(t.MaxHeader), MaxBody: int64(t.MaxBody),
		With: unless(t.With, "prony"), Engine: Engine(t.Engine), Timestamps: Timestamps(t.Timestamps), Seed: t.Seed, AbortAfter: t.AbortAfter, SameLength: t.SameLength,
		Timeouts: Timeouts{Connect: time.Duration(t.ConnTimeout), TLS: time.Duration(t.TLSTimeout), Request: time.Duration(t.Timeout)},
		TLS: TLS{Insecure: t.Insecure, ServerName: t.ServerName, CAFile: t.CA, CertFile: t.Cert, KeyFile: t.Key, NoResume: t.NoResume,
			MinVersion: t.TLSMin, MaxVersion: t.TLSMax}}
	if x.loads > 1 && l.Name == "" {
		l.Name = t.Target
	}
	if t.Drain != nil {
		l.Drain = cmp.Or(time.Duration(*t.Drain), -1)
	}
	if t.Script != "" {
		l.Script = &Script{File: t.Script, Args: t.ScriptArgs}
	}
	x.warmup(&l)
	l.Think = x.think()
	l.Arrivals = x.arrivals(l)
	l.Requests = x.requests()
	x.capacity(&l)
	l = l.WithDefaults(x.facts(l))
	x.slowed(l)
	if err := l.Validate(); err != nil {
		x.m.wrong(x.path, err)
	}
	return l
}

// target is the only service; the file was refused if there are several.
func (p *Plan) target() string {
	if len(p.Services) == 0 {
		return ""
	}
	return p.Services[0].Name
}

func (p *Plan) service(name string) Service {
	i := slices.IndexFunc(p.Services, func(s Service) bool { return s.Name == name })
	if i < 0 {
		return Service{}
	}
	return p.Services[i]
}

// scaled multiplies a size of the load, which stays at least 1 if it was given.
func scaled(n int64, factor float64) int64 {
	if n == 0 || factor == 1 {
		return n
	}
	return int64(min(max(math.Round(float64(n)*factor), 1), 1<<53))
}

// warmup takes what was asked for. Something that has just been started is
// cold, so that auto is its default; with a count there can be none.
func (x *expander) warmup(l *Load) {
	w := x.t.Warmup
	if w == nil && x.t.Count == 0 && x.t.Capacity == nil && slices.ContainsFunc(x.p.Services, Service.Started) {
		w = &spec.Warmup{Auto: true}
	}
	switch {
	case w == nil:
	case w.Auto:
		x.p.Warmup = &Warmup{Least: leastWarmup, Most: mostWarmup}
	case x.t.Capacity == nil && slices.ContainsFunc(x.p.Services, func(s Service) bool { return s.Limits.StartupCPUs > 0 }):
		if x.p.Warmup == nil || x.p.Warmup.Most < w.Time {
			x.p.Warmup = &Warmup{Least: w.Time, Most: w.Time}
		}
	default:
		l.Warmup = w.Time
	}
}

func (x *expander) think() schedule.Think {
	t := schedule.Think{Mean: x.t.Think.Mean}
	if x.t.Think.Distribution == "" {
		return t
	}
	if err := t.Distribution.UnmarshalText([]byte(x.t.Think.Distribution)); err != nil {
		x.m.wrong(x.path+".think", err)
	}
	if t.Distribution == schedule.Uniform {
		t.Spread = t.Mean
	}
	return t
}

// arrivals is the timetable of the open model. A ramp or steps share the
// window; a warm-up of a fixed length before it goes at the first rate.
func (x *expander) arrivals(l Load) schedule.Arrivals {
	points := slices.Clone(x.t.Rate.Points)
	for i := range points {
		points[i] *= x.m.pace
	}
	var a schedule.Arrivals
	window := cmp.Or(l.Duration, 10*time.Second)
	switch {
	case len(points) == 0:
		return a
	case x.t.Rate.Ramp:
		a = schedule.Ramp(points[0], points[1], window)
	case len(points) == 1:
		a = schedule.Rate(points[0])
	default:
		a = schedule.Steps(window/time.Duration(len(points)), points...)
	}
	if len(points) > 1 && l.Warmup > 0 {
		first := schedule.Segment{From: points[0], To: points[0], Duration: l.Warmup}
		a.Segments = append([]schedule.Segment{first}, a.Segments...)
	}
	a.Process = schedule.Poisson
	if x.t.Arrivals == "constant" {
		a.Process = schedule.Constant
	}
	return a
}

// requests gives the mix with the addresses of what runs already, and with the
// names of services in place of those that are not known yet.
func (x *expander) requests() []Request {
	written := x.t.Requests
	if len(written) == 0 {
		written = []spec.Request{{Path: cmp.Or(x.t.Path, "/")}}
	}
	var all []Request
	for i, w := range written {
		q := Request{Name: w.Name, Proto: w.Proto, Host: w.Host, Weight: cmp.Or(w.Weight, 1)}
		if q.Proto == "HTTP/1.1" {
			q.Proto = ""
		}
		q.Headers = headers(x.t.Headers, w.Headers)
		if body := cmp.Or(w.Body, x.t.Body); body != "" {
			q.Body = []byte(body)
		}
		q.Method = cmp.Or(w.Method, x.t.Method)
		if q.Method == "" {
			q.Method = "GET"
			if q.Body != nil {
				q.Method = "POST"
			}
		}
		if err := x.address(&q, cmp.Or(w.Service, x.t.Target), w.Path); err != nil {
			x.m.wrong(fmt.Sprintf("%s.requests[%d].path", x.path, i), err)
		}
		all = append(all, q)
	}
	return all
}

// address puts a path behind the address of a service.
func (x *expander) address(q *Request, service, path string) error {
	s := x.p.service(service)
	base := "http://" + service
	if s.Kind == External {
		base = strings.TrimSuffix(s.URL, "/")
	} else {
		q.Service = service
	}
	if path == "*" { // OPTIONS * has no path in any URL (RFC 9112, 3.2.4)
		q.URL, q.Target = base+"/", "*"
		return nil
	}
	u, err := url.Parse(base + path)
	if err != nil {
		return fmt.Errorf("path %q: %w", path, err)
	}
	u.Fragment = ""
	q.URL = u.String()
	if origin, err := url.Parse(base); err == nil && u.RequestURI() != origin.EscapedPath()+path {
		q.Target = origin.EscapedPath() + path // sent as it was written
	}
	return nil
}

// headers puts the fields of a request behind those of its load; a field of the
// same name replaces them.
func headers(load, request [][]string) []Header {
	var all []Header
	for _, h := range load {
		if !slices.ContainsFunc(request, func(r []string) bool { return strings.EqualFold(r[0], h[0]) }) {
			all = append(all, Header{h[0], h[1]})
		}
	}
	for _, h := range request {
		all = append(all, Header{h[0], h[1]})
	}
	return all
}

// capacity reads the goals of a search.
func (x *expander) capacity(l *Load) {
	if x.t.Capacity == nil {
		return
	}
	c := &Capacity{Within: x.t.Capacity.Within}
	if c.Within == 0 {
		c.Within = 0.02
	}
	for i, text := range x.t.Capacity.SLO {
		goal, err := ParseExpectation(text)
		if err != nil {
			x.m.wrong(fmt.Sprintf("%s.capacity.slo[%d]", x.path, i), err)
		}
		c.SLO = append(c.SLO, goal)
	}
	l.Connections = cmp.Or(l.Connections, 1000) // the search sends by a rate
	x.p.Capacity = c
}

// facts are what the defaults of this load follow from.
func (x *expander) facts(l Load) Facts {
	f := x.m.facts
	f.Loopback = false
	f = x.p.facts(f)
	f.CPUs = max(f.CPUs/x.loads, 1)
	for _, q := range l.Requests {
		u, err := url.Parse(q.URL)
		if err == nil && q.Service == "" && loopback(u.Hostname(), l.Dial) {
			f.Loopback = true
		}
	}
	return f
}

// loopback reports whether an address is one of this machine.
func loopback(host, dial string) bool {
	if strings.HasPrefix(dial, "unix:") || host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
