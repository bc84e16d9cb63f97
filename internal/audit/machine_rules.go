package audit

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"prony/internal/result"
	"prony/internal/unit"
)

// capacity is how many cores the generator's process can use: one for ab and
// one per thread for wrk, at most those of its machine.
func (v view) capacity() Value {
	cores := v.Facts.GeneratorCores
	if !cores.Known && len(v.Facts.GeneratorCPU) > 0 {
		cores = Exactly(float64(len(v.Facts.GeneratorCPU)))
	}
	switch {
	case v.Tool == "ab":
		return Exactly(1)
	case (v.Tool == "wrk" || v.Tool == "h2load") && v.Threads.positive():
		if cores.Known {
			return Exactly(min(cores.V, v.Threads.V))
		}
		return v.Threads
	}
	return cores
}

// generatorSaturated is E7.
func generatorSaturated(v view) answer {
	var all []result.Finding
	own, known := v.Facts.CPU[v.Tool]
	if room := v.capacity(); known && room.positive() {
		all = append(all, v.busyProcess(own.V, room.V)...)
	}
	if cores := v.Facts.GeneratorCPU; len(cores) > 0 {
		known = true
		all = append(all, v.busyCores(cores)...)
	}
	switch {
	case len(all) > 0:
		return found(all...)
	case known:
		return nothing()
	case v.sameHost() && v.Facts.Kind == "nginx" && v.Facts.Cores.positive() && v.KeepAlive == "on":
		return v.idleServer()
	}
	return lacks(fmt.Sprintf("the CPU of the generator (--cpu %s=…, --generator-cpu)", v.Tool))
}

// busyProcess judges the CPU of the generator's process.
func (v view) busyProcess(used, room float64) []result.Finding {
	share := used / room
	evidence := figures{"cores_used": used, "cores": room, "share": share}
	limit := figures{"generator_busy": v.t.GeneratorBusy, "generator_full": v.t.GeneratorFull}
	say := fmt.Sprintf("%s used %s of the %s it can use (%s)", v.Tool, percent(used), percent(room), percent(share))
	if room == 1 {
		say = fmt.Sprintf("%s used %s of one core and can use no more", v.Tool, percent(used))
	}
	const advice = "Use a generator with more cores, and show that it had some left."
	switch {
	case share >= v.t.GeneratorFull:
		return []result.Finding{finding(result.InvalidLevel, result.Likely, evidence, limit, advice,
			"the generator was the limit: %s. %s is what it could send, and a lower bound of what the server could answer", say, rate(v.Rate.V))}
	case share >= v.t.GeneratorBusy:
		return []result.Finding{finding(result.SuspectLevel, result.Likely, evidence, limit, advice, "the generator was near its limit: %s", say)}
	}
	return nil
}

// busyCores judges the cores of the generator's machine.
func (v view) busyCores(cores []float64) []result.Finding {
	sum, full := 0.0, 0
	for _, c := range cores {
		if sum += c; c >= v.t.CoreFull {
			full++
		}
	}
	share := sum / float64(len(cores))
	evidence := figures{"cores": float64(len(cores)), "cores_full": float64(full), "cores_used": sum, "share": share}
	limit := figures{"core_full": v.t.CoreFull, "generator_busy": v.t.GeneratorBusy, "generator_full": v.t.GeneratorFull}
	say := fmt.Sprintf("%d of %d cores of the generator full, in sum %s%% = %s of them", full, len(cores), trimmed(sum*100, 1), percent(share))
	switch {
	case share >= v.t.GeneratorFull:
		return []result.Finding{finding(result.InvalidLevel, result.Likely, evidence, limit,
			"Use a generator with more cores.", "the generator was the limit: %s", say)}
	case full > 0 || share >= v.t.GeneratorBusy:
		return []result.Finding{finding(result.SuspectLevel, result.Likely, evidence, limit,
			"Show each thread of the generator over the whole run.", "a thread of the generator may have been the limit: %s", say)}
	}
	return nil
}

