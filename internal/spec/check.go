package spec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// checker holds the parts of one combination against each other.
type checker struct {
	e        *Experiment
	root     *node // the file with the values of the combination
	services Services
	mistakes Mistakes
}

// check reports what is wrong between values that are each right.
//
// It runs whatever the values are like, so that all mistakes show at once. What
// could not be read is not there in the setup but is in the tree, and counts as
// given.
func check(e *Experiment, root *node, s Setup) Mistakes {
	c := checker{e: e, root: root, services: s.Services}
	c.each()
	c.cycles()
	c.ports()
	named := map[string]bool{}
	for i, l := range s.Load {
		path := "load"
		if n := root.get("load"); n != nil && n.shape == sequence {
			path = index(path, i)
		}
		c.load(l, path, len(s.Load))
		name := cmp.Or(l.Name, l.Target)
		c.bad(named[name] && name != "", path+".name", "two loads are called %s, which is the target's name unless one is given; give this one another", name)
		named[name] = true
	}
	return c.mistakes
}

// wrong places a mistake at a path; one that comes from a default is at what
// surrounds it.
func (c *checker) wrong(path, format string, args ...any) {
	c.mistakes = append(c.mistakes, c.root.wrong(c.e.file, path, fmt.Errorf(format, args...)))
}

// bad is wrong, if something is so.
func (c *checker) bad(is bool, path, format string, args ...any) {
	if is {
		c.wrong(path, format, args...)
	}
}

func (c *checker) names() []string {
	var names []string
	if n := c.root.get("services"); n != nil && n.shape == mapping {
		for _, k := range n.keys {
			names = append(names, k.text)
		}
	}
	return names
}

// given reports whether something stands at a path, right or wrong.
func (c *checker) given(path string) bool {
	_, is := c.root.find(path)
	return is
}

// service demands that a service exists.
func (c *checker) service(path, name string) {
	names := c.names()
	if names != nil && !slices.Contains(names, name) {
		c.unknown(path, "unknown service", name, names)
	}
}

func (c *checker) unknown(path, problem, name string, names []string) {
	m := c.root.wrong(c.e.file, path, errors.New(problem))
	m.Found, m.Allowed = name, names
	m.Nearest, _ = Nearest(name, names)
	c.mistakes = append(c.mistakes, m)
}

// each checks the services one by one.
func (c *checker) each() {
	if n := c.root.get("services"); n != nil && n.shape == mapping {
		c.bad(len(n.keys) == 0, "services", "no service; name at least what is loaded")
	}
	for _, s := range c.services {
		path := "services." + s.Name
		_, reserved := c.e.form.field(s.Name)
		c.bad(reserved, path, "a service cannot be called %s, a path beginning with it would mean two things", s.Name)
		for i, name := range s.Upstream {
			under := path + ".upstream"
			if n, _ := c.root.find(under); n != nil && n.shape == sequence {
				under = index(under, i)
			}
			c.service(under, name)
		}
		c.bad(s.Params != nil && !c.given(path+".catalog"), path+".params", "parameters belong to a catalog entry, and this service is none; use env")
		c.bad(s.Port > 65535, path+".port", "found %d; want 1 to 65535", s.Port)
		c.bad(s.Port > 0 && s.Instances > 1, path+".port", "%d instances cannot all listen on port %d; leave the port out, a free one is chosen for each", s.Instances, s.Port)
		if _, known := c.e.Hosts[s.On]; s.On != "" && !known {
			c.unknown(path+".on", "unknown host; list it under hosts, or leave it out to run here", s.On, sortedKeys(c.e.Hosts))
		}
		c.idle(s, path)
		c.limits(s, path+".limits")
		c.ready(s, path)
	}
}

// idle refuses what would do nothing for a service that is not started.
func (c *checker) idle(s Service, path string) {
	if !c.given(path + ".url") {
		return
	}
	set := map[string]bool{"instances": s.Instances > 0, "limits": s.Limits != nil, "env": s.Env != nil, "port": s.Port > 0,
		"on": s.On != "", "upstream": s.Upstream != nil}
	for _, key := range sortedKeys(set) {
		c.bad(set[key], path+"."+key, "a service with a url is not started, so %s would do nothing", key)
	}
}

func (c *checker) limits(s Service, path string) {
	l := s.Limits
	c.bad(l != nil && l.StartupCPUs > 0 && l.CPUs == 0, path+".startup_cpus", "nothing follows it; add cpus, the limit from the end of the warm-up on")
}

func (c *checker) ready(s Service, path string) {
	r := s.Ready
	if r == nil {
		return
	}
	path += ".ready"
	ways := 0
	for _, is := range []bool{r.Path != "", r.TCP, r.Log != ""} {
		if is {
			ways++
		}
	}
	c.bad(ways > 1, path, "path, tcp and log exclude each other; keep one")
	c.bad(r.Path != "" && !strings.HasPrefix(r.Path, "/"), path+".path", "found %q; want a path that begins with /", r.Path)
	c.bad(r.Status > 0 && !c.given(path+".path"), path+".status", "a status needs a path to ask for")
	c.bad(r.Status > 599, path+".status", "found %d; want 100 to 599", r.Status)
}

