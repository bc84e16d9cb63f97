package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Generator is the name of the load generator among those who share a host.
const Generator = "generator"

// Division says how the cores of one host are divided.
type Division struct {
	Host string `json:"host,omitempty"` // "" is this one
	CPUs int    `json:"cpus"`           // 0: not known
	// Disjoint: nobody shares a core. Otherwise all run anywhere, and Why says
	// what stands against a division.
	Disjoint bool    `json:"disjoint"`
	Why      string  `json:"why,omitempty"`
	Shares   []Share `json:"shares"`
}

// Share is the part of one of them; of a service it is that of all its
// instances together.
type Share struct {
	Who   string `json:"who"`             // Generator or the name of a service
	Cores []int  `json:"cores,omitempty"` // empty: any
}

// party is someone on a host.
type party struct {
	name string
	need int   // cores, by a limit; 0: as many as there are
	own  []int // cores named in the file
}

// divide gives each of the parties on a host its own cores: those with a limit
// what that needs, the others equal parts of the rest. A host with one party has
// nothing to divide.
func divide(host string, cpus int, parties []party) (Division, bool) {
	d := Division{Host: host, CPUs: cpus}
	for _, p := range parties {
		d.Shares = append(d.Shares, Share{Who: p.name, Cores: p.own})
	}
	if len(parties) < 2 {
		return d, false
	}
	d.Why = obstacle(cpus, parties)
	if d.Why != "" {
		return d, true
	}
	d.Disjoint = true
	free := remaining(cpus, parties)
	for i, n := range coreCounts(len(free), parties) {
		if parties[i].own == nil {
			d.Shares[i].Cores, free = slices.Clone(free[:n]), free[n:]
		}
	}
	return d, true
}

// obstacle says why the cores cannot be divided; "" if they can.
func obstacle(cpus int, parties []party) string {
	if cpus == 0 {
		return "the number of cores is not known"
	}
	want := 0
	var list []string
	owner := map[int]string{}
	for _, p := range parties {
		for _, core := range p.own {
			if core >= cpus {
				return fmt.Sprintf("%s asks for core %d, and the last one is %d", p.name, core, cpus-1)
			}
			if owner[core] != "" {
				return fmt.Sprintf("%s and %s both ask for core %d", owner[core], p.name, core)
			}
			owner[core] = p.name
		}
		n := cmp.Or(len(p.own), max(p.need, 1))
		want += n
		list = append(list, fmt.Sprintf("%s %d", p.name, n))
	}
	if want > cpus {
		return fmt.Sprintf("%s are wanted (%s), %d are there", plural(float64(want), "core"), strings.Join(list, ", "), cpus)
	}
	return ""
}

// remaining are the cores that nobody asked for by number.
func remaining(cpus int, parties []party) []int {
	var free []int
	for core := range cpus {
		if !slices.ContainsFunc(parties, func(p party) bool { return slices.Contains(p.own, core) }) {
			free = append(free, core)
		}
	}
	return free
}

// coreCounts is how many of the free cores each party gets.
func coreCounts(free int, parties []party) []int {
	n := make([]int, len(parties))
	var open []int // who takes what is left
	for i, p := range parties {
		switch {
		case p.own != nil:
		case p.need > 0:
			n[i] = p.need
			free -= p.need
		default:
			open = append(open, i)
		}
	}
	for k, i := range open {
		n[i] = free / len(open)
		if k < free%len(open) {
			n[i]++
		}
	}
	return n
}

// cores divides every host that several of a plan share. The generator is here.
func (p Plan) cores(f Facts) []Division {
	hosts := []string{""}
	parties := map[string][]party{}
	for _, s := range p.Services {
		if !s.Started() {
			continue
		}
		if !slices.Contains(hosts, s.Host) {
			hosts = append(hosts, s.Host)
		}
		one := party{name: s.Name, own: s.Limits.Cores}
		if s.Limits.CPUs > 0 {
			one.need = int(math.Ceil(s.Limits.CPUs*float64(s.Instances) - 1e-9))
		}
		parties[s.Host] = append(parties[s.Host], one)
	}
	parties[""] = append(parties[""], party{name: Generator})
	var all []Division
	for _, host := range hosts {
		cpus := f.Hosts[host].CPUs
		if host == "" {
			cpus = f.CPUs
		}
		if d, shared := divide(host, cpus, parties[host]); shared {
			all = append(all, d)
		}
	}
	return all
}

// CoresOf are the cores of a host that someone on it has to itself; nil if the
// cores are not divided.
func (p Plan) CoresOf(host, who string) []int {
	for _, d := range p.Cores {
		if d.Host != host || !d.Disjoint {
			continue
		}
		for _, s := range d.Shares {
			if s.Who == who {
				return s.Cores
			}
		}
	}
	return nil
}

// facts are what the defaults of a load follow from once the cores are divided.
func (p Plan) facts(f Facts) Facts {
	for _, d := range p.Cores {
		if d.Host != "" {
			continue
		}
		f.Loopback = !d.Disjoint
		if d.Disjoint {
			f.CPUs = len(d.Shares[len(d.Shares)-1].Cores)
		}
	}
	return f
}