// idleServer is E7 by what nginx is known to cost: when it could not be busy,
// something else was.
func (v view) idleServer() answer {
	used := v.Rate.V * v.t.NginxUS / 1e6
	if used > 0.5*v.Facts.Cores.V {
		return nothing()
	}
	return found(finding(result.SuspectLevel, result.Hint, figures{"rate": v.Rate.V, "server_cores": used, "cores": v.Facts.Cores.V},
		figures{"nginx_us_per_request": v.t.NginxUS}, "Read the generator's CPU, and move it to another machine.",
		"%s x %s us = %s of %s cores is all that nginx needs for this: the server was not the limit, the generator on the same machine likely was",
		rate(v.Rate.V), trimmed(v.t.NginxUS, 0), three(used), trimmed(v.Facts.Cores.V, 1)))
}

// abSingleThread is E8.
func abSingleThread(v view) answer {
	if v.Tool != "ab" || v.Threads.V > 1 {
		return nothing()
	}
	say := "its CPU is not given"
	evidence := figures{}
	if own, ok := v.Facts.CPU["ab"]; ok {
		if own.V < v.t.CoreFull {
			return nothing()
		}
		evidence["cores_used"] = own.V
		say = fmt.Sprintf("at %s of it %s is a lower bound", percent(own.V), rate(v.Rate.V))
	}
	return found(finding(result.Note, result.Definite, evidence, figures{"core_full": v.t.CoreFull},
		"Take a generator with threads, or several ab beside each other.", "ab uses one core whatever -c is; %s", say))
}

// samplingTooShort is E9: shares that are all small fractions were counted over
// a few ticks of the clock, and processor time tells more than a screen.
func samplingTooShort(v view) answer {
	if len(v.Facts.GeneratorCPU) == 0 && len(v.Facts.CPUTime) == 0 {
		return lacks("CPU by core or processor time (--generator-cpu, cpu_time)")
	}
	var all []result.Finding
	odd := 0
	for _, c := range v.Facts.GeneratorCPU {
		if !smallFraction(c) {
			odd = -1000
		} else if c > 0 && c < 1 {
			odd++
		}
	}
	if odd >= 3 {
		all = append(all, finding(result.Note, result.Likely, figures{"values": float64(len(v.Facts.GeneratorCPU))}, nil,
			"Read CPU over the whole run, from /proc/stat and the control groups.",
			"all shares are k/2 to k/5: they were counted over 2 to 5 ticks of 10 ms, not over the run"))
	}
	spent, share, ran := v.Facts.CPUTime[v.Tool], v.Facts.CPU[v.Tool], v.ran()
	if spent.positive() && share.Known && ran.positive() && spent.V/ran.V > 1.2*share.V {
		all = append(all, finding(result.Note, result.Definite, figures{"cpu_time_us": spent.V, "duration_us": ran.V, "cores_used": share.V}, nil,
			"Divide processor time by the time of the run.",
			"%s had used %s s of processor time in a run of %s s: at least %s, not the %s on the screen",
			v.Tool, trimmed(spent.V/1e6, 2), fixed(ran.V/1e6, 0), percent(spent.V/ran.V), percent(share.V)))
	}
	return found(all...)
}

// smallFraction reports whether a share, printed to a tenth of a percent, is
// k/n with n up to 5.
func smallFraction(c float64) bool {
	for n := 1.0; n <= 5; n++ {
		if math.Abs(c*n-math.Round(c*n)) < 0.0006*n {
			return true
		}
	}
	return false
}

