package web

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"prony/internal/result"
)

// detail says how much of a trial is kept. The zero value is everything.
type detail struct {
	secondsBrief bool // of the seconds, histograms of the response alone
	secondsBare  bool // of the seconds, no histograms
	noSeconds    bool
	most         int  // seconds and samples; more are merged
	responseOnly bool // of the whole window, the histogram of the response alone
	noHistograms bool
	keyMetrics   bool // of what was watched, what the page draws
	noObserved   bool
	grave        bool // findings without those that found nothing
}

// level is the detail of each variant's typical trial and that of the others.
type level struct {
	typical, other detail
	left           string // what this level leaves out beyond the one before
}

// levels are tried from the top until the whole fits. The order is that of what
// a reader misses least.
func levels() []level {
	fair := detail{secondsBrief: true, responseOnly: true}
	short := detail{secondsBare: true, responseOnly: true, noObserved: true, most: 300, grave: true}
	typical := detail{secondsBrief: true, responseOnly: true, keyMetrics: true, most: 600}
	terse := detail{secondsBrief: true, responseOnly: true, keyMetrics: true, most: 120}
	bare := detail{noSeconds: true, noHistograms: true, noObserved: true, grave: true}
	sketch := terse
	sketch.secondsBare, sketch.most = true, 60
	small := short
	small.most = 30
	return []level{
		{},
		{detail{}, fair, "of trials that are not the typical one of their variant: the histograms of service time, lag and errors"},
		{fair, fair, "of all trials: the histograms of service time, lag and errors, in place of which their figures stand"},
		{typical, fair, "of the typical trial of each variant: watched series that no chart shows; its seconds are merged so that there are at most 600"},
		{typical, short, "of the other trials: the histograms of their seconds, what was watched, and findings that found nothing; their seconds are merged so that there are at most 300"},
		{terse, short, "seconds of the typical trials are merged further, so that there are at most 120"},
		{sketch, small, "the histograms of seconds; seconds of the typical trials are merged to 60, those of the others to 30"},
		{sketch, bare, "of the other trials: their seconds and all histograms"},
		{bare, bare, "of all trials: seconds, histograms and what was watched"},
	}
}

// fit encodes trials at the first level that stays within so many bytes, or at
// the last, and says what was left out.
func fit(trials []result.Trial, most int) ([]json.RawMessage, []string, error) {
	typical := typicalTrials(trials)
	var left []string
	all := levels()
	for i, l := range all {
		if l.left != "" {
			left = append(left, l.left)
		}
		bound := most
		if i == len(all)-1 {
			bound = math.MaxInt
		}
		encoded, ok, err := encodeTrials(trials, typical, l, bound)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			return encoded, left, nil
		}
	}
	return nil, nil, nil // not reached: the last level has no bound
}

// encodeTrials stops as soon as the bound is passed.
func encodeTrials(trials []result.Trial, typical map[int]bool, l level, bound int) (encoded []json.RawMessage, ok bool, err error) {
	of := func(i int) detail {
		if typical[i] {
			return l.typical
		}
		return l.other
	}
	size := 0
	for i := range trials {
		size += of(i).least(&trials[i])
	}
	if size > bound {
		return nil, false, nil // encoding an hour of histograms to find that out takes seconds
	}
	size = 0
	for i := range trials {
		d := of(i)
		v, err := d.view(&trials[i])
		if err != nil {
			return nil, false, fmt.Errorf("trial %d: %w", trials[i].Number, err)
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, false, fmt.Errorf("trial %d: %w", trials[i].Number, err)
		}
		if size += len(text); size > bound {
			return nil, false, nil
		}
		encoded = append(encoded, text)
	}
	return encoded, true, nil
}

// least is a bound from below of what the seconds and series of a trial take.
func (d detail) least(t *result.Trial) int {
	const second, histogram, value = 250, 350, 2 // bytes of JSON, less than ever seen
	size := 0
	if n := len(t.Load.Intervals); !d.noSeconds && (d.most == 0 || n <= d.most) {
		size += n * second
		switch {
		case d.secondsBare:
		case d.secondsBrief:
			size += n * histogram
		default:
			size += n * 3 * histogram
		}
	}
	if !d.noObserved && !d.keyMetrics && d.most == 0 {
		for _, o := range t.Observed {
			size += len(o.AtUS) * (len(o.Series) + 2) * value
		}
	}
	return size
}

// typicalTrials are, for each variant, the trial that the page opens: the usable
// one whose rate is nearest to the median. The page chooses by the same rule.
func typicalTrials(trials []result.Trial) map[int]bool {
	byVariant := map[string][]int{}
	for i, t := range trials {
		if t.Error == "" && t.Validity.Verdict != result.Invalid {
			byVariant[t.Variant] = append(byVariant[t.Variant], i)
		}
	}
	chosen := map[int]bool{}
	for _, all := range byVariant {
		chosen[nearest(trials, all)] = true
	}
	if len(trials) == 1 {
		chosen[0] = true
	}
	return chosen
}

func nearest(trials []result.Trial, all []int) int {
	rates := make([]float64, len(all))
	for i, n := range all {
		rates[i] = trials[n].Load.Rate
	}
	slices.Sort(rates)
	middle := (rates[(len(rates)-1)/2] + rates[len(rates)/2]) / 2
	best := all[0]
	for _, n := range all {
		if math.Abs(trials[n].Load.Rate-middle) < math.Abs(trials[best].Load.Rate-middle) {
			best = n
		}
	}
	return best
}
