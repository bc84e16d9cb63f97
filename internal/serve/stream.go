package serve

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// stream sends the events of an experiment as they come (server-sent events, HTML
// living standard, section 9.2), beginning behind the one that the reader had
// last.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) error {
	l, err := s.lives.find(r.PathValue("id"))
	if err != nil {
		return err
	}
	from, err := lastEvent(r)
	if err != nil {
		return err
	}
	if events, ended, _ := l.after(from); ended && len(events) == 0 {
		return done(w) // tells the reader not to come again
	}
	defer s.streams.Add(-1)
	if s.streams.Add(1) > s.c.Limits.Streams {
		return trouble(http.StatusServiceUnavailable, "%d readers follow already", s.c.Limits.Streams)
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy is not to gather them
	if r.Method == http.MethodHead {
		return nil
	}
	s.follow(w, r, l, from)
	return nil
}

// lastEvent is the event behind which a stream goes on.
func lastEvent(r *http.Request) (int64, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 0 {
		return 0, unfit("Last-Event-ID %q: want the number of an event", text)
	}
	return id, nil
}

// follow sends until the experiment has ended, the reader has gone or takes
// nothing, or the server closes.
func (s *Server) follow(w http.ResponseWriter, r *http.Request, l *live, from int64) {
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{}) // it is for the request, and would end the context here
	ping := time.NewTicker(s.c.Limits.Ping)
	defer ping.Stop()
	text := []byte(": the events of an experiment\n\n") // so that the reader knows that it is heard
	for {
		events, ended, more := l.after(from)
		for _, e := range events {
			text, from = appendEvent(text, e), e.id
		}
		if len(text) > 0 {
			// The server's bound is for the whole answer, this one for each part.
			_ = out.SetWriteDeadline(time.Now().Add(s.c.Limits.Stall)) // without one, the server's stays
			if _, err := w.Write(text); err != nil || out.Flush() != nil {
				return
			}
			text = text[:0]
		}
		if ended {
			return
		}
		select {
		case <-more:
		case <-ping.C:
			text = append(text, ":\n\n"...)
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// appendEvent writes an event; its data is one line.
func appendEvent(to []byte, e event) []byte {
	b := bytes.NewBuffer(to)
	fmt.Fprintf(b, "id: %d\nevent: %s\ndata: %s\n\n", e.id, e.name, e.data)
	return b.Bytes()
}
