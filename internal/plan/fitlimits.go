package plan

import (
	"fmt"
	"math"
	"slices"

	"prony/internal/spec"
)

// Floors and reserves of "scale: auto".
const (
	// leastCPUs is what an instance keeps of a core: the kernel's period of 100 ms
	// gives it 5 ms, below which an answer waits for whole periods.
	leastCPUs = 0.05
	// leastMemory is what an instance keeps.
	leastMemory = 64 << 20
	// memoryReserve is the part of a machine's memory that is for the system, the
	// generator and what has no limit: one in so many, and at least leastReserve.
	memoryReserve = 8
	leastReserve  = 256 << 20
)

// cut is a factor on a limit of all services of a host, and why.
type cut struct {
	factor float64
	why    string
}

// cuts are those of the hosts, by name, over all variants: a factor for each
// host, so that what is compared stays comparable.
type cuts struct{ cpus, memory map[string]cut }

// reduction finds what fits each host: the least over all variants.
func (f Facts) reduction(variants [][]Service) cuts {
	c := cuts{map[string]cut{}, map[string]cut{}}
	keep := func(m map[string]cut, host string, one cut) {
		if old, ok := m[host]; one.factor < 1 && (!ok || one.factor < old.factor) {
			m[host] = one
		}
	}
	for _, services := range variants {
		on := map[string][]Service{}
		for _, s := range services {
			if s.Started() {
				on[s.Host] = append(on[s.Host], s)
			}
		}
		for host, here := range on {
			keep(c.cpus, host, f.fitCPUs(host, here))
			keep(c.memory, host, f.fitMemory(host, here))
		}
	}
	return c
}

// least is the strongest cut of CPU time on any host.
func (c cuts) least() float64 {
	least := 1.0
	for _, one := range c.cpus {
		least = min(least, one.factor)
	}
	return least
}

// fitCPUs is the largest factor on the CPUs of the services of a host with which
// each has whole cores to itself. With more services than cores there is no such
// factor; then the CPU time of all limits together has to fit beside the
// generator's core, or its half of the only one.
func (f Facts) fitCPUs(host string, services []Service) cut {
	cpus := f.machine(host).CPUs
	wanted := demands(services)
	if cpus < 1 || len(wanted) == 0 {
		return cut{factor: 1}
	}
	p, kept := partiesOf(host, services)
	if obstacle(cpus, p) == "" {
		factor := wholeCores(cpus-p.cores(), wanted)
		why := f.has(host, kept, float64(p.cores()))
		if len(wanted) > 1 {
			why += ", and each service has whole ones to itself"
		}
		return cut{factor, why}
	}
	room, sum := float64(cpus), 0.0
	for _, n := range wanted {
		sum += n
	}
	reserve := 0.0
	if host == "" {
		reserve = min(1, room/2)
	}
	for _, one := range p {
		reserve += float64(len(one.own))
	}
	return cut{min(max(room-reserve, 0)/sum, 1), f.has(host, kept, reserve)}
}

// demands are the cores that the services with a limit want, all instances
// together.
func demands(services []Service) []float64 {
	var all []float64
	for _, s := range services {
		if s.Limits.CPUs > 0 && len(s.Limits.Cores) == 0 {
			all = append(all, s.Limits.CPUs*float64(s.Instances))
		}
	}
	return all
}

// parties are those who share a host, each with the fewest cores it can do with.
type parties []party

// partiesOf are those of a host and the names of those whose cores are not for
// the limits to share: the generator, who has no limit, who names its cores.
func partiesOf(host string, services []Service) (all parties, kept []string) {
	if host == "" {
		all, kept = append(all, party{name: Generator}), append(kept, "the generator")
	}
	for _, s := range services {
		one := party{name: s.Name, own: s.Limits.Cores}
		if s.Limits.CPUs > 0 && one.own == nil {
			one.need = 1
		} else {
			kept = append(kept, s.Name)
		}
		all = append(all, one)
	}
	return all, kept
}

// cores that those without a limit keep: one each, or those they name.
func (all parties) cores() int {
	n := 0
	for _, p := range all {
		if p.need == 0 {
			n += max(len(p.own), 1)
		}
	}
	return n
}

