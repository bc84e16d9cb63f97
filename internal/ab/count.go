package ab

import "prony/internal/result"

// failures are the failed requests in ab's four classes, and the two counts
// that ab prints beside them.
type failures struct {
	connect, receive, length, exceptions int64
	// writes are the failed sends; they are among exceptions.
	writes int64
	// reset and cut are the parts of receive that ab treats differently:
	// connections reset, and answers that ended early or never began.
	reset, cut int64
	timeouts   int64
}

// total is the number of failed requests.
func (f failures) total() int64 { return f.connect + f.receive + f.length + f.exceptions }

// countFailures sorts the kinds of a load into ab's classes. A status outside
// 2xx is no failure to ab; it has a line of its own.
func countFailures(byKind map[string]int64) failures {
	var f failures
	for name, n := range byKind {
		f.add(kindOf(name), n)
	}
	return f
}

// kindOf is the kind of that name, Other for one this program does not know.
func kindOf(name string) result.FailureKind {
	for k := range result.FailureKinds {
		if k.String() == name {
			return k
		}
	}
	return result.Other
}

// add counts n failures of one kind.
func (f *failures) add(k result.FailureKind, n int64) {
	switch {
	case k == result.NoFailure || k == result.HTTPStatus:
	case k.Connecting():
		f.connect += n
	case k == result.BodyDiffers:
		f.length += n
	case k == result.Reset:
		f.receive += n
		f.reset += n
	case k == result.ClosedEarly || k == result.Truncated:
		f.receive += n
		f.cut += n
	case k == result.RequestTimeout:
		f.receive += n
		f.timeouts += n
	case k == result.WriteFailed:
		f.exceptions += n
		f.writes += n
	default:
		f.exceptions += n
	}
}

// asAB turns the classes into what ab would have counted: a reset is both a
// receive error and an exception, and a request that could not be sent or an
// answer that ends early is an answer of another length, which -l accepts.
func (f failures) asAB(variableLength bool) failures {
	f.exceptions += f.reset - f.writes
	f.receive -= f.cut
	if !variableLength {
		f.length += f.cut + f.writes
	}
	return f
}

// answered reports whether a request of that kind got a whole answer.
func answered(k result.FailureKind) bool {
	return k == result.NoFailure || k == result.HTTPStatus || k == result.BodyDiffers
}

// completeToAB reports whether ab counts a request of that kind as complete:
// whenever its connection has ended in some way.
func completeToAB(k result.FailureKind) bool {
	switch k {
	case result.Reset, result.ClosedEarly, result.Truncated, result.WriteFailed:
		return true
	}
	return answered(k)
}

// complete is the number of requests that were answered, inside the window if
// time ended the load (ab drops what is in flight then).
func complete(l *result.Load, o Options, f failures) int64 {
	n := l.Requests.InWindow
	if !timed(l) {
		n = answers(l)
	}
	if o.Quirks {
		n += f.reset + f.cut + f.writes
	}
	return n
}

// timed reports whether the load was ended by the clock or by a signal, not by
// its last answer.
func timed(l *result.Load) bool { return l.EndedBy == "duration" || l.EndedBy == "interrupt" }

// answers is the number of answers of any status.
func answers(l *result.Load) int64 {
	var n int64
	for i := range l.Records {
		if answered(l.Records[i].Kind) {
			n++
		}
	}
	if ledger := l.Requests.Completed + l.Requests.Failed; int64(len(l.Records)) >= ledger {
		return n
	}
	// Not every request was kept one by one: the ledger, in which an answer
	// that displeases counts as failed.
	displeasing := l.Failures[result.HTTPStatus.String()] + l.Failures[result.BodyDiffers.String()]
	return l.Requests.Completed + min(displeasing, l.Requests.Failed)
}

// elapsedUS is ab's time taken: from the first connect to the last answer, or
// to the end of the window if time ended the load. Microseconds.
func elapsedUS(l *result.Load) float64 {
	if timed(l) {
		return l.DurationUS
	}
	return l.DurationUS + l.DrainUS
}

// non2xx is the number of answers with another status, 3xx included.
func non2xx(statuses map[string]int64) int64 {
	var n int64
	for status, count := range statuses {
		if status == "" || status[0] != '2' {
			n += count
		}
	}
	return n
}

// keptAlive is the number of answers after which the connection stayed open:
// all but those with which the peer closed it. Closes that hit an idle
// connection came after an answer that had kept it open.
func keptAlive(l *result.Load, complete int64) int64 {
	closed := l.Connections.ClosedByPeer - l.Connections.IdleCloses
	return min(max(complete-max(closed, 0), 0), complete)
}
