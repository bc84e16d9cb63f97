package plan

import (
	"fmt"
	"slices"
	"strings"

	"prony/internal/unit"
)

// changes prints what happens to each host, and what is undone.
func (p printer) changes() {
	p.line("\nwhat changes on the hosts")
	all := p.e.hostChanges()
	for _, c := range all {
		p.line("  %s", c)
	}
	if len(all) == 0 {
		p.line("  nothing: no service is started")
		return
	}
	p.line("  each start is written to the journal first; after a crash, prony cleanup undoes what is left")
}

// hostChanges lists the changes of all variants, each once, with what is undone.
func (e *Experiment) hostChanges() []string {
	var all []string
	add := func(host, change string) {
		if host == "" {
			host = "here"
		}
		if line := host + ": " + change; !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	for _, v := range e.Variants {
		i := slices.IndexFunc(e.Trials, func(t Trial) bool { return t.Variant == v.Name })
		if i < 0 {
			continue
		}
		for _, s := range e.Trials[i].Plan.Services {
			for _, change := range s.changes() {
				add(s.Host, change)
			}
		}
		for _, d := range e.Trials[i].Plan.Cores {
			if d.Disjoint {
				add(d.Host, "processes and containers are bound to their cores; the binding ends with them")
			}
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { // by host, in the order of what happens
		hostA, _, _ := strings.Cut(a, ": ")
		hostB, _, _ := strings.Cut(b, ": ")
		return strings.Compare(hostA, hostB)
	})
	return all
}

// changes are those that one service makes to its host.
func (s Service) changes() []string {
	var all []string
	switch s.Kind {
	case External:
		return nil
	case Catalog:
		all = append(all, fmt.Sprintf("%s is built or fetched as its catalog entry says, and kept; what is started is stopped and removed", s.Entry))
	case Program:
		if len(s.Process.Build) > 0 {
			all = append(all, fmt.Sprintf("%s is built once, by: %s; its folder is removed at the end", s.Name, strings.Join(s.Process.Build, " ")))
		}
		all = append(all, fmt.Sprintf("%s runs as a group of processes; stopped after each trial", s.Name))
	case Docker:
		all = append(all, fmt.Sprintf("image %s is pulled if it is missing, and kept; containers are removed after each trial", s.Docker.Image))
	case Compose:
		all = append(all, fmt.Sprintf("%s of %s and what it depends on run as a project of their own; removed with its networks after each trial", s.Compose.Service, s.Compose.File))
	}
	if s.Kind == Program && s.Limits.String() != "" {
		all = append(all, fmt.Sprintf("a control group for %s (%s); removed after each trial", s.Name, s.Limits))
	}
	return all
}

func sizeText(bytes int64) string { return unit.FormatSize(float64(bytes)) }
