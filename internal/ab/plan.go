package ab

import (
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"

	"prony/internal/plan"
)

// Plan says what the command line amounts to: a closed model of -c users who
// send HTTP/1.0 requests, -n in all or for -t, whichever ends first. It is an
// error only for Options that Parse did not return, or of -V.
//
// Without -r the load ends at the first receive error, as in ab. Certificates
// are not verified and sessions not resumed, as in ab. -s bounds each request;
// in ab it bounds the time in which nothing at all happens.
func (o Options) Plan() (plan.Plan, error) {
	if o.Host == "" {
		return plan.Plan{}, errors.New("plan ab's load: no URL")
	}
	l := plan.Load{
		Requests:    []plan.Request{o.request()},
		Model:       plan.Closed,
		Connections: o.Concurrency,
		Threads:     1,
		Count:       int64(o.Requests),
		Duration:    o.TimeLimit,
		NoKeepAlive: !o.KeepAlive,
		Pipeline:    1,
		Timeouts:    plan.Timeouts{Connect: o.Timeout, TLS: o.Timeout, Request: o.Timeout},
		Engine:      plan.Auto,
		SameLength:  !o.VariableLength,
		Record:      min(int64(o.Requests), maxRecords),
	}
	if o.Engine != "" {
		l.Engine = plan.Engine(o.Engine)
	}
	if !o.Persist {
		l.AbortAfter = 1
	}
	if o.Source != "" {
		l.Sources = []string{o.Source}
	}
	if o.ProxyHost != "" {
		l.Dial = net.JoinHostPort(o.ProxyHost, strconv.Itoa(o.ProxyPort))
	}
	if o.TLS {
		t, err := o.tls()
		if err != nil {
			return plan.Plan{}, err
		}
		l.TLS = t
	}
	return plan.Plan{Name: "ab", Load: l}, nil
}

// tls is the plan's part for https.
func (o Options) tls() (plan.TLS, error) {
	suites, err := cipherSuites(o.Ciphers)
	if err != nil {
		return plan.TLS{}, err
	}
	return plan.TLS{
		Insecure: true, NoResume: true,
		ServerName: o.serverName(), NoSNI: o.serverName() == "",
		MinVersion: o.Protocol, MaxVersion: o.Protocol,
		Ciphers: suites, CertFile: o.CertFile, KeyFile: o.CertFile,
	}, nil
}

// request is the one request of the load.
func (o Options) request() plan.Request {
	r := plan.Request{
		Method: o.Method, URL: o.root() + o.Path, Proto: "HTTP/1.0",
		Headers: o.wireHeaders(), Body: o.Body, Weight: 1,
	}
	// ab sends what was typed; a URL type would clean it (a bad escape, say),
	// so the target is given wherever the two differ.
	u, err := url.Parse(r.URL)
	switch {
	case o.ProxyHost != "":
		r.Target = o.root() + o.wirePath()
	case err != nil:
		r.URL, r.Target = o.root()+"/", o.wirePath()
	case u.RequestURI() != o.wirePath():
		r.Target = o.wirePath()
	}
	return r
}

// wirePath is the path as it is sent. A fragment is not part of a request
// (RFC 9110 section 4.2.5); ab sends it.
func (o Options) wirePath() string {
	if o.Quirks {
		return o.Path
	}
	path, _, _ := strings.Cut(o.Path, "#")
	return path
}

// wireHeaders are all headers in ab's order: its own, those of -H, and then
// the three that a -H of the same name replaces. Host is among them because
// its place is after those of -H.
func (o Options) wireHeaders() []plan.Header {
	var h []plan.Header
	if o.KeepAlive {
		h = append(h, plan.Header{Name: "Connection", Value: "Keep-Alive"})
	}
	if len(o.Cookies) > 0 {
		h = append(h, plan.Header{Name: "Cookie", Value: o.cookie()})
	}
	h = append(h, o.Credentials...)
	if o.HasBody {
		h = append(h,
			plan.Header{Name: "Content-length", Value: strconv.Itoa(len(o.Body))},
			plan.Header{Name: "Content-type", Value: o.ContentType})
	}
	h = append(h, o.Headers...)
	for _, d := range []plan.Header{
		{Name: "Host", Value: o.authority()},
		{Name: "User-Agent", Value: "ApacheBench/2.3"},
		{Name: "Accept", Value: "*/*"},
	} {
		if _, given := o.has(d.Name); !given {
			h = append(h, d)
		}
	}
	return h
}

// cookie joins the cookies of every -C (RFC 6265 section 4.2.1): ab's manual
// calls the option repeatable, and its code keeps the last one only.
func (o Options) cookie() string {
	if o.Quirks {
		return o.Cookies[len(o.Cookies)-1]
	}
	return strings.Join(o.Cookies, "; ")
}