// hardwareMismatch is E10.
func hardwareMismatch(v view) answer {
	f := v.Facts
	missing := ""
	if !f.SeenMemory.Known && !f.SeenCores.Known {
		missing = "cores and memory as the machine shows them (seen_cores, seen_memory)"
	}
	var all []result.Finding
	say := func(stated, seen Value, show func(float64) string) {
		if stated.positive() && seen.positive() && math.Abs(stated.V-seen.V) > v.t.HardwareOff*stated.V {
			all = append(all, finding(result.SuspectLevel, result.Definite, figures{"stated": stated.V, "seen": seen.V}, figures{"share_off": v.t.HardwareOff},
				"Print what the machine says of itself.", "%s stated, but the screen shows %s", show(stated.V), show(seen.V)))
		}
	}
	if said := f.Connections; said.Known && said.V != v.Connections.V {
		all = append(all, finding(result.SuspectLevel, result.Definite, figures{"stated": said.V, "printed": v.Connections.V}, nil,
			"Believe the output, and ask which run the text is about.", "%s stated, but the output says %s", counted(said.V, "connection"), trimmed(v.Connections.V, 0)))
	}
	say(f.Memory, f.SeenMemory, func(b float64) string { return unit.FormatSize(b) + " of memory" })
	say(f.Cores, f.SeenCores, func(n float64) string { return counted(n, "core") })
	return answer{all, missing}
}

// cfsThrottled is E18: a quota below the demand stops the target for the rest of
// each period, and its percentiles are those of the quota.
func cfsThrottled(v view) answer {
	q := v.Facts.Quota
	switch {
	case !q.positive():
		return lacks("the CPU quota of the target, if it had one (--cpu-quota)")
	case !v.Rate.positive():
		return lacks("the rate")
	}
	cost := q.V / v.Rate.V * 1e6
	period := v.t.PeriodMS * 1e3
	evidence := figures{"cpu_quota": q.V, "rate": v.Rate.V, "cpu_us_per_request": cost}
	var periods []string
	for _, p := range []float64{0.9, 0.99} {
		if at := v.Latency.at(p); at.Known && at.V >= 0.7*period {
			n := math.Round(at.V / period)
			evidence["periods_p"+trimmed(p*100, 0)] = n
			periods = append(periods, fmt.Sprintf("p%s %s is about %s", trimmed(p*100, 0), trimmed(at.V/1e3, 2)+"ms", counted(n, "period")))
		}
	}
	if len(periods) == 0 {
		return nothing()
	}
	return found(finding(result.SuspectLevel, result.Likely, evidence, figures{"quota_period_ms": v.t.PeriodMS},
		"Read nr_throttled in cpu.stat. Compare CPU per request, not percentiles.",
		"the quota gives %s ms in each %s ms, then all wait: %s. The percentiles are the quota's. What it does measure is %s / %s = %s us of CPU per request",
		trimmed(q.V*v.t.PeriodMS, 1), trimmed(v.t.PeriodMS, 0), strings.Join(periods, ", "), trimmed(q.V, 3), rate(v.Rate.V), trimmed(cost, 1)))
}

// counted is a number with its word.
func counted(n float64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return trimmed(n, 0) + " " + word + "s"
}

// warmupByClock is E20: a warm-up under a quota is worth its CPU time.
func warmupByClock(v view) answer {
	w, q := v.Facts.Warmup, v.Facts.Quota
	if !w.positive() || !q.positive() || v.Facts.Kind != "jvm" {
		return nothing()
	}
	spent := w.V / 1e6 * q.V
	if spent >= v.t.WarmupCPU {
		return nothing()
	}
	return found(finding(result.Note, result.Likely, figures{"warmup_us": w.V, "cpu_quota": q.V, "cpu_s": spent}, figures{"warmup_cpu_s": v.t.WarmupCPU},
		"See whether sun.ci.totalCompiles still rises during the measurement.",
		"a warm-up of %s s at %s cores is %s s of CPU: a virtual machine is hardly warm by then", trimmed(w.V/1e6, 0), trimmed(q.V, 2), trimmed(spent, 1)))
}

