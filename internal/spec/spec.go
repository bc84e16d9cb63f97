// Package spec is what the user wrote: the experiment file (version 1).
//
// It holds the part of the file that describes a load on a URL, and writes it:
// --print-spec shows which experiment a command line amounts to.
package spec

import (
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"go.yaml.in/yaml/v4"

	"prony/internal/plan"
	"prony/internal/schedule"
)

// Version of the file format.
const Version = 1

// Experiment is one experiment file.
type Experiment struct {
	Prony    int                `yaml:"prony"`
	Name     string             `yaml:"name,omitempty"`
	Services map[string]Service `yaml:"services"`
	Load     Load               `yaml:"load"`
	Expect   []string           `yaml:"expect,omitempty"`
}

// Service is a target that runs already.
type Service struct {
	URL string `yaml:"url"`
}

// Load is the load section, in the file's own terms.
type Load struct {
	Target      string    `yaml:"target"`
	Requests    []Request `yaml:"requests"`
	Connections int       `yaml:"connections"`
	Threads     int       `yaml:"threads,omitempty"`
	Rate        string    `yaml:"rate,omitempty"`
	Arrivals    string    `yaml:"arrivals,omitempty"`
	Duration    string    `yaml:"duration,omitempty"`
	Count       int64     `yaml:"count,omitempty"`
	Warmup      string    `yaml:"warmup,omitempty"`
	Think       string    `yaml:"think,omitempty"`
	KeepAlive   *bool     `yaml:"keepalive,omitempty"`
	Pipeline    int       `yaml:"pipeline,omitempty"`
	Script      string    `yaml:"script,omitempty"`
	ScriptArgs  []string  `yaml:"script-args,omitempty"`
	Timeout     string    `yaml:"timeout,omitempty"`
	ConnectRate float64   `yaml:"connect-rate,omitempty"`
	Dial        string    `yaml:"dial,omitempty"`
	Sources     []string  `yaml:"sources,omitempty"`
	Insecure    bool      `yaml:"insecure,omitempty"`
	ServerName  string    `yaml:"server-name,omitempty"`
	CA          string    `yaml:"ca,omitempty"`
	Cert        string    `yaml:"cert,omitempty"`
	Key         string    `yaml:"key,omitempty"`
	Engine      string    `yaml:"engine,omitempty"`
	Timestamps  string    `yaml:"timestamps,omitempty"`
	Seed        uint64    `yaml:"seed,omitempty"`
	SameLength  bool      `yaml:"same-length,omitempty"`
}

// Request is one entry of the mix.
type Request struct {
	Path    string     `yaml:"path"`
	Service string     `yaml:"service,omitempty"` // when it is not the load's target
	Method  string     `yaml:"method,omitempty"`
	Proto   string     `yaml:"protocol,omitempty"`
	Headers [][]string `yaml:"headers,omitempty,flow"`
	Body    string     `yaml:"body,omitempty"`
	Weight  float64    `yaml:"weight,omitempty"`
}

// FromPlan describes a plan as an experiment file.
func FromPlan(p plan.Plan) (Experiment, error) {
	e := Experiment{Prony: Version, Name: p.Name, Services: map[string]Service{}, Load: fromLoad(p.Load)}
	for _, x := range p.Expect {
		e.Expect = append(e.Expect, x.Text)
	}
	names := map[string]string{}
	for _, q := range p.Load.Requests {
		u, err := url.Parse(q.URL)
		if err != nil {
			return e, fmt.Errorf("describe plan: %w", err)
		}
		origin := u.Scheme + "://" + u.Host
		name := names[origin]
		if name == "" {
			name = "target"
			if len(names) > 0 {
				name += strconv.Itoa(len(names) + 1)
			}
			names[origin] = name
			e.Services[name] = Service{URL: origin}
		}
		if e.Load.Target == "" {
			e.Load.Target = name
		}
		e.Load.Requests = append(e.Load.Requests, fromRequest(q, u, name, e.Load.Target))
	}
	return e, nil
}

func fromRequest(q plan.Request, u *url.URL, service, target string) Request {
	r := Request{Path: q.Target, Method: q.Method, Proto: q.Proto, Body: string(q.Body), Weight: q.Weight}
	if r.Path == "" {
		r.Path = u.RequestURI()
	}
	if service != target {
		r.Service = service
	}
	if r.Method == "GET" {
		r.Method = ""
	}
	if r.Weight == 1 {
		r.Weight = 0
	}
	for _, h := range q.Headers {
		r.Headers = append(r.Headers, []string{h.Name, h.Value})
	}
	return r
}

func fromLoad(l plan.Load) Load {
	f := Load{Connections: l.Connections, Threads: l.Threads, Duration: duration(l.Duration), Count: l.Count, Warmup: duration(l.Warmup),
		Pipeline: above(l.Pipeline, 1), Timeout: duration(l.Timeouts.Request), ConnectRate: l.ConnectRate, Dial: l.Dial, Sources: l.Sources,
		Insecure: l.TLS.Insecure, ServerName: l.TLS.ServerName, CA: l.TLS.CAFile, Cert: l.TLS.CertFile, Key: l.TLS.KeyFile,
		Engine: unless(string(l.Engine), "auto"), Timestamps: unless(string(l.Timestamps), "app"), Seed: l.Seed, SameLength: l.SameLength,
		Think: think(l.Think)}
	if l.NoKeepAlive {
		no := false
		f.KeepAlive = &no
	}
	if l.Script != nil {
		f.Script, f.ScriptArgs = l.Script.File, l.Script.Args
	}
	if l.Arrivals.Open() {
		f.Arrivals = l.Arrivals.Process.String()
		f.Rate = rate(l.Arrivals)
	}
	return f
}

func above(v, least int) int {
	if v > least {
		return v
	}
	return 0
}

func unless(s, usual string) string {
	if s == usual {
		return ""
	}
	return s
}

func duration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func think(t schedule.Think) string {
	if t.Mean == 0 {
		return ""
	}
	if t.Distribution == schedule.Fixed {
		return t.Mean.String()
	}
	return t.Mean.String() + " " + t.Distribution.String()
}

// rate describes a timetable: "500/s", "100/s..500/s", "100/s,200/s" or the
// number of replayed times.
func rate(a schedule.Arrivals) string {
	if len(a.Segments) == 0 {
		return fmt.Sprintf("replay of %d times", len(a.Times))
	}
	s := a.Segments[0]
	if len(a.Segments) == 1 && s.From != s.To {
		return perSecond(s.From) + ".." + perSecond(s.To)
	}
	text := perSecond(s.From)
	for _, s := range a.Segments[1:] {
		text += "," + perSecond(s.From)
	}
	return text
}

func perSecond(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) + "/s" }

// Write encodes the experiment as YAML.
func Write(w io.Writer, e Experiment) error {
	b, err := yaml.Marshal(e)
	if err != nil {
		return fmt.Errorf("write experiment: %w", err)
	}
	if _, err = w.Write(b); err != nil {
		return fmt.Errorf("write experiment: %w", err)
	}
	return nil
}
