package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
)

// Headline is what a list shows of a run. A pointer that is nil is a figure that
// is not known: no answers, no services, a closed model.
type Headline struct {
	Rate        float64  `json:"rate"`         // answers per second
	OfferedRate *float64 `json:"offered_rate"` // requests per second
	// Percentiles and maximum of the response time, microseconds.
	P50  *float64 `json:"p50_us"`
	P90  *float64 `json:"p90_us"`
	P99  *float64 `json:"p99_us"`
	P999 *float64 `json:"p99_9_us"`
	Max  *float64 `json:"max_us"`
	// Errors is failed requests by asked ones, 0 to 1.
	Errors *float64 `json:"errors"`
	// CPUPerRequest is CPU time of all services, ServiceRSS the sum of their peaks
	// in bytes, GeneratorCPU the generator's own time; times in microseconds.
	CPUPerRequest *float64 `json:"cpu_us_per_request"`
	ServiceRSS    *float64 `json:"service_rss_bytes"`
	GeneratorCPU  *float64 `json:"generator_cpu_us_per_request"`
	Asked         int64    `json:"asked"`
	Completed     int64    `json:"completed"`
	Failed        int64    `json:"failed"`
	Connections   int64    `json:"connections"`
	DurationUS    float64  `json:"duration_us"`
}

// headline takes the figures of a result: those of its first load.
func headline(r *result.Run) Headline {
	l := &r.Load
	h := Headline{Rate: l.Rate, OfferedRate: l.OfferedRate, Asked: l.Requests.Asked, Completed: l.Requests.Completed, Failed: l.Requests.Failed,
		Connections: int64(l.Connections.Asked), DurationUS: l.DurationUS}
	if response := l.Latency.Response; !response.Empty() {
		at := func(q hdr.Quantile) *float64 { return known(float64(response.Value(q)) / 1000) }
		h.P50, h.P90, h.P99, h.P999 = at(hdr.P50), at(hdr.P90), at(hdr.P99), at(hdr.P999)
		h.Max = known(float64(response.Max()) / 1000)
	}
	if l.Requests.Asked > 0 {
		h.Errors = known(float64(l.Requests.Failed) / float64(l.Requests.Asked))
	}
	if r.Generator.CPUUSPerRequest > 0 {
		h.GeneratorCPU = known(r.Generator.CPUUSPerRequest)
	}
	h.services(r.Services)
	return h
}

func (h *Headline) services(all []result.Service) {
	var cpu, rss float64
	for _, s := range all {
		cpu += s.CPUUSPerRequest
		rss += float64(s.MaxRSSBytes)
	}
	if cpu > 0 {
		h.CPUPerRequest = known(cpu)
	}
	if rss > 0 {
		h.ServiceRSS = known(rss)
	}
}

func known(v float64) *float64 { return &v }

// workload is a digest of what was asked for. Two runs whose digests differ did
// different work (method, section 4.4). Names, seeds and goals do not count, nor
// how the sizes were found.
func workload(r *result.Run) string {
	if r.Plan == nil {
		return ""
	}
	p := *r.Plan
	p.Name, p.Seed, p.Expect, p.Fit = "", 0, nil, nil
	p.Load.Seed = 0
	p.Also = slices.Clone(p.Also)
	for i := range p.Also {
		p.Also[i].Seed = 0
	}
	return fingerprint(p, []plan.Model{plan.Model(r.Load.Model)}, r.Load.Protocol, r.Load.Engine)
}

// machine is a digest of what it ran on: processors, kernel and memory of every
// host, and the generator's version (method, sections 4.4 and 9.1).
func machine(r *result.Run) string {
	hosts := []any{r.Version, hardware(r.Environment), r.Generator.CPUs}
	for _, name := range slices.Sorted(maps.Keys(r.Hosts)) {
		hosts = append(hosts, name, hardware(r.Hosts[name]))
	}
	return fingerprint(hosts...)
}

// hardware leaves out what changes from boot to boot or says nothing.
func hardware(e result.Environment) result.Environment {
	e.Hostname, e.Go, e.Sysctl = "", "", nil
	e.Memory >>= 28 // in quarters of GiB: what firmware keeps for itself varies
	return e
}

// fingerprint is 16 hexadecimal digits of values as JSON.
func fingerprint(values ...any) string {
	b, err := json.Marshal(values)
	if err != nil {
		return "" // values that JSON cannot hold are equal to nothing and everything
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