// blindToQuota is E21: Go before 1.25 starts as many threads as the machine has
// cores, whatever the quota.
func blindToQuota(v view) answer {
	q, cores := v.Facts.Quota, v.Facts.Cores
	if v.Facts.Kind != "go" || !q.positive() || !cores.positive() || cores.V <= math.Ceil(q.V) {
		return nothing()
	}
	gone := q.V * v.t.PeriodMS / cores.V
	return found(finding(result.Note, result.Hint, figures{"cpu_quota": q.V, "cores": cores.V, "gone_ms": gone}, figures{"quota_period_ms": v.t.PeriodMS},
		"Set GOMAXPROCS, or use Go 1.25 and later.",
		"with %s threads the quota of a period is gone after %s ms and all stand still for %s ms", trimmed(cores.V, 0), trimmed(gone, 1), trimmed(v.t.PeriodMS-gone, 1)))
}

// wrongLabel is E22: what a result is called must be what it is. That holds for
// the command in front of an output too.
func wrongLabel(v view) answer {
	var a answer
	if len(v.Odd) > 0 {
		a.findings = append(a.findings, finding(result.SuspectLevel, result.Likely, nil, nil, "Keep command and output together, unedited.",
			"the output is not of the command in front of it: %s", strings.Join(v.Odd, "; ")))
	}
	probe, label := strings.ToLower(v.Facts.Probe), strings.ToLower(v.Label)
	if probe == "" || label == "" {
		a.missing = "what was loaded, and how it named itself (system, probe)"
		return a
	}
	named := func(word string) bool { return len(word) > 3 && strings.Contains(label, word) }
	if !strings.Contains(label, probe) && !slices.ContainsFunc(strings.Fields(probe), named) {
		a.findings = append(a.findings, finding(result.SuspectLevel, result.Likely, nil, nil, "Check the Server header, the banner and the jars.",
			"it is called %q, but answers as %q", v.Label, v.Facts.Probe))
	}
	return a
}

// sharedHost is E23.
func sharedHost(v view) answer {
	if !v.sameHost() {
		if v.host() == "" {
			return lacks("whether generator and target share a machine (--same-host)")
		}
		return nothing()
	}
	return found(finding(result.Note, result.Definite, nil, nil, "Pin both to cores of their own, or use two machines.",
		"generator and target share a machine and its cores: the rate is of both"))
}

// swapOrVM is E30.
func swapOrVM(v view) answer {
	var all []result.Finding
	if v.Facts.Swap {
		all = append(all, finding(result.Note, result.Definite, nil, nil, "Switch it off, or show that nothing was swapped.", "swap was on"))
	}
	if v.Facts.VM {
		all = append(all, finding(result.Note, result.Definite, nil, nil, "Read steal, and say what else the host did.", "it ran in a virtual machine: neighbours, turbo and heat are unknown"))
	}
	return found(all...)
}

// gatewayCores are the cores that the gateway used: as given, or what the system
// used less what the others did.
func (b *Block) gatewayCores() (cores Value, how string) {
	f := b.Facts
	if c, ok := f.CPU["gateway"]; ok {
		return c, trimmed(c.V, 2) + " cores"
	}
	if !f.SystemCPU.Known || !f.Cores.positive() {
		return Value{}, ""
	}
	used := f.SystemCPU.V * f.Cores.V
	how = fmt.Sprintf("(%s", trimmed(used, 2))
	rest := used
	for _, name := range slices.Sorted(maps.Keys(f.CPU)) {
		rest -= f.CPU[name].V
		how += fmt.Sprintf(" - %s %s", trimmed(f.CPU[name].V, 2), name)
	}
	return Value{V: rest, Known: rest > 0}, how + ") cores"
}

// gatewayCost is E27, a figure and no error.
func gatewayCost(v view) answer {
	if v.Facts.Via.V < 1 {
		return nothing()
	}
	cores, how := v.gatewayCores()
	if !cores.Known || !v.Rate.positive() {
		return lacks("the CPU of the gateway (--cpu gateway=191%, or --system-cpu and --cores)")
	}
	cost := cores.V / v.Rate.V * 1e6
	return found(finding(result.Info, result.Likely, figures{"gateway_cores": cores.V, "rate": v.Rate.V, "gateway_us_per_request": cost}, nil, "",
		"the gateway cost %s / %s = %s us of CPU per request", how, rate(v.Rate.V), fixed(cost, 0)))
}