// cycles finds services that wait for themselves.
func (c *checker) cycles() {
	upstream := map[string][]string{}
	for _, s := range c.services {
		upstream[s.Name] = s.Upstream
	}
	done := map[string]bool{}
	for _, s := range c.services {
		if circle := circle(s.Name, nil, upstream, done); circle != nil {
			c.wrong("services."+circle[0]+".upstream", "a circle: %s; one of them has to start first", strings.Join(circle, " → "))
		}
	}
}

// circle follows the upstreams from a name and returns the first circle.
func circle(name string, way []string, upstream map[string][]string, done map[string]bool) []string {
	if i := slices.Index(way, name); i >= 0 {
		return append(slices.Clone(way[i:]), name)
	}
	if done[name] {
		return nil
	}
	way = append(way, name)
	for _, next := range upstream[name] {
		if found := circle(next, way, upstream, done); found != nil {
			done[name] = true
			return found
		}
	}
	done[name] = true
	return nil
}

// ports finds services that want the same port of a host.
func (c *checker) ports() {
	owner := map[string]string{}
	for _, s := range c.services {
		if s.Port == 0 {
			continue
		}
		key := fmt.Sprint(s.On, ":", s.Port)
		c.bad(owner[key] != "", "services."+s.Name+".port", "port %d is taken by %s on the same host", s.Port, owner[key])
		owner[key] = s.Name
	}
}

// load checks one load.
func (c *checker) load(l Traffic, path string, loads int) {
	switch names := c.names(); {
	case l.Target != "":
		c.service(path+".target", l.Target)
	case len(names) > 1 && !c.given(path+".target"):
		m := c.root.wrong(c.e.file, path+".target", errors.New("missing"))
		m.Allowed = names
		c.mistakes = append(c.mistakes, m)
	}
	c.requests(l, path)
	c.model(l, path)
	c.bad(l.Count > 0 && l.Warmup != nil && (l.Warmup.Auto || l.Warmup.Time > 0), path+".warmup",
		"a warm-up and an exact count exclude each other; use a duration in place of the count")
	c.bad(l.Pipeline > 1024, path+".pipeline", "found %d; want at most 1024", l.Pipeline)
	c.bad(l.Threads > 1024, path+".threads", "found %d; want at most 1024", l.Threads)
	c.bad(l.Pipeline > 1 && l.KeepAlive != nil && !*l.KeepAlive, path+".pipeline", "pipelining needs connections that are kept open; leave keepalive out")
	c.bad(l.ScriptArgs != nil && !c.given(path+".script"), path+".script-args", "arguments without a script")
	c.bad(l.Key != "" && !c.given(path+".cert"), path+".key", "a key without its certificate; add cert")
	c.bad(l.TLSMin > l.TLSMax && l.TLSMax != "", path+".tls-min", "the lowest TLS version is above the highest")
	c.bad(l.Capacity != nil && loads > 1, path+".capacity", "a search for capacity needs the load for itself; give it an experiment of its own")
}

// model checks what belongs to the open or to the closed model.
func (c *checker) model(l Traffic, path string) {
	open := c.given(path + ".rate")
	c.bad(open && !l.Think.IsZero(), path+".think", "think time belongs to the closed model; with a rate requests leave by the rate")
	c.bad(l.Arrivals != "" && !open && !c.given(path+".capacity"), path+".arrivals", "arrivals need a rate; without one each answer makes the next request")
	c.bad(l.Rate.Ramp && l.Count > 0 && l.Duration == 0, path+".rate", "a ramp needs a duration to stretch over")
	if l.Capacity == nil {
		return
	}
	c.bad(open, path+".rate", "capacity finds the rate; leave this one out")
	c.bad(l.Count > 0, path+".count", "a search for capacity ends by itself; leave the count out")
	c.bad(!l.Think.IsZero(), path+".think", "a search for capacity sends by a rate; leave think out")
	c.bad(l.Capacity.Within >= 1, path+".capacity.within", "found %s; want less than 100%%", formatPercent(l.Capacity.Within))
}

// requests checks what is sent.
func (c *checker) requests(l Traffic, path string) {
	c.bad(l.Path != "" && c.given(path+".requests"), path+".path", "path and requests exclude each other; put the path among the requests")
	c.bad(l.Path != "" && !rooted(l.Path), path+".path", "found %q; want a path that begins with /, without blanks and fragments", l.Path)
	c.bad(!isToken(l.Method), path+".method", "found %q, which is no method", l.Method)
	for i, q := range l.Requests {
		under := index(path+".requests", i)
		c.bad(q.Path != "" && !rooted(q.Path), under+".path", "found %q; want a path that begins with /, without blanks and fragments", q.Path)
		c.bad(!isToken(q.Method), under+".method", "found %q, which is no method", q.Method)
		if q.Service != "" {
			c.service(under+".service", q.Service)
		}
	}
}

// rooted reports whether a text can stand in a request line. A fragment never
// reaches a server.
func rooted(path string) bool {
	return (strings.HasPrefix(path, "/") || path == "*") && !strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '#' })
}

// isToken takes the methods of RFC 9110, and the empty one for the default.
func isToken(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) })
}
