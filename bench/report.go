package main

import (
	"encoding/json"
	"io"
	"time"
)

// report is everything that was measured; the page is a rendering of it.
type report struct {
	Schema      string          `json:"schema"`
	Date        time.Time       `json:"date"`
	Quick       bool            `json:"quick,omitempty"`
	Rounds      int             `json:"rounds"`
	Duration    time.Duration   `json:"duration_ns"`
	Command     string          `json:"command"`
	Earlier     *earlier        `json:"earlier,omitempty"`
	Machine     machine         `json:"machine"`
	Tools       tools           `json:"tools"`
	Skipped     []string        `json:"skipped,omitempty"`
	Goals       []goal          `json:"goals"`
	Throughput  []comparison    `json:"throughput,omitempty"`
	Latency     *comparison     `json:"latency,omitempty"`
	Stall       *stallSection   `json:"stall,omitempty"`
	Memory      *memorySection  `json:"memory,omitempty"`
	Many        *memorySection  `json:"connections,omitempty"`
	Calls       []callRow       `json:"system_calls,omitempty"`
	Allocations []allocationRow `json:"allocations,omitempty"`
	Profile     []profileRow    `json:"profile,omitempty"`
}

// begin fills in what is known before the first run.
func (r *report) begin(s settings, files int) {
	r.Schema, r.Date, r.Quick = "prony.bench/1", time.Now().UTC().Truncate(time.Second), s.quick
	r.Rounds, r.Duration, r.Command = s.rounds, s.duration, s.command()
	r.Machine = describe(s, files)
}

// comparison returns a throughput comparison by its name, nil if there is none.
func (r *report) comparison(name string) *comparison {
	for i := range r.Throughput {
		if r.Throughput[i].Name == name {
			return &r.Throughput[i]
		}
	}
	return nil
}

// generators list the names in all throughput comparisons, with the first
// command of each.
func (r *report) commands() (names []string, commands map[string]string) {
	commands = map[string]string{}
	for _, c := range r.Throughput {
		for _, e := range c.Entries {
			if commands[e.Generator] == "" {
				names = append(names, e.Generator)
				commands[e.Generator] = e.Command
			}
		}
	}
	return names, commands
}

func (r *report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
