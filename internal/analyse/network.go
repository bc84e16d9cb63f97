package analyse

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"prony/internal/hdr"
	"prony/internal/result"
)

// linkRules look at the cards and cables of every host of the run (method 7.3).
func linkRules() []rule {
	return []rule{
		{"bandwidth", "N1", bandwidth},
		{"shaped-link", "N1", shapedLink},
		{"packet-drops", "N2", packetDrops},
		{"softnet", "N2", softnet},
		{"retransmits", "N3", retransmits},
	}
}

// onWire is what a packet takes on an Ethernet cable beyond what a driver
// counts: preamble 8, checksum 4 and gap 12 bytes. Drivers count the header of
// 14 bytes.
const onWire = 24

// fullFrame is a packet of 1500 bytes with its header, as a driver counts it.
const fullFrame = 1514

// wire returns the bits per second on the cable, in the busier direction, for
// each sample of the window; empty if bytes are not known. Where packets are not
// known they are taken to be full.
func (v view) wire(o *result.Observed) result.Values {
	in, out := v.direction(o, result.BytesIn, result.PacketsIn), v.direction(o, result.BytesOut, result.PacketsOut)
	if len(in) < len(out) {
		in, out = out, in
	}
	for i := range out {
		in[i] = max(in[i], out[i])
	}
	return in
}

func (v view) direction(o *result.Observed, bytes, packets result.Metric) result.Values {
	b, p := v.in(o, bytes), v.in(o, packets)
	bits := make(result.Values, len(b))
	for i, x := range b {
		n := x / fullFrame
		if i < len(p) && len(p) == len(b) {
			n = p[i]
		}
		bits[i] = (x + onWire*n) * 8
	}
	return bits
}

// cable reports whether an interface is one whose speed means something: the
// loopback has none, and that of virtual ones inside a host is made up.
func cable(o *result.Observed) bool { return !loopback(o) && !virtual(o) }

func loopback(o *result.Observed) bool { return o.Name == "lo" || o.Name == "lo0" }

func virtual(o *result.Observed) bool {
	return slices.ContainsFunc([]string{"veth", "docker", "br-", "virbr", "cni", "cali", "flannel", "tun", "tap", "dummy"},
		func(prefix string) bool { return strings.HasPrefix(o.Name, prefix) })
}

// bandwidth is rule N1: the bits on the cable against its speed.
func bandwidth(v view) answer {
	all := v.things(result.OfInterface)
	if len(all) == 0 {
		return lacks(unwatched)
	}
	var a answer
	for _, o := range all {
		if cable(o) {
			v.bandwidthOf(&a, o)
		}
	}
	return a
}

func (v view) bandwidthOf(a *answer, o *result.Observed) {
	speed, known := v.peak(o, result.LinkSpeed)
	bits := v.wire(o)
	if !known || speed <= 0 || len(bits) == 0 {
		a.lack(fmt.Sprintf("the speed or the bytes of %s are not known", place(o)))
		return
	}
	used := ratio(bits.Mean(), speed)
	full, near := bits.Share(v.t.LinkFull*speed), bits.Share(v.t.LinkNote*speed)
	if near < v.t.Sustained {
		a.cleared = append(a.cleared, fmt.Sprintf("link %s (%s of %s)", place(o), percent(used), bitRate(speed)))
		return
	}
	f := result.Finding{Severity: result.Note, Where: place(o),
		Evidence:  figures{"wire_bits_rate": bits.Mean(), "speed_bits_rate": speed, "used": used, "seconds": near},
		Threshold: figures{"used_note": v.t.LinkNote, "used": v.t.LinkFull, "seconds": v.t.Sustained},
		Message:   fmt.Sprintf("the link %s carried %s, with all headers, of its %s (%s)", place(o), bitRate(bits.Mean()), bitRate(speed), percent(used)),
		Advice:    "use a faster link, smaller or compressed answers, or several links; a rate near the link's says nothing of the server"}
	a.findings = append(a.findings, f)
	if full >= v.t.Sustained {
		a.limits = append(a.limits, limit{what: "bandwidth", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Likely, full: used})
	}
}

// customary are the rates to which links are cut, in Mbit/s.
func customary() []float64 {
	return []float64{10, 20, 25, 50, 100, 200, 250, 300, 500, 1000, 2000, 2500, 5000, 10_000, 25_000, 40_000, 50_000, 100_000}
}

