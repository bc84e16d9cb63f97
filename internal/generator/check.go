package generator

import (
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"prony/internal/plan"
	"prony/internal/schedule"
)

// usualTimeout is the one that a plan has when nobody asked for another.
const usualTimeout = 10 * time.Second

// Check refuses a load that its program cannot make as it is described, with
// all reasons at once, and a program that is not installed on this machine, with
// the command that installs it. The load has its defaults written out.
func Check(l plan.Load) error { return check(l, exec.LookPath) }

func check(l plan.Load, find func(string) (string, error)) error {
	p, ok := Lookup(l.With)
	if !ok {
		return fmt.Errorf("load with %q: no such program; want one of %s", l.With, names())
	}
	errs := append(p.refusals(l), p.missing(find)...)
	return errors.Join(errs...)
}

// names lists the programs for people.
func names() string {
	var all []string
	for _, p := range Programs() {
		all = append(all, p.Name)
	}
	return strings.Join(all, ", ")
}

// missing says which executables are not there.
func (p Program) missing(find func(string) (string, error)) []error {
	var errs []error
	for _, name := range p.needs {
		if _, err := find(name); err != nil {
			errs = append(errs, fmt.Errorf("find %s: not installed; install it with: %s", name, p.Install))
		}
	}
	return errs
}

// refusals are the reasons why the program cannot make the load.
func (p Program) refusals(l plan.Load) []error {
	r := refusal{program: p.Name}
	r.time(p.Can, l)
	r.shape(p.Can, l)
	r.connections(p.Can, l)
	r.ours(l)
	if len(l.Requests) != 1 {
		r.bad(true, "it sends one request over and over, and the load has %d with weights", len(l.Requests))
		return r.errs
	}
	r.request(p.Can, l.Requests[0], l.Script != nil)
	if strings.HasPrefix(l.Requests[0].URL, "https:") {
		r.tls(p.Can, l.TLS)
	}
	return r.errs
}

// refusal gathers reasons.
type refusal struct {
	program string
	errs    []error
}

func (r *refusal) bad(is bool, format string, args ...any) {
	if is {
		r.errs = append(r.errs, fmt.Errorf(r.program+": "+format, args...))
	}
}

// time looks at how long the load lasts and what ends it.
func (r *refusal) time(can Ability, l plan.Load) {
	r.bad(l.Count > 0 && !can.Count, "it cannot end after a number of requests: use a duration")
	r.bad(l.Count > 0 && l.Duration > 0 && can.Count && !can.CountAndTime, "it takes a number of requests or a duration, not both")
	r.bad(l.Count > 0 && can.CountEvenly && l.Connections > 0 && l.Count%int64(l.Connections) != 0,
		"it sends %d requests on each connection and drops the rest: use a multiple of %d connections", l.Count/int64(max(l.Connections, 1)), l.Connections)
	r.bad(l.Count == 0 && l.Duration <= 0, "it needs a duration")
	r.bad(l.Duration%can.Step != 0, "duration %v: it takes multiples of %v", l.Duration, can.Step)
	r.bad(l.Warmup%can.Step != 0, "warm-up %v: it takes multiples of %v", l.Warmup, can.Step)
	timeout := l.Timeouts.Request
	r.bad(can.TimeoutStep == 0 && timeout != 0 && timeout != usualTimeout, "timeout %v: it has none for a request", timeout)
	r.bad(can.TimeoutStep > 0 && timeout%can.TimeoutStep != 0, "timeout %v: it takes multiples of %v", timeout, can.TimeoutStep)
	for _, t := range []time.Duration{l.Timeouts.Connect, l.Timeouts.TLS} {
		r.bad(t != 0 && t != usualTimeout, "timeout %v for connecting: it cannot be told one", t)
	}
}

// shape looks at what sends the next request.
func (r *refusal) shape(can Ability, l plan.Load) {
	if l.Model == plan.Open || l.Arrivals.Open() {
		a := l.Arrivals
		flat := len(a.Segments) == 1 && a.Segments[0].From == a.Segments[0].To
		r.bad(can.NoOpen != "", "a rate (open model): %s", can.NoOpen)
		r.bad(can.NoOpen == "" && !flat, "a rate that changes, or planned times: it sends at one rate")
		r.bad(can.NoOpen == "" && a.Process != schedule.Constant, "%s arrivals: it sends at constant gaps; use arrivals: constant", a.Process)
	}
	r.bad(l.Think != (schedule.Think{}), "think time: its connections send again at once")
	r.bad(l.Script != nil && !can.Script, "a script: only wrk and prony run wrk's")
	r.bad(l.SameLength && !can.SameLength, "same-length: it does not compare the lengths of answers")
}

