package wrk

import (
	"fmt"
	"net"
	"strings"

	"prony/internal/plan"
)

// Plan is the load that the options ask for: the closed model, with every
// connection open from the start and no request waited for at the end. Script
// arguments begin with the URL, as init receives them. The error says which
// part of the URL names nothing.
func (o Options) Plan() (plan.Plan, error) {
	request, err := o.request()
	if err != nil {
		return plan.Plan{}, err
	}
	load := plan.Load{
		Requests:    []plan.Request{request},
		Model:       plan.Closed,
		Connections: o.Connections,
		Threads:     o.Threads,
		Duration:    o.Duration,
		Drain:       -1,
		Timeouts:    plan.Timeouts{Request: o.Timeout},
		// wrk checks no certificate and resumes no session.
		TLS:    plan.TLS{Insecure: true, NoResume: true},
		Engine: plan.Engine(o.Engine),
	}
	if o.Script != "" {
		load.Script = &plan.Script{File: o.Script, Args: append([]string{o.URL}, o.ScriptArgs...)}
	}
	return plan.Plan{Load: load}, nil
}

// request is the default GET, with Host as the URL was typed.
func (o Options) request() (plan.Request, error) {
	t, err := o.Target()
	if err != nil {
		return plan.Request{}, err
	}
	url, err := t.url()
	if err != nil {
		return plan.Request{}, err
	}
	r := plan.Request{Method: "GET", URL: url, Target: t.Path, Host: t.Authority(), Weight: 1}
	for _, h := range o.Fields() {
		if strings.EqualFold(h.Name, "Host") {
			r.Host = h.Value
		} else {
			r.Headers = append(r.Headers, h)
		}
	}
	return r, nil
}

// url is the address in the two schemes that the engine knows.
func (t Target) url() (string, error) {
	port, err := t.port()
	if err != nil {
		return "", err
	}
	scheme := "http"
	if t.TLS() {
		scheme = "https"
	}
	path, _, _ := strings.Cut(t.Path, "#")
	if t.Port == "" && t.Scheme == scheme {
		return scheme + "://" + t.Authority() + path, nil
	}
	return scheme + "://" + net.JoinHostPort(t.Host, fmt.Sprint(port)) + path, nil
}

// Fields are the -H headers, in the order given. Of several with one name the
// last value counts. Content-Length is left out: the length of the body sets
// it, and the default request has none.
func (o Options) Fields() []plan.Header {
	var all []plan.Header
	for _, text := range o.Headers {
		h, ok := splitHeader(text, o.Quirks)
		if !ok || isLength(h.Name) {
			continue
		}
		if i := indexHeader(all, h.Name); i >= 0 {
			all[i] = h
		} else {
			all = append(all, h)
		}
	}
	return all
}

// isLength recognizes the field that the length of the body sets.
func isLength(name string) bool { return strings.EqualFold(name, "Content-Length") }

// indexHeader compares names as wrk does, capitals and all.
func indexHeader(all []plan.Header, name string) int {
	for i := range all {
		if all[i].Name == name {
			return i
		}
	}
	return -1
}

// splitHeader splits "Name: value". wrk drops a header whose colon is not
// followed by a blank; without quirks it is sent.
func splitHeader(text string, quirks bool) (h plan.Header, ok bool) {
	name, value, ok := strings.Cut(text, ":")
	trimmed := strings.TrimPrefix(value, " ")
	if quirks && trimmed == value {
		return h, false
	}
	return plan.Header{Name: name, Value: trimmed}, ok && name != ""
}