// shapedLink looks for a link that is cut below its speed, which no counter
// shows: the bits per second stand still at a customary rate while segments are
// lost. It is a hint.
func shapedLink(v view) answer {
	all := v.things(result.OfInterface)
	if len(all) == 0 {
		return lacks(unwatched)
	}
	var a answer
	for _, o := range all {
		bits := v.wire(o)
		if loopback(o) || len(bits) < 5 || variation(bits) > v.t.FlatVariation || v.lossOn(o.Host) < v.t.LossNote {
			continue
		}
		used, rate := nearestBelow(v.through(o, bits.Mean()))
		if used < v.t.ShapedFrom {
			continue
		}
		f := result.Finding{Severity: result.Note, Confidence: result.Hint, Where: place(o),
			Evidence:  figures{"wire_bits_rate": bits.Mean(), "customary_bits_rate": rate, "variation": variation(bits), "loss": v.lossOn(o.Host)},
			Threshold: figures{"used": v.t.ShapedFrom, "variation": v.t.FlatVariation, "loss": v.t.LossNote},
			Message: fmt.Sprintf("%s stood at %s, with all headers, while segments were lost: as if the way was cut to %s",
				place(o), bitRate(bits.Mean()), bitRate(rate)),
			Advice: "look for a shaper or a limit of the cloud on the way (tc -s qdisc show; the instance type's bandwidth)"}
		a.findings = append(a.findings, f)
		a.limits = append(a.limits, limit{what: "shaped-link", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Hint, full: used})
	}
	return a
}

// through is what came through of the bits per second that an interface carried:
// those that it sent were counted before the place where they were lost, so that
// the segments that were sent again do not count.
func (v view) through(o *result.Observed, bits float64) float64 {
	in, out := v.direction(o, result.BytesIn, result.PacketsIn), v.direction(o, result.BytesOut, result.PacketsOut)
	if len(out) == 0 || len(in) > 0 && in.Mean() > out.Mean() {
		return bits
	}
	return bits * (1 - min(v.lossOn(o.Host), 1))
}

// nearestBelow is the least customary rate that holds so many bits per second,
// allowing 2 % for bursts, and the share of it that is used.
func nearestBelow(bits float64) (used, rate float64) {
	for _, mbit := range customary() {
		if rate = mbit * 1e6; bits <= 1.02*rate {
			return bits / rate, rate
		}
	}
	return 0, 0
}

// lossOn is the share of TCP segments that a host sent again; 0 if unknown.
func (v view) lossOn(host string) float64 {
	o := v.host(host)
	again, ok := v.total(o, result.RetransSegments)
	sent, known := v.total(o, result.OutSegments)
	if !ok || !known {
		return 0
	}
	return ratio(again, sent)
}

// packetDrops is rule N2 for cards: packets that a card or its driver dropped.
// A few are usual (packets of protocols that nobody reads), so that only a share
// of them is a limit; the allowances of a cloud are always one.
func packetDrops(v view) answer {
	all := v.things(result.OfInterface)
	if len(all) == 0 {
		return lacks(unwatched)
	}
	var a answer
	for _, o := range all {
		v.allowances(&a, o)
		drops, known := v.total(o, result.LinkDrops)
		missed, _ := v.total(o, result.LinkMissed)
		if !known {
			a.lack("the drops of " + place(o) + " are not known")
			continue
		}
		if drops+missed == 0 {
			continue
		}
		v.dropped(&a, o, drops+missed)
	}
	return a
}

func (v view) dropped(a *answer, o *result.Observed, drops float64) {
	in, _ := v.total(o, result.PacketsIn)
	out, _ := v.total(o, result.PacketsOut)
	part := ratio(drops, in+out)
	f := result.Finding{Severity: result.Note, Confidence: result.Definite, Where: place(o),
		Evidence: figures{"drops": drops, "packets": in + out, "share": part}, Threshold: figures{"drops": 0, "share_limit": v.t.DropLimit},
		Message: fmt.Sprintf("%s dropped %s", place(o), many(int64(math.Round(drops)), "packet")),
		Advice:  "enlarge the rings (ethtool -G IF rx 4096), spread the queues (ethtool -L IF combined N), and see ethtool -S IF"}
	a.findings = append(a.findings, f)
	if part >= v.t.DropLimit {
		a.limits = append(a.limits, limit{what: "packet-limit", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Definite, full: part})
	}
}

