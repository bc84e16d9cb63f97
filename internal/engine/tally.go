package engine

import (
	"prony/internal/hdr"
	"prony/internal/result"
)

// tally is what one worker counted in one interval. Two of them per worker
// change places at every boundary, so that the worker never waits.
type tally struct {
	index    int64 // of the interval; negative in warm-up, drainIndex after the window
	from, to int64

	planned, started       int64
	completed, failed      int64 // requests planned inside the window (or, in warm-up, all)
	inWindow               int64 // answers of any status that ended in the window
	bytesIn, bytesOut      int64
	bodyBytes              int64
	inFlight, open         int64 // at the end
	response, service, lag *hdr.Histogram
	dispatch, first        *hdr.Histogram
	errors                 *hdr.Histogram
	merged                 int64 // intervals that could not be handed over in time
}

// drainIndex is the index of the interval that follows the window.
const drainIndex = int64(1) << 40

func newTally() *tally {
	h := func() *hdr.Histogram { return hdr.MustNew(hdr.Config{}) }
	return &tally{response: h(), service: h(), lag: h(), dispatch: h(), first: h(), errors: h()}
}

func (t *tally) histograms() [6]*hdr.Histogram {
	return [6]*hdr.Histogram{t.response, t.service, t.lag, t.dispatch, t.first, t.errors}
}

func (t *tally) reset() {
	for _, h := range t.histograms() {
		h.Reset()
	}
	*t = tally{response: t.response, service: t.service, lag: t.lag, dispatch: t.dispatch, first: t.first, errors: t.errors}
}

// add merges o into t; the intervals' bounds stay t's.
func (t *tally) add(o *tally) {
	t.planned += o.planned
	t.started += o.started
	t.completed += o.completed
	t.failed += o.failed
	t.inWindow += o.inWindow
	t.bytesIn += o.bytesIn
	t.bytesOut += o.bytesOut
	t.bodyBytes += o.bodyBytes
	t.inFlight += o.inFlight
	t.open += o.open
	t.merged += o.merged
	mine, theirs := t.histograms(), o.histograms()
	for i := range mine {
		if err := mine[i].Merge(theirs[i]); err != nil {
			panic(err) // the shapes are ours
		}
	}
}

// interval is the tally as it is stored.
func (t *tally) interval(windowAt int64) result.Interval {
	return result.Interval{
		StartUS: float64(t.from-windowAt) / 1000, LengthUS: float64(t.to-t.from) / 1000, Warmup: t.index < 0, Drain: t.index == drainIndex,
		Planned: t.planned, Started: t.started, Completed: t.completed, Failed: t.failed,
		BytesIn: t.bytesIn, InFlight: t.inFlight,
		Response: result.Pack(t.response), Service: result.Pack(t.service), Lag: result.Pack(t.lag), Errors: result.Pack(t.errors),
	}
}
