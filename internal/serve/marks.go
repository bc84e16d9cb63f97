package serve

import (
	"context"
	"net/http"
	"slices"

	"prony/internal/store"
)

// mark changes what belongs to a run, and answers with its headline.
func (s *Server) mark(w http.ResponseWriter, r *http.Request, change func(context.Context, store.RunID) error) error {
	id, err := s.exact(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := change(r.Context(), id); err != nil {
		return err
	}
	row, err := s.c.Store.Row(r.Context(), id)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, row)
}

func (s *Server) tag(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Tags []string `json:"tags"`
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	if len(body.Tags) == 0 {
		return unfit("want tags, at least one")
	}
	return s.mark(w, r, func(ctx context.Context, id store.RunID) error { return s.c.Store.Tag(ctx, id, body.Tags...) })
}

func (s *Server) untag(w http.ResponseWriter, r *http.Request) error {
	return s.mark(w, r, func(ctx context.Context, id store.RunID) error { return s.c.Store.Untag(ctx, id, r.PathValue("tag")) })
}

func (s *Server) name(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Name *string `json:"name"`
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	if body.Name == nil {
		return unfit(`want a name; "" takes it away`)
	}
	return s.mark(w, r, func(ctx context.Context, id store.RunID) error { return s.c.Store.Name(ctx, id, *body.Name) })
}

func (s *Server) note(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Text string `json:"text"`
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	return s.mark(w, r, func(ctx context.Context, id store.RunID) error {
		return s.c.Store.Note(ctx, id, store.Note{Written: s.c.Now(), Text: body.Text})
	})
}

func (s *Server) baselines(w http.ResponseWriter, r *http.Request) error {
	all, err := s.c.Store.Baselines(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, map[string]any{"baselines": append([]store.Baseline{}, all...)})
}

// pin makes runs the baseline of their variant. With repeats each stands for all
// usable trials of its campaign and variant.
func (s *Server) pin(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Runs    []string `json:"runs"`
		Repeats bool     `json:"repeats"`
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	var ids []store.RunID
	for _, word := range body.Runs {
		id, err := s.exact(r.Context(), word)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if body.Repeats {
		var err error
		if ids, err = s.repeats(r.Context(), ids); err != nil {
			return err
		}
	}
	b, err := s.c.Store.Pin(r.Context(), s.c.Now(), ids...)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, b)
}

// repeats adds to runs the others of their campaign and variant.
func (s *Server) repeats(ctx context.Context, ids []store.RunID) (all []store.RunID, err error) {
	for _, id := range ids {
		more, err := s.c.Store.Repeats(ctx, id)
		if err != nil {
			return nil, err
		}
		for _, m := range more {
			if !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	return all, nil
}

func (s *Server) unpin(w http.ResponseWriter, r *http.Request) error {
	if err := known(r, "experiment", "variant"); err != nil {
		return err
	}
	q := r.URL.Query()
	if err := s.c.Store.Unpin(r.Context(), q.Get("experiment"), q.Get("variant")); err != nil {
		return err
	}
	return done(w)
}
