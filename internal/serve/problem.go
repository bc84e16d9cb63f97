package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"prony/internal/compare"
	"prony/internal/store"
)

// problem is an error as it is answered (RFC 9457). Mistakes are an extension.
type problem struct {
	Type     string    `json:"type"`
	Title    string    `json:"title"`
	Status   int       `json:"status"`
	Detail   string    `json:"detail"`
	Mistakes []Mistake `json:"mistakes,omitempty"`
}

func (p *problem) Error() string { return p.Detail }

// trouble makes a problem of a status and what is to be said.
func trouble(status int, format string, args ...any) *problem {
	return &problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) *problem {
	return trouble(http.StatusNotFound, format, args...)
}

func unfit(format string, args ...any) *problem {
	return trouble(http.StatusUnprocessableEntity, format, args...)
}

// problemOf gives an error its status.
func problemOf(err error) *problem {
	var known *problem
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &large):
		return trouble(http.StatusRequestEntityTooLarge, "the body is longer than %d bytes", large.Limit)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return trouble(http.StatusServiceUnavailable, "the request ended before its answer: %v", err)
	}
	for _, s := range []struct {
		status int
		errs   []error
	}{
		{http.StatusNotFound, []error{store.ErrNotFound}},
		{http.StatusConflict, []error{store.ErrAmbiguous, store.ErrTaken, store.ErrDiffers, store.ErrBaseline}},
		{http.StatusUnprocessableEntity, []error{store.ErrInput, store.ErrFew, compare.ErrModels}},
	} {
		for _, e := range s.errs {
			if errors.Is(err, e) {
				return trouble(s.status, "%v", err)
			}
		}
	}
	return trouble(http.StatusInternalServerError, "%v", err)
}

// write answers with the problem.
func (p *problem) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Del("Content-Disposition")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the peer may have gone
}
