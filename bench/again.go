package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"
)

// earlier is the run that a page was first written by, when sections of it were
// measured again.
type earlier struct {
	Date    time.Time `json:"date"`
	Command string    `json:"command"`
}

// adopt takes from the report in a file what this one has not measured.
func (r *report) adopt(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the page to keep: %w", err)
	}
	var old report
	if err := json.Unmarshal(b, &old); err != nil {
		return fmt.Errorf("read the page to keep: %s: %w", file, err)
	}
	r.Earlier = cmp.Or(old.Earlier, &earlier{Date: old.Date, Command: old.Command})
	r.Throughput = merged(old.Throughput, r.Throughput)
	r.Latency, r.Stall = cmp.Or(r.Latency, old.Latency), cmp.Or(r.Stall, old.Stall)
	r.Memory, r.Many = cmp.Or(r.Memory, old.Memory), cmp.Or(r.Many, old.Many)
	if r.Calls == nil {
		r.Calls = old.Calls
	}
	if r.Allocations == nil {
		r.Allocations = old.Allocations
	}
	if r.Profile == nil {
		r.Profile = old.Profile
	}
	r.Skipped = slices.Compact(slices.Sorted(slices.Values(append(old.Skipped, r.Skipped...))))
	r.Goals = goals(r)
	return nil
}

// merged are the old comparisons, those that were measured again replaced.
func merged(old, now []comparison) []comparison {
	all := slices.Clone(old)
	for _, c := range now {
		i := slices.IndexFunc(all, func(o comparison) bool { return o.Name == c.Name })
		if i < 0 {
			all = append(all, c)
			continue
		}
		all[i] = c
	}
	return all
}
