package audit

import (
	"fmt"
	"math"

	"prony/internal/result"
)

// ShardSum is E31 for the parts of a distributed run.
type ShardSum struct {
	Shards  int   `json:"shards"`
	Planned int64 `json:"planned"`
	Done    int64 `json:"done"`
	// Rate is the work over the time from the first start to the last end; it
	// is unknown when the parts do not add up.
	Rate     Value           `json:"rate,omitzero"`
	Validity result.Validity `json:"validity"`
}

// sumShards is E31: all indices once, one n, equal starts; a total is work over
// the time from first start to last end, never a sum of rates.
func sumShards(all []Shard, t Thresholds) ShardSum {
	s := ShardSum{Shards: len(all)}
	first, last, latest := math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, x := range all {
		s.Planned += x.Planned
		s.Done += x.Done
		first, last, latest = min(first, x.StartUS), max(last, x.EndUS), max(latest, x.StartUS)
	}
	s.Validity = judge(all, []rule[[]Shard]{{"E31", "shard-sum", func(all []Shard) answer {
		return found(shardFaults(all, s, latest-first, last-first, t)...)
	}}})
	if s.Validity.Verdict == result.Valid && last > first {
		s.Rate = Exactly(float64(s.Done) / (last - first) * 1e6)
	}
	return s
}

// shardFaults lists what keeps shards from adding up.
func shardFaults(all []Shard, s ShardSum, spread, length float64, t Thresholds) []result.Finding {
	var faults []result.Finding
	bad := func(evidence figures, advice, format string, args ...any) {
		faults = append(faults, finding(result.InvalidLevel, result.Definite, evidence, figures{"shard_spread": t.ShardSpread}, advice, format, args...))
	}
	seen := map[int64]int{}
	n := all[0].Of
	for _, x := range all {
		seen[x.Index]++
		if x.Of != n {
			bad(figures{"of": float64(x.Of)}, "Fix the list of shards for the whole run.", "shard %d is one of %d, others are of %d", x.Index, x.Of, n)
		}
	}
	for i := range min(n, int64(len(all))+100) {
		if seen[i] != 1 {
			bad(figures{"index": float64(i)}, "Wait for all and count each once.", "shard %d of %d reported %s", i, n, counted(float64(seen[i]), "time"))
		}
	}
	if s.Done != s.Planned {
		bad(figures{"planned": float64(s.Planned), "done": float64(s.Done)}, "Give remainders to the first shards.",
			"%s were planned and %s done: %s are missing", fixed(float64(s.Planned), 0), fixed(float64(s.Done), 0), fixed(float64(s.Planned-s.Done), 0))
	}
	if length > 0 && spread > t.ShardSpread*length {
		bad(figures{"spread_us": spread, "length_us": length}, "Let all wait for one common start.",
			"%s", fmt.Sprintf("the starts lie %s apart in a run of %s: %s", us(spread), us(length), percent(spread/length)))
	}
	return faults
}
