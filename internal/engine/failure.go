package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"syscall"

	"prony/internal/httpwire"
	"prony/internal/result"
)

// connectKind classifies the error of a connect.
func connectKind(err error) result.FailureKind {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		if errors.Is(err, io.EOF) {
			return result.ConnectReset
		}
		return result.ConnectFailed
	}
	switch errno {
	case syscall.ECONNREFUSED, syscall.ENOENT:
		return result.ConnectRefused
	case syscall.ETIMEDOUT:
		return result.ConnectTimeout
	case syscall.ECONNRESET, syscall.EPIPE:
		return result.ConnectReset
	case syscall.EHOSTUNREACH, syscall.ENETUNREACH:
		return result.ConnectUnreachable
	case syscall.EADDRNOTAVAIL, syscall.EADDRINUSE:
		return result.NoPorts
	case syscall.EMFILE, syscall.ENFILE:
		return result.FileLimit
	}
	return result.ConnectFailed
}

// answerKind classifies an error of the response parser.
func answerKind(err error) result.FailureKind {
	switch httpwire.KindOf(err) {
	case httpwire.HeaderTooLarge:
		return result.HeaderTooLarge
	case httpwire.BodyTooLarge:
		return result.BodyTooLarge
	case httpwire.Truncated:
		return result.Truncated
	}
	return result.BadResponse
}

// badAnswer ends a connection whose bytes are no HTTP answer.
func (w *worker) badAnswer(slot int32, c *conn, err error, now int64) {
	kind, phase := answerKind(err), "header"
	if k := httpwire.KindOf(err); k == httpwire.BadChunk || k == httpwire.BodyTooLarge {
		phase = "body"
	}
	w.failHead(slot, c, kind, phase, err, now)
	w.renew(slot, c, now)
}

// failHead fails the oldest request of the pipe.
func (w *worker) failHead(slot int32, c *conn, kind result.FailureKind, phase string, err error, now int64) {
	s := *w.stampAt(slot, c, 0)
	w.pop(c)
	w.leave(s.planned, now)
	w.failStamp(s.planned, kind, phase, err, w.pools[c.target].target.origin, now)
	if w.table == nil {
		c.freeAt = now
	}
}

// failWant fails a request that never got a connection. It is still in flight
// by the books.
func (w *worker) failWant(t want, kind result.FailureKind, phase string, err error, what string, now int64) {
	w.leave(t.planned, now)
	w.failStamp(t.planned, kind, phase, err, what, now)
}

// failStamp puts a failure into the books. Those of the warm-up are noted but
// not counted.
func (w *worker) failStamp(planned int64, kind result.FailureKind, phase string, err error, what string, now int64) {
	w.lastEnd = now
	w.countInARow(kind, now)
	if planned < w.r.windowAt && w.tally.index >= 0 {
		return
	}
	w.tally.failed++
	w.tally.errors.Record(now - planned)
	if planned >= w.r.windowAt {
		w.story.kinds[kind]++
	}
	w.note(kind, phase, err, what)
}

// countInARow ends the load after too many requests in a row that got no
// answer at all. An error status is an answer.
func (w *worker) countInARow(kind result.FailureKind, now int64) {
	if kind == result.HTTPStatus || kind == result.BodyDiffers {
		w.story.inARow = 0
		return
	}
	w.story.inARow++
	if limit := w.r.load.AbortAfter; limit > 0 && w.story.inARow >= max(limit/int64(w.of), 1) {
		w.r.end("abort", now)
	}
}

// note keeps one example of each kind, phase and errno, and counts them.
func (w *worker) note(kind result.FailureKind, phase string, err error, what string) {
	code := errnoName(err)
	name := kind.String()
	for i := range w.story.details {
		d := &w.story.details[i]
		if d.Kind == name && d.Phase == phase && d.Errno == code {
			d.Count++
			return
		}
	}
	if len(w.story.details) == maxDetails {
		return
	}
	if err != nil {
		what = fmt.Sprintf("%s: %v", what, err)
	}
	w.story.details = append(w.story.details, result.Failure{Kind: name, Phase: phase, Errno: code, Count: 1, Example: what})
}

func errnoName(err error) string {
	if err == nil {
		return "" // before errno is put on the heap for errors.As
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errnoText(errno)
	}
	return ""
}

// answerText is the example of a failure that is an answer. A status that was
// counted before has had its turn as an example: a target that answers nothing
// but errors must not cost an allocation for each.
func (w *worker) answerText(kind result.FailureKind, status int) string {
	switch {
	case kind != result.HTTPStatus:
		return "body length differs from the first answer's"
	case w.story.statuses[min(max(status, 0), 999)] > 1:
		return ""
	}
	return fmt.Sprintf("status %d", status)
}

// sample keeps the head of one answer of each status class.
func (w *worker) sample(status int) {
	class := status / 100
	if class > 9 || w.story.sampled[class] {
		return
	}
	head := w.parser.Head()
	// The last head may be that of another connection, whose body is still to
	// come. Then the next of this class will be kept.
	if !bytes.Contains(head[:min(len(head), 13)], fmt.Appendf(nil, " %d", status)) {
		return
	}
	w.story.sampled[class] = true
	w.story.samples = append(w.story.samples, result.Sample{Status: status, Head: string(head)})
}

// record keeps one request of its own.
func (w *worker) record(s *stamp, c *conn, kind result.FailureKind, status int, end int64) {
	if int64(len(w.story.records)) >= share(w.r.load.Record, w.id, w.of) {
		return
	}
	begun := s.sent - c.opened
	w.story.records = append(w.story.records, result.Record{
		Start: begun, Connect: c.opened, FirstByte: c.first - begun, Total: end - begun, Status: uint16(status), Kind: kind,
	})
}
