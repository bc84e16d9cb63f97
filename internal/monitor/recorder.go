package monitor

import (
	"maps"
	"sync"
	"time"

	"prony/internal/result"
)

// point is one value of a sample.
type point struct {
	metric result.Metric
	value  float64
}

// sink takes samples. Its methods are called by several goroutines at once.
type sink interface {
	// take hears of a sample that ended at a time after the epoch. It does not
	// keep points. The head of an id may change.
	take(id int, h *Head, at, length time.Duration, points []point)
	// flush hears that all of a moment was taken.
	flush()
}

// recorder is the sink that keeps.
type recorder struct {
	epoch time.Time

	mu     sync.Mutex // guards all below
	env    result.Environment
	tracks map[int]*Track
	order  []int
	newest time.Duration
}

func newRecorder(epoch time.Time) *recorder { return &recorder{epoch: epoch, tracks: map[int]*Track{}} }

func (r *recorder) take(id int, h *Head, at, length time.Duration, points []point) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tracks[id]
	if t == nil {
		t = &Track{Series: map[result.Metric]Columns{}}
		r.tracks[id] = t
		r.order = append(r.order, id)
	}
	facts, unknown := refreshed(t.Facts, h.Facts), refreshed(t.Unknown, h.Unknown)
	t.Head = *h
	t.Facts, t.Unknown = facts, unknown
	t.add(at, length, points)
	r.newest = max(r.newest, at)
}

func (r *recorder) flush() {}

// note tells of the machine as a whole why something is not known.
func (r *recorder) note(key, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.tracks {
		if t.Kind == result.OfHost {
			t.Unknown = maps.Clone(t.Unknown)
			if t.Unknown == nil {
				t.Unknown = map[string]string{}
			}
			t.Unknown[key] = why
		}
	}
}

// refreshed is a copy of what was said now, the old one if it says the same.
func refreshed(old, now map[string]string) map[string]string {
	if len(old) == len(now) && maps.Equal(old, now) {
		return old
	}
	return maps.Clone(now)
}

// environment notes the machine's description.
func (r *recorder) environment(e result.Environment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.env = e
}

// recording is what was taken. Nothing may be taken after it.
func (r *recorder) recording() Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := Recording{Schema: RecordingSchema, Epoch: r.epoch, Environment: r.env, Tracks: []Track{}}
	for _, id := range r.order {
		all.Tracks = append(all.Tracks, *r.tracks[id])
	}
	return all
}

// Snapshot is the last sample of all that is watched, one sample each, with
// times in microseconds from the start of the watch.
type Snapshot []result.Observed

// live leaves out what has not been seen for a while.
func (r *recorder) live(stale time.Duration) Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all Snapshot
	for _, id := range r.order {
		t := r.tracks[id]
		n := len(t.AtUS)
		if n == 0 || r.newest.Microseconds()-t.AtUS[n-1] > stale.Microseconds() {
			continue
		}
		all = append(all, t.observed(n-1, n, 0))
	}
	return all
}
