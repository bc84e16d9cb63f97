package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"prony/internal/unit"
)

// Fit is what "scale: auto" made of the file, so that it fits the machines.
type Fit struct {
	// Changes are empty if nothing had to be reduced.
	Changes []Change `json:"changes,omitempty"`
	// Unseen are the hosts that nobody looked at: what runs there is as the file
	// says.
	Unseen []string `json:"unseen,omitempty"`
}

// Change is one quantity that was reduced.
type Change struct {
	What Quantity `json:"what"`
	// Of are the services or loads that it was reduced for; a load without a name
	// is not named.
	Of []string `json:"of,omitempty"`
	// From is the file's value and To the planned one, in the unit of What.
	From float64 `json:"from"`
	To   float64 `json:"to"`
	Why  string  `json:"why"`
}

// Quantity names what can be reduced.
type Quantity string

const (
	FitConnections Quantity = "connections" // of a load
	FitRate        Quantity = "rate"        // the highest of a load, requests a second
	FitCount       Quantity = "count"       // requests of a load
	FitCPUs        Quantity = "cpus"        // cores, of each instance
	FitMemory      Quantity = "memory"      // bytes, of each instance
)

// String is the change for people: "cpus 4 -> 0.5 for app and gateway alike:
// this machine has 2 cores, of which the generator keeps 1".
func (c Change) String() string {
	of := ""
	switch len(c.Of) {
	case 0:
	case 1:
		of = " for " + c.Of[0]
	default:
		of = " for " + listed(c.Of) + " alike"
	}
	return fmt.Sprintf("%s %s -> %s%s: %s", c.What, c.What.text(c.From), c.What.text(c.To), of, c.Why)
}

func (q Quantity) text(v float64) string {
	switch q {
	case FitRate:
		return unit.FormatRate(v)
	case FitMemory:
		return unit.FormatSize(v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Lines tell it to people, a line each. A nil Fit has none.
func (f *Fit) Lines() []string {
	if f == nil {
		return nil
	}
	var all []string
	for _, c := range f.Changes {
		all = append(all, c.String())
	}
	if len(all) == 0 {
		all = append(all, "nothing had to be reduced")
	}
	if len(f.Unseen) > 0 {
		all = append(all, fmt.Sprintf("%s not looked at: what runs there is as the file says", are(f.Unseen)))
	}
	return all
}

// Fit is that of all variants together; nil if the file did not ask for it.
func (e *Experiment) Fit() *Fit {
	var all *Fit
	seen := map[*Fit]bool{}
	for _, t := range e.Trials {
		one := t.Plan.Fit
		if one == nil || seen[one] {
			continue
		}
		seen[one] = true
		if all == nil {
			all = &Fit{}
		}
		for _, c := range one.Changes {
			all.add(c)
		}
		for _, host := range one.Unseen {
			if !slices.Contains(all.Unseen, host) {
				all.Unseen = append(all.Unseen, host)
			}
		}
	}
	if all != nil {
		slices.SortStableFunc(all.Changes, func(a, b Change) int { return a.What.order() - b.What.order() })
		slices.Sort(all.Unseen)
	}
	return all
}

// order is that of telling: the load first.
func (q Quantity) order() int {
	return slices.Index([]Quantity{FitConnections, FitRate, FitCount, FitCPUs, FitMemory}, q)
}

// add notes a change; equal ones become one, for all they are of.
func (f *Fit) add(c Change) {
	for i, old := range f.Changes {
		if old.What != c.What || old.From != c.From || old.To != c.To || old.Why != c.Why {
			continue
		}
		of := slices.Clone(old.Of) // it may be another variant's
		for _, name := range c.Of {
			if !slices.Contains(of, name) {
				of = append(of, name)
			}
		}
		f.Changes[i].Of = of
		return
	}
	f.Changes = append(f.Changes, c)
}

// listed joins names: "a, b and c".
func listed(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// are names the subject of a sentence about hosts.
func are(hosts []string) string {
	if len(hosts) == 1 {
		return "only this machine was reckoned with; host " + hosts[0] + " was"
	}
	return "only this machine was reckoned with; hosts " + listed(hosts) + " were"
}