// wholeCores is the largest factor, at most 1, with which the demands, each
// rounded up to whole cores, fit. Between the factors that make one of the
// demands a whole number, nothing changes.
func wholeCores(room int, wanted []float64) float64 {
	best := 0.0
	for _, d := range append([]float64{0}, wanted...) {
		for k := range min(room, int(math.Ceil(min(d, math.MaxInt32)))) + 1 {
			factor := 1.0
			if d > 0 {
				factor = min(float64(k)/d, 1)
			}
			if factor > best && coresOf(factor, wanted) <= room {
				best = factor
			}
		}
	}
	return best
}

func coresOf(factor float64, wanted []float64) int {
	n := 0
	for _, d := range wanted {
		n += max(int(math.Ceil(factor*d-1e-9)), 1)
	}
	return n
}

// has says what a host has, and who keeps how much of it.
func (f Facts) has(host string, kept []string, n float64) string {
	who := "this machine"
	if host != "" {
		who = "host " + host
	}
	text := fmt.Sprintf("%s has %s", who, plural(float64(f.machine(host).CPUs), "core"))
	switch {
	case n == 0:
		return text
	case len(kept) == 1:
		return text + fmt.Sprintf(", of which %s keeps %s", kept[0], FitCPUs.text(n))
	}
	return text + fmt.Sprintf(", of which %s keep %s", listed(kept), FitCPUs.text(n))
}

// fitMemory is the largest factor with which the limits of memory fit a host
// beside its reserve.
func (f Facts) fitMemory(host string, services []Service) cut {
	total, sum := f.machine(host).Memory, 0.0
	for _, s := range services {
		sum += float64(s.Limits.Memory) * float64(s.Instances)
	}
	if total == 0 || sum == 0 {
		return cut{factor: 1}
	}
	reserve := max(total/memoryReserve, leastReserve)
	who := "this machine"
	if host != "" {
		who = "host " + host
	}
	return cut{min(max(float64(total-reserve), 0)/sum, 1), fmt.Sprintf("%s has %s, of which %s are kept for everything else",
		who, sizeText(total), sizeText(reserve))}
}

// reduce gives the services of a variant the limits that fit, and notes them.
// The values are rounded down, to thousandths of a core and to MiB.
func (m *maker) reduce(p *Plan) {
	for i, s := range p.Services {
		path := "services." + s.Name + ".limits."
		if c, ok := m.cuts.cpus[s.Host]; ok && s.Started() && s.Limits.CPUs > 0 {
			to := shrunk(s.Limits.CPUs, c.factor)
			p.Fit.add(Change{FitCPUs, []string{s.Name}, s.Limits.CPUs, to, c.why})
			if to < leastCPUs {
				m.tooSmall(path+"cpus", FitCPUs, s.Limits.CPUs, leastCPUs, c.why)
			}
			l := &p.Services[i].Limits
			l.CPUs, l.StartupCPUs = to, shrunk(l.StartupCPUs, c.factor)
		}
		if c, ok := m.cuts.memory[s.Host]; ok && s.Started() && s.Limits.Memory > 0 {
			to := int64(float64(s.Limits.Memory)*c.factor) >> 20 << 20
			p.Fit.add(Change{FitMemory, []string{s.Name}, float64(s.Limits.Memory), float64(to), c.why})
			if to < leastMemory {
				m.tooSmall(path+"memory", FitMemory, float64(s.Limits.Memory), leastMemory, c.why)
			}
			p.Services[i].Limits.Memory = to
		}
	}
}

// shrunk are cores that become less, in thousandths.
func shrunk(cores, factor float64) float64 { return math.Floor(cores*factor*1000+1e-6) / 1000 }

// tooSmall is the mistake of a limit that would have to be less than can work.
func (m *maker) tooSmall(path string, what Quantity, from, least float64, why string) {
	wrong := m.spec.Wrong(path, fmt.Errorf("scale: auto finds no room for %s %s, and not for the %s that it leaves at least: %s", what, what.text(from), what.text(least), why))
	wrong.Remedy = "ask for fewer instances or services on one host, put some on another one (on:), take a bigger machine, or set scale to a number and the limits by hand"
	m.mistakes = append(m.mistakes, wrong)
}

// unseen are the hosts of the services that nobody looked at.
func (f Facts) unseen(services []Service) []string {
	var all []string
	for _, s := range services {
		if s.Started() && s.Host != "" && f.Hosts[s.Host].CPUs == 0 && !slices.Contains(all, s.Host) {
			all = append(all, s.Host)
		}
	}
	return all
}

// servicesOf resolves those of a setup.
func servicesOf(s spec.Setup) []Service {
	var all []Service
	for _, one := range s.Services {
		all = append(all, resolve(one))
	}
	return all
}
