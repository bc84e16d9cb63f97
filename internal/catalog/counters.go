package catalog

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// CounterFormat is a form in which servers publish what they have counted.
type CounterFormat string

const (
	// StubStatus is nginx's module of that name: one count for the server.
	StubStatus CounterFormat = "stub_status"
	// HAProxyCSV is HAProxy's statistics page with ;csv: a row for each server.
	HAProxyCSV CounterFormat = "haproxy_csv"
	// PronyJSON is the status page of "prony gateway", {"upstreams": [...]} with
	// one count for each, or of a program that counts as a whole, {"requests": n}.
	PronyJSON CounterFormat = "prony_json"
)

// formats lists them all.
func formats() []CounterFormat { return []CounterFormat{StubStatus, HAProxyCSV, PronyJSON} }

// String is the name in target.yaml.
func (f CounterFormat) String() string { return string(f) }

// Counter is what was counted since the start, for one upstream or, with an
// empty name, for the server itself. Counts that the format lacks are -1.
type Counter struct {
	Upstream                        string
	Requests, Connections, Failures int64
}

// Parse reads the counters from the text of an answer.
func (f CounterFormat) Parse(text []byte) ([]Counter, error) {
	var all []Counter
	var err error
	switch f {
	case StubStatus:
		all, err = parseStubStatus(string(text))
	case HAProxyCSV:
		all, err = parseHAProxy(string(text))
	case PronyJSON:
		all, err = parseProny(text)
	default:
		err = fmt.Errorf("unknown format")
	}
	if err != nil {
		return nil, fmt.Errorf("read counters as %s: %w", f, err)
	}
	return all, nil
}

// The numbers follow a line of titles: accepted and handled connections, then
// requests (nginx, module ngx_http_stub_status_module).
var stubStatus = regexp.MustCompile(`(?m)^server accepts handled requests\s*\n\s*(\d{1,18})\s+\d{1,18}\s+(\d{1,18})\s*$`)

func parseStubStatus(text string) ([]Counter, error) {
	m := stubStatus.FindStringSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("no line of accepts, handled and requests in %s", quoted(text))
	}
	return []Counter{{Requests: count(m[2]), Connections: count(m[1]), Failures: -1}}, nil
}

// count reads a number; -1 if it is none.
func count(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// parseHAProxy reads the rows of servers: those that are neither a FRONTEND nor
// a BACKEND. stot counts sessions, which for a server in HTTP mode are requests;
// connect counts attempts to open a connection, reused ones not; econ and eresp
// are connections and answers that failed (HAProxy, management guide, 9.1).
func parseHAProxy(text string) ([]Counter, error) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "# ")))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !slices.Contains(rows[0], "svname") || !slices.Contains(rows[0], "stot") {
		return nil, fmt.Errorf("no titles svname and stot in %s", quoted(text))
	}
	var all []Counter
	for _, row := range rows[1:] {
		cell := func(title string) string {
			if i := slices.Index(rows[0], title); i >= 0 && i < len(row) {
				return row[i]
			}
			return ""
		}
		if name := cell("svname"); name != "" && name != "FRONTEND" && name != "BACKEND" {
			if address := cell("addr"); address != "" {
				name = address
			}
			failures := count(cell("econ"))
			if answers := count(cell("eresp")); failures >= 0 && answers >= 0 {
				failures += answers
			}
			all = append(all, Counter{name, count(cell("stot")), count(cell("connect")), failures})
		}
	}
	return all, nil
}

// parseProny reads a page of upstreams, or of the server if it names none; what
// the page leaves out is -1.
func parseProny(text []byte) ([]Counter, error) {
	type counts struct {
		Address                         string
		Requests, Connections, Failures *int64
	}
	var page struct {
		counts
		Upstreams []counts
	}
	if err := json.Unmarshal(text, &page); err != nil {
		return nil, err
	}
	given := page.Upstreams
	if given == nil && page.Requests != nil {
		page.Address = ""
		given = []counts{page.counts}
	}
	if given == nil {
		return nil, fmt.Errorf("neither upstreams nor requests in %s", quoted(string(text)))
	}
	orNone := func(n *int64) int64 {
		if n == nil {
			return -1
		}
		return *n
	}
	all := []Counter(nil)
	for _, u := range given {
		all = append(all, Counter{u.Address, orNone(u.Requests), orNone(u.Connections), orNone(u.Failures)})
	}
	return all, nil
}