// allowances are the counters of a cloud's card that say: more than you paid
// for (AWS ENA: bw_in_allowance_exceeded, pps_allowance_exceeded and others).
func (v view) allowances(a *answer, o *result.Observed) {
	names := slices.Sorted(maps.Keys(o.Series))
	for name := range o.Totals {
		if _, ok := o.Series[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, m := range names {
		if !strings.Contains(string(m), "allowance_exceeded") {
			continue
		}
		if n, _ := v.total(o, m); n > 0 {
			f := result.Finding{Severity: result.Note, Confidence: result.Definite, Where: place(o), Evidence: figures{string(m): n}, Threshold: figures{string(m): 0},
				Message: fmt.Sprintf("the cloud held back %s of %s (%s)", many(int64(math.Round(n)), "packet"), place(o), m),
				Advice:  "use a larger instance, or measure below its allowance"}
			a.findings = append(a.findings, f)
			a.limits = append(a.limits, limit{what: "packet-limit", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Definite, full: 1})
		}
	}
}

// softnet is rule N2 for the kernel's queues of received packets.
func softnet(v view) answer {
	var a answer
	hosts := v.things(result.OfHost)
	if len(hosts) == 0 {
		return lacks(unwatched)
	}
	for _, o := range hosts {
		drops, known := v.total(o, result.SoftnetDrops)
		squeezed, _ := v.mean(o, result.SoftnetSqueezed)
		f := result.Finding{Severity: result.Note, Where: place(o), Evidence: figures{"drops": drops, "squeezed_rate": squeezed},
			Threshold: figures{"drops": 0, "squeezed_rate": v.t.Squeezed}}
		switch {
		case !known:
			a.lack("softnet_drops of " + place(o) + " is not known")
			continue
		case drops > 0:
			f.Confidence = result.Definite
			f.Message = fmt.Sprintf("the kernel of %s dropped %s that came faster than it took them", place(o), many(int64(math.Round(drops)), "packet"))
			f.Advice = "sysctl -w net.core.netdev_max_backlog=16384, and spread the receive queues"
		case squeezed > v.t.Squeezed:
			f.Confidence = result.Hint
			f.Message = fmt.Sprintf("the kernel of %s ran out of its budget for received packets %.0f times a second", place(o), squeezed)
			f.Advice = "sysctl -w net.core.netdev_budget=600, and spread the receive queues"
		default:
			continue
		}
		a.findings = append(a.findings, f)
	}
	return a
}

// retransmits is rule N3: TCP segments that were sent again.
func retransmits(v view) answer {
	var a answer
	hosts := v.things(result.OfHost)
	if len(hosts) == 0 {
		return lacks(unwatched)
	}
	for _, o := range hosts {
		again, ok := v.total(o, result.RetransSegments)
		sent, known := v.total(o, result.OutSegments)
		if !ok || !known {
			a.lack("tcp_retransmits of " + place(o) + " is not known")
			continue
		}
		v.retransmitted(&a, o, again, sent)
	}
	return a
}

func (v view) retransmitted(a *answer, o *result.Observed, again, sent float64) {
	part, timeouts := ratio(again, sent), 0.0
	if n, ok := v.total(o, result.TCPTimeouts); ok {
		timeouts = n
	}
	tail := timeouts > 0 && v.tailBeyond(retransmitTimeout)
	if part < v.t.LossNote && !tail {
		a.cleared = append(a.cleared, fmt.Sprintf("packet loss of %s (%s sent again)", place(o), percent(part)))
		return
	}
	f := result.Finding{Severity: result.Note, Where: place(o), Evidence: figures{"retransmits": again, "segments": sent, "share": part, "timeouts": timeouts},
		Threshold: figures{"share": v.t.LossNote, "share_limit": v.t.LossLimit},
		Message:   fmt.Sprintf("%s sent %s of its TCP segments again", place(o), percent(part)),
		Advice:    "find where packets are lost: nstat -az | grep -i -e retrans -e drop, ethtool -S IF, tc -s qdisc"}
	if tail {
		f.Message += fmt.Sprintf("; %s ran out, and each such answer is 200 ms late or more", many(int64(math.Round(timeouts)), "retransmission timer"))
	}
	a.findings = append(a.findings, f)
	if part >= v.t.LossLimit {
		a.limits = append(a.limits, limit{what: "loss", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Likely, full: part})
	}
}

// retransmitTimeout is the least time, in nanoseconds, after which Linux sends
// an unanswered segment again.
const retransmitTimeout = 200e6

// tailBeyond reports whether the slowest thousandth took longer, in
// nanoseconds.
func (v view) tailBeyond(ns float64) bool {
	h := v.l.Latency.Response
	return !h.Empty() && float64(h.Value(hdr.P999)) >= ns
}

// bitRate prints bits per second.
func bitRate(bits float64) string {
	switch {
	case bits >= 1e9:
		return fmt.Sprintf("%.4g Gbit/s", bits/1e9)
	case bits >= 1e6:
		return fmt.Sprintf("%.4g Mbit/s", bits/1e6)
	}
	return fmt.Sprintf("%.4g kbit/s", bits/1e3)
}
