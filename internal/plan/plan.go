// Package plan holds what will be done: resolved, ordered and immutable.
//
// A Plan is plain data. It is made once, at the door (from flags or from an
// experiment file), printed by --dry-run and --print-spec, stored with every
// result and understood by every later stage without looking back at what the
// user typed. The package contains structs, defaults and validation; no
// goroutine, no clock, no network.
package plan

import (
	"fmt"
	"strings"
	"time"

	"prony/internal/schedule"
)

// Plan is one measurement: the loads to drive and what is expected of them.
type Plan struct {
	Name   string        `json:"name,omitempty"`
	Seed   uint64        `json:"seed"`
	Load   Load          `json:"load"`
	Expect []Expectation `json:"expect,omitempty"`

	// Also are further loads, driven side by side with Load.
	Also []Load `json:"also,omitempty"`
	// Services are what is started before the load and stopped behind it, in the
	// order of starting; those with a URL run already.
	Services []Service `json:"services,omitempty"`
	// Cores says who may use which cores, for each host that is shared.
	Cores []Division `json:"cores,omitempty"`
	// Warmup asks for a warm-up until the load is steady, in place of a fixed one.
	Warmup *Warmup `json:"warmup,omitempty"`
	// Fit is what "scale: auto" made of the file; nil: it was not asked for.
	Fit *Fit `json:"fit,omitempty"`
	// Capacity asks for a search for the highest rate in place of the Load, which
	// is its template.
	Capacity *Capacity `json:"capacity,omitempty"`
}

// Warmup is a warm-up that is a load of its own, since it ends when what is
// measured is steady, not before Least and at Most in any case; or, with both
// the same, since limits change at its end.
type Warmup struct {
	Least time.Duration `json:"least_ns"`
	Most  time.Duration `json:"most_ns"`
}

// Steady reports whether its end depends on what is measured.
func (w Warmup) Steady() bool { return w.Most > w.Least }

// String is what it does, for people.
func (w Warmup) String() string {
	if !w.Steady() {
		return fmt.Sprintf("warm up for %s", w.Most)
	}
	return fmt.Sprintf("warm up until steady, %s to %s", w.Least, w.Most)
}

// Capacity is a search for the highest rate at which all goals hold. It ends
// when its bounds are Within a ratio of each other.
type Capacity struct {
	SLO    []Expectation `json:"slo"`
	Within float64       `json:"within"`
}

// Model says how arrivals depend on completions (Schroeder et al., NSDI 2006).
type Model string

const (
	// Closed: each connection sends its next request when the last is answered.
	Closed Model = "closed"
	// Open: requests leave by a timetable that ignores completions.
	Open Model = "open"
)

// Engine names an event loop implementation, or Auto.
type Engine string

const (
	Auto       Engine = "auto"
	IOURing    Engine = "io_uring"
	Epoll      Engine = "epoll"
	Goroutines Engine = "goroutines"
)

// Timestamps says which clock ends a request.
type Timestamps string

const (
	// AppTimestamps: when the engine parsed the last byte.
	AppTimestamps Timestamps = "app"
	// KernelTimestamps: when the kernel received the segment (SO_TIMESTAMPNS).
	KernelTimestamps Timestamps = "kernel"
)

