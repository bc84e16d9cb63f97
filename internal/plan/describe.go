package plan

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"prony/internal/schedule"
	"prony/internal/spec"
)

// Describe writes a plan for something that runs already as an experiment file,
// so that a command line can be kept. What has the value that it would have
// anyway is left out. Planned times that were read from a file are an error:
// an experiment has no place for them.
func Describe(p Plan) (spec.Experiment, error) {
	e := spec.Experiment{Prony: spec.Version, Name: p.Name}
	for _, x := range p.Expect {
		e.Expect = append(e.Expect, x.Text)
	}
	if len(p.Load.Arrivals.Times) > 0 {
		return e, fmt.Errorf("describe plan: %d planned times from a file have no place in an experiment; give a rate", len(p.Load.Arrivals.Times))
	}
	t := describeLoad(p.Load)
	for _, q := range p.Load.Requests {
		u, err := url.Parse(q.URL)
		if err != nil {
			return e, fmt.Errorf("describe plan: %w", err)
		}
		origin := u.Scheme + "://" + u.Host
		i := slices.IndexFunc(e.Services, func(s spec.Service) bool { return s.URL == origin })
		if i < 0 {
			i = len(e.Services)
			e.Services = append(e.Services, spec.Service{Name: "target", URL: origin})
			if i > 0 {
				e.Services[i].Name += strconv.Itoa(i + 1)
			}
		}
		if t.Target == "" {
			t.Target = e.Services[i].Name
		}
		t.Requests = append(t.Requests, describeRequest(q, u, e.Services[i].Name, t.Target))
	}
	e.Load = spec.Loads{t}
	return e, nil
}

func describeRequest(q Request, u *url.URL, service, target string) spec.Request {
	r := spec.Request{Path: q.Target, Name: q.Name, Method: q.Method, Proto: q.Proto, Host: q.Host, Body: string(q.Body), Weight: q.Weight}
	if r.Path == "" {
		r.Path = u.RequestURI()
	}
	if service != target {
		r.Service = service
	}
	if r.Method == "GET" && r.Body == "" {
		r.Method = ""
	}
	if r.Host == u.Host { // as it would be anyway
		r.Host = ""
	}
	if r.Weight == 1 {
		r.Weight = 0
	}
	for _, h := range q.Headers {
		r.Headers = append(r.Headers, []string{h.Name, h.Value})
	}
	return r
}

// describeLoad is the load without its requests.
func describeLoad(l Load) spec.Traffic {
	t := spec.Traffic{Connections: l.Connections, Threads: l.Threads, Duration: spec.Duration(l.Duration), Count: l.Count,
		Timeout: spec.Duration(l.Timeouts.Request), ConnTimeout: usual(l.Timeouts.Connect), TLSTimeout: usual(l.Timeouts.TLS),
		Drain: describeDrain(l), ConnectRate: l.ConnectRate, Dial: l.Dial, Sources: l.Sources, MaxBody: spec.Size(l.MaxBody),
		Insecure: l.TLS.Insecure, ServerName: l.TLS.ServerName, CA: l.TLS.CAFile, Cert: l.TLS.CertFile, Key: l.TLS.KeyFile,
		TLSMin: l.TLS.MinVersion, TLSMax: l.TLS.MaxVersion, NoResume: l.TLS.NoResume,
		With: l.With, Engine: unless(string(l.Engine), "auto"), Timestamps: unless(string(l.Timestamps), "app"), Seed: l.Seed,
		AbortAfter: l.AbortAfter, SameLength: l.SameLength}
	if l.MaxHeader != 256<<10 {
		t.MaxHeader = spec.Size(l.MaxHeader)
	}
	if l.Warmup > 0 {
		t.Warmup = &spec.Warmup{Time: l.Warmup}
	}
	if l.Pipeline > 1 {
		t.Pipeline = l.Pipeline
	}
	if l.Think.Mean > 0 {
		t.Think = spec.Think{Mean: l.Think.Mean, Distribution: l.Think.Distribution.String()}
	}
	if l.NoKeepAlive {
		t.KeepAlive = new(bool)
	}
	if l.Script != nil {
		t.Script, t.ScriptArgs = l.Script.File, l.Script.Args
	}
	if l.Arrivals.Open() {
		t.Arrivals = l.Arrivals.Process.String()
		t.Rate = describeRate(l.Arrivals.Segments, l.Warmup)
	}
	return t
}

func unless(s, usual string) string {
	if s == usual {
		return ""
	}
	return s
}

// usual leaves out the default of the two timeouts that hardly anybody sets.
func usual(d time.Duration) spec.Duration {
	if d == 10*time.Second {
		return 0
	}
	return spec.Duration(d)
}

// describeDrain leaves out what WithDefaults would write.
func describeDrain(l Load) *spec.Duration {
	other := l
	other.Drain = 0
	if l.Drain == 0 || l.Drain == other.WithDefaults(Facts{}).Drain {
		return nil
	}
	d := spec.Duration(max(l.Drain, 0))
	return &d
}

// describeRate is a timetable as it is written: without the part of the warm-up.
func describeRate(segments []schedule.Segment, warmup time.Duration) spec.Rate {
	if len(segments) > 1 && warmup > 0 && segments[0].Duration == warmup && segments[0].To == segments[1].From {
		segments = segments[1:]
	}
	if first := segments[0]; len(segments) == 1 && first.From != first.To {
		return spec.Rate{Points: []float64{first.From, first.To}, Ramp: true}
	}
	var r spec.Rate
	for _, s := range segments {
		r.Points = append(r.Points, s.From)
	}
	return r
}
