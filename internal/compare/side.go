package compare

import (
	"cmp"
	"fmt"
	"slices"

	"prony/internal/result"
)

// Side is one of two sets of runs.
type Side struct {
	Name string
	Runs []Run
	// from is the experiment whose blocks pair the runs; nil where there are none.
	from *result.Experiment
}

// Run is a run under a name that people know it by.
type Run struct {
	Label string
	// Block that it belongs to; it counts only for variants of one experiment.
	Block int
	// Failed says why there is no result; then Result is not looked at.
	Failed string
	Result *result.Run
}

// Variant is the set of runs of a variant of an experiment.
func Variant(e *result.Experiment, name string) Side {
	s := Side{Name: name, from: e}
	for i := range e.Trials {
		t := &e.Trials[i]
		if t.Variant == name {
			s.Runs = append(s.Runs, Run{Label: fmt.Sprintf("trial %d", t.Number), Block: t.Block, Failed: t.Error, Result: &t.Run})
		}
	}
	return s
}

// Stored is a list of runs without blocks, such as those of a baseline.
func Stored(name string, runs []*result.Run) Side {
	s := Side{Name: name}
	for i, r := range runs {
		s.Runs = append(s.Runs, Run{Label: fmt.Sprintf("run %d", i+1), Result: r})
	}
	return s
}

// counting are the runs that count, and the others with the reason.
func (s Side) counting() (good []Run, excluded []Excluded) {
	for _, r := range s.Runs {
		if why := unfit(r); why != "" {
			excluded = append(excluded, Excluded{s.Name, r.Label, why})
			continue
		}
		good = append(good, r)
	}
	return good, excluded
}

// unfit says why a run does not count.
func unfit(r Run) string {
	switch {
	case r.Failed != "":
		return "it has no result: " + r.Failed
	case r.Result == nil:
		return "it has no result"
	case r.Result.Validity.Verdict != result.Invalid:
		return ""
	}
	for _, f := range r.Result.Validity.Findings {
		if f.Severity == result.InvalidLevel {
			return fmt.Sprintf("it is invalid: %s (%s)", f.Message, f.Rule)
		}
	}
	return "it is invalid"
}

// warnings are about runs that count but are not beyond doubt.
func warnings(side string, runs []Run) []string {
	suspect, unjudged := 0, 0
	var rules []string
	for _, r := range runs {
		switch r.Result.Validity.Verdict {
		case result.Suspect:
			suspect++
		case "":
			unjudged++
		}
		for _, f := range r.Result.Validity.Findings {
			if f.Severity == result.SuspectLevel && !slices.Contains(rules, f.Rule) {
				rules = append(rules, f.Rule)
			}
		}
	}
	slices.Sort(rules)
	var all []string
	if suspect > 0 {
		all = append(all, fmt.Sprintf("%d of %d runs of %s are suspect: %s", suspect, len(runs), side, join(rules)))
	}
	if unjudged > 0 {
		all = append(all, fmt.Sprintf("%d of %d runs of %s were never judged", unjudged, len(runs), side))
	}
	return all
}

// pair keeps the runs of blocks that both sides have, in the order of blocks;
// the others are excluded. Ok is false when blocks do not pair the sides.
func pair(a, b Side, runsA, runsB []Run) (pairs [][2]Run, lone []Excluded, ok bool) {
	if a.from == nil || a.from != b.from || a.Name == b.Name {
		return nil, nil, false
	}
	inA, okA := byBlock(runsA)
	inB, okB := byBlock(runsB)
	if !okA || !okB {
		return nil, nil, false
	}
	for _, r := range runsA {
		if partner, both := inB[r.Block]; both {
			pairs = append(pairs, [2]Run{r, partner})
		} else {
			lone = append(lone, alone(a.Name, r))
		}
	}
	for _, r := range runsB {
		if _, both := inA[r.Block]; !both {
			lone = append(lone, alone(b.Name, r))
		}
	}
	slices.SortFunc(pairs, func(x, y [2]Run) int { return cmp.Compare(x[0].Block, y[0].Block) })
	return pairs, lone, true
}

func alone(side string, r Run) Excluded {
	return Excluded{side, r.Label, fmt.Sprintf("its partner in block %d does not count", r.Block+1)}
}

// byBlock fails if a block holds two runs.
func byBlock(runs []Run) (map[int]Run, bool) {
	all := make(map[int]Run, len(runs))
	for _, r := range runs {
		if _, twice := all[r.Block]; twice {
			return nil, false
		}
		all[r.Block] = r
	}
	return all, true
}
