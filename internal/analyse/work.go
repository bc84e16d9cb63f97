package analyse

import (
	"fmt"
	"math"
	"strings"

	"prony/internal/result"
)

// workRules ask whether the work was done that is being counted (method 7.6).
func workRules() []rule {
	return []rule{
		{"body-differs", "E2", bodyDiffers},
		{"cached-answers", "E4", cachedAnswers},
		{"requests-arrived", "E5", requestsArrived},
		{"impossible-bandwidth", "E6", impossibleBandwidth},
	}
}

// bodyDiffers is rule E2: answers whose body was not what was expected. They are
// failures already; from one in a hundred on the target answered something else.
func bodyDiffers(v view) answer {
	n := v.l.Failures[result.BodyDiffers.String()] + v.l.Failures[result.Truncated.String()]
	share := ratio(float64(n), float64(v.ended()))
	if share <= v.t.BodyNote {
		return nothing()
	}
	f := result.Finding{Severity: result.SuspectLevel, Evidence: figures{"differ": float64(n), "share": share},
		Threshold: figures{"share": v.t.BodyNote, "share_invalid": v.t.BodyInvalid},
		Message:   fmt.Sprintf("%s (%s) had another body than expected, or not all of it", many(n, "answer"), percent(share)),
		Advice:    "look at the first example; a page that changes its length needs a check of its own"}
	if share > v.t.BodyInvalid {
		f.Severity = result.InvalidLevel
	}
	return found(f)
}

// cachedAnswers is rule E4: answers that say they come from a cache, or far
// fewer requests behind the gateway than before it.
func cachedAnswers(v view) answer {
	var a answer
	if n := v.l.Statuses["304"]; ratio(float64(n), float64(v.ended())) > v.t.BodyNote {
		a.findings = append(a.findings, cached(figures{"not_modified": float64(n)}, figures{"not_modified": 0}, "",
			fmt.Sprintf("%s said \"not modified\" (304): no body was made", many(n, "answer"))))
	}
	for _, s := range v.l.Samples {
		if header := cacheHeader(s.Head); header != "" {
			a.findings = append(a.findings, cached(figures{"status": float64(s.Status)}, nil, "", fmt.Sprintf("a kept answer came from a cache (%s)", header)))
			break
		}
	}
	for _, g := range v.gateways() {
		got, known := v.behind(g)
		if sent := v.sent(); known && !v.sideBySide() && sent > 0 && got < v.t.CachedLess*sent {
			a.findings = append(a.findings, cached(figures{"behind": got, "sent": sent}, figures{"share": v.t.CachedLess}, g.Name,
				fmt.Sprintf("answered from cache: %s got %s and passed on %s", g.Name, many(int64(sent), "request"), count(int64(got)))))
		}
	}
	return a
}

func cached(evidence, threshold figures, where, message string) result.Finding {
	return result.Finding{Severity: result.Note, Where: where, Evidence: evidence, Threshold: threshold, Message: message,
		Advice: "if a cache is meant, say so beside the result; else turn it off, and compare only what caches alike"}
}

// cacheHeader is the header of an answer that says it came from a cache.
func cacheHeader(head string) string {
	for line := range strings.Lines(head) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "age":
			if value != "" && value != "0" {
				return "Age: " + value
			}
		case "x-cache", "cf-cache-status", "x-cache-status":
			if strings.Contains(strings.ToLower(value), "hit") {
				return name + ": " + value
			}
		}
	}
	return ""
}

// requestsArrived is rule E5: what the target counted itself against the
// answers that the generator got. More is the concern of amplification, and far
// fewer behind a gateway that of caching.
func requestsArrived(v view) answer {
	var a answer
	known := false
	for _, o := range v.things(result.OfServer) {
		counted, ok := v.total(o, result.ServerRequests)
		if !ok || !v.onlyTarget(serviceOf(o)) || !v.gapless(o, result.ServerRequests) {
			continue
		}
		known = true
		answers := float64(v.l.Requests.InWindow)
		if answers-counted <= v.t.Arrived*answers+float64(v.l.InFlightEdges)+v.edges(o)*answers {
			continue
		}
		a.findings = append(a.findings, result.Finding{Severity: result.SuspectLevel, Confidence: result.Definite, Where: place(o),
			Evidence: figures{"counted": counted, "answers": answers}, Threshold: figures{"missing": v.t.Arrived},
			Message: fmt.Sprintf("%s counted %s, but %s came: something else answered, or its counter is wrong", place(o),
				many(int64(math.Round(counted)), "request"), many(int64(answers), "answer")),
			Advice: "see what listens on that address (ss -ltnp), and whether something before it answers"})
	}
	if !known && len(v.things(result.OfServer)) == 0 {
		return lacks(unwatched)
	}
	return a
}

// gapless reports whether the samples of a metric cover the window but for a
// fiftieth: a count with a gap is too low.
func (v view) gapless(o *result.Observed, m result.Metric) bool {
	seen := 0.0
	for i, x := range o.Series[m] {
		if i >= len(o.AtUS) || math.IsNaN(x) {
			continue
		}
		seen += max(0, min(o.AtUS[i], v.l.DurationUS)-max(o.AtUS[i]-o.LengthUS[i], 0))
	}
	return seen >= 0.98*v.l.DurationUS
}

// edges is the share of the window by which a total may be wrong because samples
// lie across its two ends, where the rate need not be even.
func (v view) edges(o *result.Observed) float64 {
	across := 0.0
	for i, end := range o.AtUS {
		begin := end - o.LengthUS[i]
		if begin < 0 && end > 0 || begin < v.l.DurationUS && end > v.l.DurationUS {
			across += o.LengthUS[i] / 2
		}
	}
	return across / v.l.DurationUS
}

// onlyTarget reports whether all requests of the load go to one instance of the
// service, so that its counter must hold them all.
func (v view) onlyTarget(name string) bool {
	s := v.planService(name)
	if s == nil || s.Instances > 1 || v.sideBySide() || len(v.plan.Requests) == 0 {
		return false
	}
	for _, q := range v.plan.Requests {
		if q.Service != name {
			return false
		}
	}
	return true
}

// impossibleBandwidth is rule E6: the bodies and headers that came in cannot be
// more than the links of the generator's machine carry.
func impossibleBandwidth(v view) answer {
	if v.l.Loopback {
		return nothing()
	}
	var most float64
	for _, o := range v.things(result.OfInterface) {
		if o.Host != "" || loopback(o) {
			continue
		}
		speed, known := v.peak(o, result.LinkSpeed)
		if !known || speed <= 0 {
			return lacks("the speed of " + place(o) + " is not known")
		}
		most += speed
	}
	if most == 0 {
		return lacks(unwatched)
	}
	bits := ratio(float64(v.l.BytesInWindow())*8, v.seconds())
	if bits <= most*(1+v.t.LittleNote) {
		return nothing()
	}
	return found(result.Finding{Severity: result.InvalidLevel, Where: here, Evidence: figures{"payload_bits_rate": bits}, Threshold: figures{"speed_bits_rate": most},
		Message: fmt.Sprintf("an impossible rate: the answers alone were %s, and the links of this machine carry %s: the stated network is not the one measured", bitRate(bits), bitRate(most)),
		Advice:  "see which way the packets go (ip route get ADDRESS); two machines on one host do not use the card"})
}
