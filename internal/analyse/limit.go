package analyse

import (
	"slices"
	"strings"

	"prony/internal/result"
)

// limit is something that may have stopped the rate from being higher, as a
// rule found it. It becomes the run's bottleneck only where the load was at its
// limit.
type limit struct {
	what, where string
	message     string // what answers "limited by"
	evidence    figures
	sure        result.Confidence
	full        float64 // how far it was used up, for limits of one kind
}

// precedence lists what can be a limit, in the order of naming: what explains
// others comes before what it explains. A new connection for each request is
// why a gateway's CPU is full, not the other way; a full accept queue follows
// from a full CPU.
func precedence() []string {
	return []string{"compiling", "upstream-connections", "admission", "cpu-quota", "foreign-cpu", "one-thread", "target-cpu", "host-cpu", "softirq",
		"bandwidth", "packet-limit", "memory", "disk", "garbage-collection", "conntrack", "accept-queue", "syn-queue", "pool", "thread-pool", "shaped-link", "loss"}
}

// leading is the limit to name, or nil; others are the kinds that showed too.
// Where requests failed, only limits count whose events were counted: failures
// cost something else than answers.
func (v view) leading() *limit {
	var all []limit
	for _, l := range v.found.limits {
		if l.sure == result.Definite || v.errorShare() < v.t.ErrorsSuspect {
			all = append(all, l)
		}
	}
	if len(all) == 0 {
		return nil
	}
	order := precedence()
	slices.SortStableFunc(all, func(a, b limit) int {
		if d := slices.Index(order, a.what) - slices.Index(order, b.what); d != 0 {
			return d
		}
		if a.full > b.full {
			return -1
		}
		if a.full < b.full {
			return 1
		}
		return 0
	})
	return &all[0]
}

func (l *limit) bottleneck(cleared []string) *result.Bottleneck {
	return &result.Bottleneck{What: l.what, Where: l.where, Message: l.message, Evidence: l.evidence, Confidence: l.sure, Exonerated: cleared}
}

// named is a limit as the bottleneck of the run; in a chain it says which tier.
func (v view) named(l *limit) *result.Bottleneck {
	b := l.bottleneck(v.exonerated())
	for _, f := range v.r.Validity.Findings {
		if f.Rule == "which-tier" && strings.HasPrefix(l.where, f.Where+"[") {
			b.Message += "; " + f.Message
			break
		}
	}
	return b
}

// outcome is what all rules together made of a run.
type outcome struct {
	limits  []limit
	cleared []string
}
