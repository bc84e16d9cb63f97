package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"prony/internal/result"
	"prony/internal/store"
)

// historyWithin bounds the looking up of a result in the history.
const historyWithin = 30 * time.Second

// baselinePrefix names the baseline of an experiment, or of one of its variants:
// baseline:EXPERIMENT or baseline:EXPERIMENT/VARIANT.
const baselinePrefix = "baseline:"

// history finds a result in the user's history: a run by its name, its id, or
// the first letters of one, with its repeats; or a baseline.
func (s *source) history(word string) error {
	ctx, cancel := context.WithTimeout(context.Background(), historyWithin)
	defer cancel()
	h, err := openStore(ctx, "", streams{err: io.Discard})
	if err != nil {
		return err
	}
	err = s.remembered(ctx, h, word)
	return errors.Join(err, h.Close())
}

func (s *source) remembered(ctx context.Context, h *store.Store, word string) error {
	var ids []store.RunID
	if of, ok := strings.CutPrefix(word, baselinePrefix); ok {
		var err error
		if ids, err = pinned(ctx, h, of); err != nil {
			return err
		}
	} else {
		id, err := h.Find(ctx, word)
		if errors.Is(err, store.ErrNotFound) {
			return errSource
		}
		if err != nil {
			return err
		}
		if ids, err = h.Repeats(ctx, id); err != nil {
			return err
		}
		if len(ids) == 0 { // not usable, but there
			ids = []store.RunID{id}
		}
	}
	for _, id := range ids {
		r, err := h.Get(ctx, id)
		if err != nil {
			return err
		}
		s.repeats = append(s.repeats, &r.Trial.Run)
	}
	s.run = s.repeats[len(s.repeats)-1]
	return nil
}

// pinned are the runs of a baseline.
func pinned(ctx context.Context, h *store.Store, of string) ([]store.RunID, error) {
	all, err := h.Baselines(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, b := range all {
		name := b.Experiment
		if b.Variant != "" {
			name += "/" + b.Variant
		}
		if name == of || b.Experiment == of && len(all) == 1 {
			return b.Runs, nil
		}
		names = append(names, name)
	}
	return nil, fmt.Errorf("no baseline of %q; there are: %s", of, strings.Join(names, ", "))
}

// stored are the runs of a side that comes from single runs.
func (s *source) stored() []*result.Run {
	if len(s.repeats) > 0 {
		return s.repeats
	}
	return []*result.Run{s.run}
}