// Load is one load phase. The zero value of every field is its default, which
// Defaults writes out; the effective values are stored with the result.
type Load struct {
	// Name tells loads apart that run side by side.
	Name     string    `json:"name,omitempty"`
	Requests []Request `json:"requests"`
	Model    Model     `json:"model"`

	// Connections is the number of connections kept open (closed model) or the
	// most that may be open (open model). Default 10 closed, 1000 open.
	Connections int `json:"connections"`
	// Threads is the number of workers. Default: usable CPUs, at most Connections.
	Threads int `json:"threads"`

	// Duration of the measured window; 0 with Count set means "until Count".
	// Default 10 s. Count is an exact number of requests; 0 means no bound.
	// Whichever comes first ends the load.
	Duration time.Duration `json:"duration_ns"`
	Count    int64         `json:"count,omitempty"`
	// Warmup runs the same load before the window and is left out of it.
	Warmup time.Duration `json:"warmup_ns,omitempty"`
	// Drain bounds the wait for requests in flight at the end. Default: the
	// request timeout, at most 30 s in the open model and 1 s in the closed.
	// Negative: none.
	Drain time.Duration `json:"drain_ns,omitempty"`

	// Arrivals is the open model's timetable, over warm-up and window.
	Arrivals schedule.Arrivals `json:"arrivals"`
	// Think is the pause of a closed-model user between answer and next request.
	Think schedule.Think `json:"think"`

	// NoKeepAlive opens a new connection for every request.
	NoKeepAlive bool `json:"no_keep_alive,omitempty"`
	// Pipeline is the number of requests in flight on a connection. Default 1.
	Pipeline int `json:"pipeline"`
	// Script builds requests and reads responses, in wrk's Lua API.
	Script *Script `json:"script,omitempty"`

	Timeouts Timeouts `json:"timeouts"`
	// ConnectRate bounds how many connections are opened a second; 0: no bound
	// but 256 connects under way at once.
	ConnectRate float64 `json:"connect_rate,omitempty"`
	// Dial overrides where the URL's host is reached: "host:port" or "unix:/path".
	Dial string `json:"dial,omitempty"`
	// Sources are local addresses to connect from, used in turn.
	Sources []string `json:"sources,omitempty"`

	TLS TLS `json:"tls"`
	// MaxHeader and MaxBody bound a response, in bytes. Default 256 KiB; no bound.
	MaxHeader int   `json:"max_header,omitempty"`
	MaxBody   int64 `json:"max_body,omitempty"`

	// With is the program that makes the load, such as wrk; "" is Prony's engine.
	With       string     `json:"with,omitempty"`
	Engine     Engine     `json:"engine"`
	Timestamps Timestamps `json:"timestamps"`
	Seed       uint64     `json:"seed"`

	// Cores are those that the workers keep to; empty: any.
	Cores []int `json:"cores,omitempty"`

	// AbortAfter ends the load after that many failures in a row with no
	// success between them; 0: never.
	AbortAfter int64 `json:"abort_after,omitempty"`
	// SameLength fails a response whose body length differs from the first
	// one's (kind body-differs).
	SameLength bool `json:"same_length,omitempty"`
	// Record keeps up to that many requests one by one (ab's tables need
	// them); 0: none. Bounded, since everything else is histograms.
	Record int64 `json:"record,omitempty"`
}

// Peak is the highest rate of the load's timetable, requests a second; 0 without
// one, and of a timetable that lists its times.
func (l Load) Peak() float64 {
	most := 0.0
	for _, s := range l.Arrivals.Segments {
		most = max(most, s.From, s.To)
	}
	return most
}

// Request is one thing to send, with its share of the mix.
type Request struct {
	Name   string `json:"name,omitempty"`
	Method string `json:"method"`
	URL    string `json:"url"`
	// Service names the service whose address takes the place of the URL's host,
	// which is that name until the service runs; "" is a URL that is final.
	Service string   `json:"service,omitempty"`
	Proto   string   `json:"proto,omitempty"` // "" is HTTP/1.1; "HTTP/1.0"
	Headers []Header `json:"headers,omitempty"`
	Body    []byte   `json:"body,omitempty"`
	// Weight is the share of this request in the mix. Default 1.
	Weight float64 `json:"weight"`
	// Target overrides the request target on the wire; "" takes the URL's path
	// and query.
	Target string `json:"target,omitempty"`
	// Host overrides the Host header; "" takes the URL's authority.
	Host string `json:"host,omitempty"`
}

// Place is what is asked for, wherever the service runs: its name with the path
// and query of the URL, for a service gets another port each time. Without a
// service it is the URL.
func (q Request) Place() string {
	if q.Service == "" {
		return q.URL
	}
	_, rest, ok := strings.Cut(q.URL, "://")
	if !ok {
		rest = q.URL
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return q.Service + rest[i:]
	}
	return q.Service + "/"
}

// Header is one header field, in the order and case it goes on the wire.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Script is a wrk-compatible Lua script.
type Script struct {
	File string   `json:"file"`
	Args []string `json:"args,omitempty"`
}

// Timeouts bound the phases of a request. Request counts from the intended
// start in the open model and from the send in the closed one.
type Timeouts struct {
	Connect time.Duration `json:"connect_ns"` // default 10 s
	TLS     time.Duration `json:"tls_ns"`     // default 10 s
	Request time.Duration `json:"request_ns"` // default 10 s
}

// TLS configures https targets. Certificates are verified unless Insecure.
type TLS struct {
	Insecure   bool   `json:"insecure,omitempty"`
	ServerName string `json:"server_name,omitempty"` // SNI and verification name; default the URL's host
	NoSNI      bool   `json:"no_sni,omitempty"`
	CAFile     string `json:"ca_file,omitempty"`
	CertFile   string `json:"cert_file,omitempty"`
	KeyFile    string `json:"key_file,omitempty"`
	NoResume   bool   `json:"no_resume,omitempty"`
	MinVersion string `json:"min_version,omitempty"` // "1.2", "1.3"
	MaxVersion string `json:"max_version,omitempty"`
	// Ciphers are TLS 1.2 suites by IANA name; empty: Go's choice.
	Ciphers []string `json:"ciphers,omitempty"`
}
