package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/store"
)

// keeping says where results are remembered.
type keeping struct {
	store string
	no    bool
}

func (k *keeping) register(s *pflag.FlagSet) {
	s.StringVar(&k.store, "store", "", "file or postgres:// URL of the history (default: store.db in the user's data folder)")
	s.BoolVar(&k.no, "no-store", false, "do not keep the result in the history")
}

// memory puts results into the history. What cannot be remembered is said, and
// is no failure of the run, whose results are in files or on the screen.
type memory struct {
	store *store.Store
	std   streams
}

// remember opens the history; nothing is remembered where that fails.
func (k keeping) remember(ctx context.Context, std streams) *memory {
	if k.no {
		return &memory{std: std}
	}
	s, err := openStore(ctx, k.store, std)
	if err != nil {
		fmt.Fprintf(std.err, "prony: the result is not kept in the history: %v\n", err)
	}
	return &memory{s, std}
}

// keep puts one record into the history and returns its id; "" if it is not
// kept. It works after the context has ended.
func (m *memory) keep(ctx context.Context, r store.Record) store.RunID {
	if m.store == nil {
		return ""
	}
	id, err := m.store.Put(context.WithoutCancel(ctx), r)
	if err != nil {
		fmt.Fprintf(m.std.err, "prony: the result is not kept in the history: %v\n", err)
	}
	return id
}

func (m *memory) close() {
	if m.store == nil {
		return
	}
	if err := m.store.Close(); err != nil {
		fmt.Fprintf(m.std.err, "prony: close the history: %v\n", err)
	}
}

// trialOf is a finished trial as the history takes it.
func trialOf(campaign string, p *plan.Experiment, t result.Trial, logs map[string][]byte) store.Record {
	return store.Record{Campaign: campaign, Plan: p, Trial: t, Logs: logs}
}
