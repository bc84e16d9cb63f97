package topology

import (
	"context"
	"net/url"
	"time"

	"prony/internal/plan"
	"prony/internal/result"
)

// CountersOf reads what an instance of a service counts of its upstreams, from
// its base URL: requests by "host:port". ok is false where it cannot tell.
type CountersOf func(ctx context.Context, s plan.Service, base string) (requests map[string]int64, ok bool)

// Hits are how many requests each upstream got, by its "host:port", as the
// gateways in front of them counted; nil if none can tell.
type Hits map[string]int64

// countersWithin bounds the asking of one gateway.
const countersWithin = 5 * time.Second

// Hits asks the gateways.
func (t *Topology) Hits(ctx context.Context) Hits {
	if t.read == nil {
		return nil
	}
	var all Hits
	for _, u := range t.up {
		if len(u.service.Upstream) == 0 {
			continue
		}
		one, cancel := context.WithTimeout(context.WithoutCancel(ctx), countersWithin)
		counted, ok := t.read(one, u.service, u.running.Endpoint())
		cancel()
		for address, n := range counted {
			if all == nil && ok {
				all = Hits{}
			}
			if ok {
				all[address] += n
			}
		}
	}
	return all
}

// Count puts the requests that each instance got since an earlier reading into
// the services, where a gateway told.
func (t *Topology) Count(services []result.Service, before, after Hits) {
	if before == nil || after == nil {
		return
	}
	for i, u := range t.up {
		base, err := url.Parse(u.running.Endpoint())
		if err != nil || i >= len(services) {
			continue
		}
		if n, counted := after[base.Host]; counted {
			got := n - before[base.Host]
			services[i].Requests = &got
		}
	}
}
