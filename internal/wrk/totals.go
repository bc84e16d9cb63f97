package wrk

import (
	"strconv"

	"prony/internal/result"
)

// Totals are the numbers below wrk's table, and what a script's done function
// receives as its summary.
type Totals struct {
	DurationUS      int64
	Requests, Bytes int64
	// Failures in wrk's classes; Status counts answers above 399.
	Connect, Read, Write, Timeout, Status int64
	// Other are failures for which wrk has no class.
	Other int64
}

// Count reads the totals from a result.
func Count(r *result.Run) Totals {
	l := &r.Load
	t := Totals{DurationUS: int64(l.DurationUS), Requests: l.Requests.InWindow, Bytes: l.BytesInWindow()}
	for k := result.NoFailure + 1; k < result.FailureKinds; k++ {
		if class := t.class(k); class != nil {
			*class += l.Failures[k.String()]
		}
	}
	for status, n := range l.Statuses {
		if code, err := strconv.Atoi(status); err == nil && code > 399 {
			t.Status += n
		}
	}
	return t
}

// class is where wrk counts a kind of failure. Statuses are counted by their
// own numbers.
func (t *Totals) class(k result.FailureKind) *int64 {
	if k.Connecting() {
		return &t.Connect
	}
	switch k {
	case result.Reset, result.ClosedEarly, result.Truncated, result.BadResponse, result.HeaderTooLarge, result.BodyTooLarge:
		return &t.Read
	case result.WriteFailed:
		return &t.Write
	case result.RequestTimeout:
		return &t.Timeout
	case result.HTTPStatus:
		return nil
	}
	return &t.Other
}

// socketErrors is how many failures the line of socket errors reports.
func (t Totals) socketErrors() int64 { return t.Connect + t.Read + t.Write + t.Timeout }
