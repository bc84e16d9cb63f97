package main

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"prony/internal/plan"
	"prony/internal/schedule"
	"prony/internal/unit"
)

// reader parses flag values and keeps every mistake.
type reader struct{ errs []error }

func (r *reader) bad(flag string, err error) {
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("--%s: %w", flag, err))
	}
}

func (r *reader) duration(flag, s string) time.Duration {
	if s == "" {
		return 0
	}
	d, err := unit.ParseDuration(s)
	r.bad(flag, err)
	return d
}

func (r *reader) size(flag, s string) int64 {
	if s == "" {
		return 0
	}
	n, err := unit.ParseSize(s)
	r.bad(flag, err)
	return n
}

// plan turns the flags into a plan with every default written out.
func (f *loadFlags) plan(urls []string) (plan.Plan, error) {
	r := &reader{}
	l := plan.Load{Connections: f.connections, Threads: f.threads, NoKeepAlive: f.noKeepAlive, Pipeline: f.pipeline,
		Duration: r.duration("duration", f.duration), Warmup: r.duration("warmup", f.warmup), Drain: r.duration("drain", f.drain),
		Timeouts: plan.Timeouts{Connect: r.duration("connect-timeout", f.connectTimeout), TLS: r.duration("tls-timeout", f.tlsTimeout),
			Request: r.duration("timeout", f.timeout)},
		Dial: f.dial, Sources: f.sources, Engine: plan.Engine(f.engine), Timestamps: plan.Timestamps(f.timestamps), Seed: f.seed,
		AbortAfter: f.abortAfter, MaxHeader: int(r.size("max-header", f.maxHeader)), MaxBody: r.size("max-body", f.maxBody),
		TLS: plan.TLS{Insecure: f.insecure, ServerName: f.serverName, CAFile: f.ca, CertFile: f.cert, KeyFile: f.key, NoResume: f.noResume,
			MinVersion: f.tlsMin, MaxVersion: f.tlsMax}}
	if f.drain != "" && l.Drain == 0 {
		l.Drain = -1 // a zero was typed: do not wait
	}
	if f.count != "" {
		n, err := unit.ParseCount(f.count)
		r.bad("requests", err)
		l.Count = n
	}
	if f.connectRate != "" {
		v, err := unit.ParseRate(f.connectRate)
		r.bad("connect-rate", err)
		l.ConnectRate = v
	}
	l.Requests = f.requests(r, urls)
	l.Arrivals = f.timetable(r, l.Duration)
	l.Think = f.thinking(r)
	p := plan.Plan{Name: "load", Seed: f.seed}
	for _, text := range f.expect {
		e, err := plan.ParseExpectation(text)
		r.bad("expect", err)
		p.Expect = append(p.Expect, e)
	}
	f.words(r)
	if len(r.errs) > 0 {
		return p, errors.Join(r.errs...)
	}
	p.Load = l.WithDefaults(facts(l))
	return p, errors.Join(p.Load.Validate(), encodable(p.Load))
}

// requests makes one request of each URL.
func (f *loadFlags) requests(r *reader, urls []string) []plan.Request {
	if len(urls) == 0 {
		r.errs = append(r.errs, errors.New("no URL given, e.g. prony load http://127.0.0.1:8080/"))
	}
	if len(f.weights) > 0 && len(f.weights) != len(urls) {
		r.errs = append(r.errs, fmt.Errorf("--weight: %d weights for %d URLs", len(f.weights), len(urls)))
	}
	headers, body := f.parseHeaders(r), f.readBody(r)
	method := f.method
	if method == "" && body != nil {
		method = "POST"
	}
	var all []plan.Request
	for i, s := range urls {
		u, err := checkURL(s)
		if err != nil {
			r.errs = append(r.errs, err)
			continue
		}
		own := withCredentials(headers, u)
		q := plan.Request{Method: cmp.Or(method, "GET"), URL: u.String(), Headers: own, Body: body, Weight: 1}
		if i < len(f.weights) {
			if q.Weight = f.weights[i]; q.Weight <= 0 {
				r.errs = append(r.errs, fmt.Errorf("--weight: %g is not above 0", q.Weight))
			}
		}
		all = append(all, q)
	}
	return all
}

func checkURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil && !strings.Contains(s, "://"): // host:port/ confuses the parser
		return nil, fmt.Errorf("URL %q: want http:// or https:// in front", s)
	case err != nil:
		return nil, fmt.Errorf("URL %q: %w", s, err)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("URL %q: want http:// or https:// in front", s)
	case u.Hostname() == "":
		return nil, fmt.Errorf("URL %q: no host", s)
	case strings.HasSuffix(u.Host, ":") || u.Port() != "" && !isPort(u.Port()):
		return nil, fmt.Errorf("URL %q: want a port from 1 to 65535", s)
	}
	u.Fragment = ""
	return u, nil
}

// withCredentials moves user and password of the URL to where they travel, the
// Authorization header (RFC 7617), unless one was given.
func withCredentials(headers []plan.Header, u *url.URL) []plan.Header {
	user := u.User
	u.User = nil
	given := func(h plan.Header) bool { return strings.EqualFold(h.Name, "Authorization") }
	if user == nil || slices.ContainsFunc(headers, given) {
		return headers
	}
	password, _ := user.Password()
	basic := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
	return append(slices.Clip(headers), plan.Header{Name: "Authorization", Value: "Basic " + basic})
}

func (f *loadFlags) parseHeaders(r *reader) []plan.Header {
	var all []plan.Header
	for _, h := range f.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			r.errs = append(r.errs, fmt.Errorf("--header %q: want 'Name: value'", h))
			continue
		}
		all = append(all, plan.Header{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	return all
}

func (f *loadFlags) readBody(r *reader) []byte {
	file, ok := strings.CutPrefix(f.body, "@")
	switch {
	case f.body == "":
		return nil
	case !ok:
		return []byte(f.body)
	}
	b, err := os.ReadFile(file)
	r.bad("body", err)
	return b
}

// timetable reads --rate: a rate, a ramp a..b, steps a,b,c or @FILE.
func (f *loadFlags) timetable(r *reader, window time.Duration) schedule.Arrivals {
	if f.rate == "" {
		return schedule.Arrivals{}
	}
	if window == 0 {
		window = 10 * time.Second
	}
	a, err := f.parseRate(window)
	r.bad("rate", err)
	_ = a.Process.UnmarshalText([]byte(f.arrivals)) // words tells of a mistake
	a.Seed = f.seed
	return a
}

func (f *loadFlags) parseRate(window time.Duration) (schedule.Arrivals, error) {
	if file, ok := strings.CutPrefix(f.rate, "@"); ok {
		in, err := os.Open(file)
		if err != nil {
			return schedule.Arrivals{}, err
		}
		defer in.Close()
		return schedule.ReadReplay(in)
	}
	text, per, _ := strings.Cut(f.rate, "/")
	parse := func(s string) (float64, error) { return unit.ParseRate(s + "/" + cmp.Or(per, "s")) }
	if from, to, ok := strings.Cut(text, ".."); ok {
		a, err1 := parse(from)
		b, err2 := parse(to)
		return schedule.Ramp(a, b, window), errors.Join(err1, err2)
	}
	steps := strings.Split(text, ",")
	rates := make([]float64, len(steps))
	for i, s := range steps {
		var err error
		if rates[i], err = parse(s); err != nil {
			return schedule.Arrivals{}, err
		}
	}
	if len(rates) == 1 {
		return schedule.Rate(rates[0]), nil
	}
	return schedule.Steps(window/time.Duration(len(rates)), rates...), nil
}

// thinking reads --think: a time, or a time and a distribution.
func (f *loadFlags) thinking(r *reader) schedule.Think {
	var t schedule.Think
	if f.think == "" {
		return t
	}
	mean, rest, _ := strings.Cut(f.think, " ")
	t.Mean = r.duration("think", mean)
	if rest != "" {
		r.bad("think", t.Distribution.UnmarshalText([]byte(strings.TrimSpace(rest))))
		if t.Distribution == schedule.Uniform {
			t.Spread = t.Mean
		}
	}
	return t
}

// facts are what defaults depend on.
func facts(l plan.Load) plan.Facts {
	f := plan.Facts{CPUs: usableCPUs()}
	for _, q := range l.Requests {
		if u, err := url.Parse(q.URL); err == nil && onLoopback(u.Hostname(), l.Dial) {
			f.Loopback = true
		}
	}
	return f
}

func onLoopback(host, dial string) bool {
	if strings.HasPrefix(dial, "unix:") || host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
