package serve

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"prony/internal/compare"
	"prony/internal/result"
	"prony/internal/store"
)

// Bounds of a comparison: each run is read whole.
const (
	sidesMost = 10
	runsMost  = 200
)

// defaultAlpha is the chance of a false alarm in all gates together (method,
// section 4.5).
const defaultAlpha = 0.05

// compare holds sides against the first one, or the variants of a campaign
// against its baseline.
func (s *Server) compare(w http.ResponseWriter, r *http.Request) error {
	if err := known(r, "side", "campaign", "gate", "alpha", "repeats", "accept_differences"); err != nil {
		return err
	}
	q := r.URL.Query()
	o, err := optionsOf(q)
	if err != nil {
		return err
	}
	sides := q["side"]
	if (q.Get("campaign") == "") == (len(sides) == 0) || len(sides) == 1 || len(sides) > sidesMost {
		return unfit("want either a campaign or 2 to %d sides, each a list of runs: side=A,B&side=C", sidesMost)
	}
	var got *compare.Result
	if len(sides) == 0 {
		got, err = s.variants(r.Context(), q.Get("campaign"), o)
	} else {
		got, err = s.sides(r.Context(), sides, q.Get("repeats") == "true", o)
	}
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, got)
}

func optionsOf(q url.Values) (o compare.Options, err error) {
	o = compare.Options{Gates: q["gate"], Alpha: defaultAlpha, AcceptDifferences: q.Get("accept_differences") == "true"}
	if text := q.Get("alpha"); text != "" {
		if o.Alpha, err = strconv.ParseFloat(text, 64); err != nil || !(o.Alpha > 0 && o.Alpha < 1) {
			return o, unfit("alpha %q: want a share between 0 and 1", text)
		}
	}
	for _, gate := range o.Gates {
		if _, err := compare.Parse(gate); err != nil {
			return o, unfit("gate %q: %v", gate, err)
		}
	}
	return o, nil
}

func (s *Server) variants(ctx context.Context, campaign string, o compare.Options) (*compare.Result, error) {
	e, err := s.c.Store.Experiment(ctx, campaign)
	if err != nil {
		return nil, err
	}
	got, err := compare.Experiment(e, o)
	if err != nil {
		return nil, unfit("%v", err)
	}
	return got, nil
}

// sides compares lists of runs, each against the first. The pairs share alpha
// evenly (Bonferroni), so that the chance of a false alarm is that of one pair.
func (s *Server) sides(ctx context.Context, lists []string, repeats bool, o compare.Options) (*compare.Result, error) {
	left := runsMost
	var all []compare.Side
	for _, list := range lists {
		side, err := s.side(ctx, list, repeats, &left)
		if err != nil {
			return nil, err
		}
		all = append(all, side)
	}
	pairs, alpha := len(all)-1, o.Alpha
	o.Alpha /= float64(pairs)
	sum := &compare.Result{Schema: compare.Schema, Alpha: alpha}
	for _, b := range all[1:] {
		one, err := compare.Sides(all[0], b, o)
		if err != nil {
			return nil, unfit("%v", err)
		}
		shareAlpha(one, pairs)
		sum.Family += one.Family
		sum.Comparisons = append(sum.Comparisons, one.Comparisons...)
		sum.Verdict = graver(sum.Verdict, one.Verdict)
	}
	return sum, nil
}

// shareAlpha makes the p-values of gates comparable with the alpha of all pairs.
func shareAlpha(r *compare.Result, pairs int) {
	for i := range r.Comparisons {
		for k := range r.Comparisons[i].Metrics {
			if m := &r.Comparisons[i].Metrics[k]; m.Gate {
				m.Adjusted = min(1, m.Adjusted*float64(pairs))
			}
		}
	}
}

// graver is the graver of two verdicts, in the order of [compare.Comparison].
func graver(a, b compare.Verdict) compare.Verdict {
	order := []compare.Verdict{"", compare.Equivalent, compare.Better, compare.SmallChange, compare.CannotTell, compare.Worse}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// side reads the runs of a list, as long as there are some left to be read.
func (s *Server) side(ctx context.Context, list string, repeats bool, left *int) (compare.Side, error) {
	var ids []store.RunID
	for word := range strings.SplitSeq(list, ",") {
		id, err := s.c.Store.Find(ctx, word)
		if err != nil {
			return compare.Side{}, err
		}
		ids = append(ids, id)
	}
	if repeats {
		var err error
		if ids, err = s.repeats(ctx, ids); err != nil {
			return compare.Side{}, err
		}
	}
	if *left -= len(ids); *left < 0 {
		return compare.Side{}, unfit("at most %d runs are compared at once", runsMost)
	}
	var runs []*result.Run
	for _, id := range ids {
		rec, err := s.c.Store.Get(ctx, id)
		if err != nil {
			return compare.Side{}, err
		}
		if rec.Trial.Error != "" {
			return compare.Side{}, unfit("run %s has no result: %s", id, rec.Trial.Error)
		}
		runs = append(runs, &rec.Trial.Run)
	}
	return compare.Stored(list, runs), nil
}

// metrics are the figures whose history can be told.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]any{"metrics": store.Metrics()})
}

// historyMost is the most runs of a history.
const historyMost = 500

// history is how a metric went, and where it changed.
func (s *Server) history(w http.ResponseWriter, r *http.Request) error {
	if err := known(r, "experiment", "variant", "metric", "limit", "any"); err != nil {
		return err
	}
	q := r.URL.Query()
	limit, err := number(q, "limit", historyMost)
	if err != nil {
		return err
	}
	question := store.Question{Experiment: q.Get("experiment"), Variant: q.Get("variant"), Metric: q.Get("metric"), Limit: limit, Any: q.Get("any") == "true"}
	if question.Metric == "" {
		question.Metric = "rate"
	}
	h, err := s.c.Store.History(r.Context(), question)
	if err != nil {
		return err
	}
	h.Points, h.Levels = append([]store.Point{}, h.Points...), append([]store.Level{}, h.Levels...)
	return writeJSON(w, http.StatusOK, h)
}
