package wrk

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"prony/internal/result"
)

// Notes are the remarks of Prony on the report: one line for each difference
// from wrk that changes a printed figure, and for each argument that had no
// effect or another effect than in wrk. Each begins with "Note: ".
func Notes(r *result.Run, o Options) []string {
	var n notes
	totals := Count(r)
	n.connections(r, o)
	n.correction(r, o)
	n.missing(r)
	if totals.Timeout > 0 {
		n.add("%d requests were given up after %s without an answer; wrk would have waited for it", totals.Timeout, formatSeconds(o.Timeout.Seconds()))
	}
	n.unfinished(r, o)
	if totals.Other > 0 {
		n.add("%d failures have no class in wrk's report (%s)", totals.Other, otherKinds(r))
	}
	n.arguments(o)
	return n
}

type notes []string

func (n *notes) add(format string, args ...any) {
	*n = append(*n, "Note: "+fmt.Sprintf(format, args...))
}

// connections compares what was asked for with what was opened, and with what
// wrk would have opened: it gives each thread the same number.
func (n *notes) connections(r *result.Run, o Options) {
	c := r.Load.Connections
	if never := c.Asked - c.Opened; never > 0 {
		cause := ""
		if names := kinds(r.Load.Failures, result.FailureKind.Connecting); len(names) > 0 {
			cause = " (" + names[0] + ")"
		}
		n.add("%d of %d connections never opened%s", never, c.Asked, cause)
	}
	if rest := o.Connections % max(1, o.Threads); rest > 0 {
		n.add("wrk would have opened %d of the %d connections, the same number in each of %d threads", o.Connections-rest, o.Connections, o.Threads)
	}
}

// visibleShare is by how much the average must differ to be worth a line.
const visibleShare = 0.1

// correction tells of the samples that wrk makes up: that the rows contain
// them or, if it would show, that wrk's rows would.
func (n *notes) correction(r *result.Run, o Options) {
	measured, _ := answered(r)
	if measured == nil || measured.Count() == 0 {
		return
	}
	all := corrected(measured, interval(r, o))
	added := all.Count() - measured.Count()
	switch mean := measured.Mean() / 1000; {
	case added == 0:
	case o.Quirks:
		n.add("the latency rows contain %d samples that were not measured, added to %d that were, as wrk does", added, measured.Count())
	case math.Abs(all.Mean()-mean) > visibleShare*mean:
		n.add("latencies are as measured; wrk would add %d samples of its own and print an average of %s (--quirks)", added, formatTime(all.Mean()))
	}
}

// missing tells of answers whose latency is not in the rows.
func (n *notes) missing(r *result.Run) {
	if _, count := answered(r); count > 0 {
		n.add("the latency rows leave out %d answers with a status above 399", count)
	}
}

// unfinished tells of requests that the end of the test cut off, if one of
// them had waited longer than any that was answered: then it hides the worst.
func (n *notes) unfinished(r *result.Run, o Options) {
	age := r.Load.Requests.CutOffOldestUS
	if cut := r.Load.Requests.CutOff; cut > 0 && age > Latency(r, o).Max() {
		n.add("%d requests were unanswered at the end, the oldest for %s; no figure contains them", cut, formatTime(age))
	}
}

// arguments tells of what was typed in vain.
func (n *notes) arguments(o Options) {
	for _, text := range o.Headers {
		_, sent := splitHeader(text, o.Quirks)
		_, sentByWrk := splitHeader(text, true)
		name, _, _ := strings.Cut(text, ":")
		switch {
		case !sent:
			n.add("header %q is not \"Name: value\" and was not sent", text)
		case isLength(name):
			n.add("header %q was not sent: the length of the body sets it", text)
		case !sentByWrk:
			n.add("header %q has no blank behind the colon; it was sent, wrk would drop it", text)
		}
	}
	if len(o.ScriptArgs) > 0 && o.Script == "" {
		n.add("%q stands behind the URL, where a script's arguments stand, and there is no script", strings.Join(o.ScriptArgs, " "))
	}
}

// otherKinds lists the failures without a class, the most frequent first.
func otherKinds(r *result.Run) string {
	var t Totals
	other := kinds(r.Load.Failures, func(k result.FailureKind) bool { return t.class(k) == &t.Other })
	for i, name := range other {
		other[i] = fmt.Sprintf("%s %d", name, r.Load.Failures[name])
	}
	return strings.Join(other, ", ")
}

// kinds are the names of the failures of a class, the most frequent first.
func kinds(failures map[string]int64, class func(result.FailureKind) bool) (names []string) {
	for k := result.NoFailure + 1; k < result.FailureKinds; k++ {
		if class(k) && failures[k.String()] > 0 {
			names = append(names, k.String())
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(failures[b], failures[a]) })
	return names
}