// connections looks at how connections are made and used.
func (r *refusal) connections(can Ability, l plan.Load) {
	r.bad(can.EvenThreads && l.Threads > 0 && l.Connections%l.Threads != 0,
		"it would open %d of %d connections with %d threads: make them a multiple", l.Connections/max(l.Threads, 1)*l.Threads, l.Connections, l.Threads)
	r.bad(l.NoKeepAlive && !can.NoKeepAlive, "no keep-alive: it keeps its connections open")
	r.bad(l.Pipeline > 1 && !can.Pipeline, "pipelining: it has one request in flight on a connection")
	r.bad(l.Dial != "", "dial: it connects to the address of the URL")
	r.bad(len(l.Sources) > 0 && !can.Source, "sources: it cannot be told the address to connect from")
	r.bad(len(l.Sources) > 1 && can.Source, "%d sources: it connects from one address", len(l.Sources))
	r.bad(l.ConnectRate > 0, "connect-rate: it opens its connections at once")
}

// ours are options of Prony's own engine.
func (r *refusal) ours(l plan.Load) {
	r.bad(l.Engine != "" && l.Engine != plan.Auto, "engine %s: that is Prony's own", l.Engine)
	r.bad(l.Timestamps != "" && l.Timestamps != plan.AppTimestamps, "timestamps %s: it takes its own", l.Timestamps)
	r.bad(l.MaxBody > 0 || l.MaxHeader > 0 && l.MaxHeader != 256<<10, "a bound on the size of answers: it has none")
	r.bad(l.AbortAfter > 0, "abort-after: it does not end at failures")
	r.bad(l.Record > 0, "records of single requests: it keeps none")
}

// request looks at what is sent. What would end a line is refused for all, for
// it would become another line of the request.
func (r *refusal) request(can Ability, q plan.Request, script bool) {
	u, err := url.Parse(q.URL)
	r.bad(err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https", "URL %q: want http://host/path or https://host/path", q.URL)
	r.bad(q.Target != "", "request target %q: it sends the path of the URL as it is", q.Target)
	r.bad(!can.HTTP10 && q.Proto != "" && q.Proto != "HTTP/1.1", "%s: it speaks HTTP/1.1", q.Proto)
	r.bad(len(q.Body) > 0 && !can.Body, "a body: it sends none")
	r.bad(q.Method == "HEAD" && !can.Head, "HEAD: it waits for a body that never comes")
	r.bad(script && (len(q.Body) > 0 || q.Method != "" && q.Method != "GET"), "a script and a method or body: the script says them")
	r.bad(!token(q.Method), "method %q: want letters", q.Method)
	seen := map[string]bool{}
	for _, h := range q.Headers {
		name := strings.ToLower(h.Name)
		r.bad(seen[name] && !can.SameHeader, "header %s twice: the last one wins", h.Name)
		r.bad(strings.TrimSpace(h.Value) == "" && !can.EmptyHeader, "header %s without a value: it would drop it", h.Name)
		r.bad(strings.ContainsAny(h.Name+h.Value, "\r\n\x00") || h.Name == "", "header %q: want a name and one line", h.Name)
		seen[name] = true
	}
	r.bad((q.Host != "" || seen["host"]) && !can.Host, "host: it connects to the host that it asks for")
	r.bad(strings.ContainsAny(q.Host, "\r\n\x00"), "host %q: want one line", q.Host)
}

// token reports whether a method is letters; "" is GET.
func token(method string) bool {
	return strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-") == ""
}

// tls looks at the options of an https load.
func (r *refusal) tls(can Ability, t plan.TLS) {
	r.bad(!t.Insecure && !can.Verifies, "https: it does not verify certificates; say insecure: true to accept that")
	r.bad(t.ServerName != "", "server-name: it takes the host of the URL")
	r.bad(t.NoSNI && !can.NoSNI, "no SNI: it sends the name of the host")
	r.bad(t.CAFile != "" && !can.CA, "ca: it cannot be told what to trust")
	r.bad((t.CertFile != "" || t.KeyFile != "") && !can.ClientCert, "a client certificate: it presents none")
	r.bad(t.NoResume, "no-resume: it cannot be told")
	r.bad(t.MinVersion != "" || t.MaxVersion != "", "TLS versions: it takes those of its library")
	r.bad(len(t.Ciphers) > 0, "cipher suites: it takes those of its library")
}
