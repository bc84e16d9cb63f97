// Package scenario says what to send next: weighted mixes of requests encoded
// once, and the interface of scripts that build requests while the load runs.
//
// It decides nothing about time and touches no socket. A mix of one request,
// the usual case, costs nothing to draw from.
package scenario

import (
	"fmt"
	"net/url"
	"strings"

	"prony/internal/httpwire"
	"prony/internal/plan"
	"prony/internal/schedule"
)

// Mix holds the encoded requests of one origin and draws from them by weight.
type Mix struct {
	items []Item
	upTo  []float64 // cumulative weights, ending in 1
	joint []byte    // the single request, Repeat times over
}

// Item is one request as it goes on the wire.
type Item struct {
	Name   string
	Bytes  []byte
	Method httpwire.MethodKind
	// Again says that the request may be sent a second time without harm (an
	// idempotent method, RFC 9110 section 9.2.2).
	Again bool
}

// NewMix encodes the requests, which must be of one origin. repeat is how
// often a single request may be sent in one go (pipelining).
func NewMix(requests []plan.Request, noKeepAlive bool, repeat int) (*Mix, error) {
	m := &Mix{}
	var sum float64
	for i, r := range requests {
		item, err := encode(r, noKeepAlive)
		if err != nil {
			return nil, fmt.Errorf("request %d (%s %s): %w", i+1, r.Method, r.URL, err)
		}
		m.items = append(m.items, item)
		sum += weight(r)
		m.upTo = append(m.upTo, sum)
	}
	if len(m.items) == 0 {
		return nil, fmt.Errorf("no request to send")
	}
	for i := range m.upTo {
		m.upTo[i] /= sum
	}
	if len(m.items) == 1 {
		for range max(repeat, 1) {
			m.joint = append(m.joint, m.items[0].Bytes...)
		}
	}
	return m, nil
}

func weight(r plan.Request) float64 {
	if r.Weight > 0 {
		return r.Weight
	}
	return 1
}

// Share is the sum of the weights of requests, for dividing connections.
func Share(requests []plan.Request) float64 {
	var sum float64
	for _, r := range requests {
		sum += weight(r)
	}
	return sum
}

// Draw chooses the next request.
func (m *Mix) Draw(r *schedule.SplitMix64) int32 {
	if len(m.items) == 1 {
		return 0
	}
	u := r.Float64()
	for i, v := range m.upTo {
		if u < v {
			return int32(i)
		}
	}
	return int32(len(m.items) - 1)
}

// Item returns a request by its index.
func (m *Mix) Item(i int32) *Item { return &m.items[i] }

// Joint returns n copies of the only request in one slice, or nil if there are
// several requests or n is more than the mix was made for.
func (m *Mix) Joint(n int) []byte {
	if len(m.items) != 1 || n*len(m.items[0].Bytes) > len(m.joint) {
		return nil
	}
	return m.joint[:n*len(m.items[0].Bytes)]
}

func encode(r plan.Request, noKeepAlive bool) (Item, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return Item{}, err
	}
	w := httpwire.Request{Method: r.Method, Proto: r.Proto, Target: r.Target, Host: r.Host, Body: r.Body,
		Close: noKeepAlive && r.Proto != "HTTP/1.0" && !has(r.Headers, "Connection")}
	if w.Target == "" {
		w.Target = target(u)
	}
	if w.Host == "" {
		w.Host = u.Host
	}
	for _, h := range r.Headers {
		w.Headers = append(w.Headers, httpwire.Header(h))
	}
	b, err := w.Append(nil)
	if err != nil {
		return Item{}, err
	}
	return Item{Name: r.Name, Bytes: b, Method: httpwire.MethodKindOf(r.Method), Again: Idempotent(r.Method)}, nil
}

func target(u *url.URL) string {
	t := u.EscapedPath()
	if t == "" {
		t = "/"
	}
	if u.RawQuery != "" || u.ForceQuery {
		t += "?" + u.RawQuery
	}
	return t
}

func has(headers []plan.Header, name string) bool {
	for _, h := range headers {
		if strings.EqualFold(h.Name, name) {
			return true
		}
	}
	return false
}

// Idempotent reports whether a request of the method may be sent twice without
// harm (RFC 9110 section 9.2.2).
func Idempotent(method string) bool {
	switch method {
	case "", "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE":
		return true
	}
	return false
}
