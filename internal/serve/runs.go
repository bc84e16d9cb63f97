package serve

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"prony/internal/result"
	"prony/internal/store"
)

// listMost is the most runs of a page.
const listMost = 1000

// list is a page of the headlines.
func (s *Server) list(w http.ResponseWriter, r *http.Request) error {
	f, page, err := filterOf(r)
	if err != nil {
		return err
	}
	l, err := s.c.Store.List(r.Context(), f, page)
	if err != nil {
		return err
	}
	if l.Rows == nil {
		l.Rows = []store.Row{}
	}
	return writeJSON(w, http.StatusOK, l)
}

// filterOf reads the parameters of a list.
func filterOf(r *http.Request) (f store.Filter, page store.Page, err error) {
	q := r.URL.Query()
	err = known(r, "experiment", "variant", "campaign", "kind", "verdict", "tag", "name", "since", "until", "text", "limit", "after")
	if err != nil {
		return f, page, err
	}
	f = store.Filter{Experiment: q.Get("experiment"), Variant: q.Get("variant"), Campaign: q.Get("campaign"), Kind: q.Get("kind"),
		Verdict: result.Verdict(q.Get("verdict")), Tag: q.Get("tag"), Name: q.Get("name"), Text: q.Get("text")}
	switch f.Verdict {
	case "", result.Valid, result.Suspect, result.Invalid:
	default:
		return f, page, unfit("verdict %q: want valid, suspect or invalid", f.Verdict)
	}
	page.After = q.Get("after")
	if page.Limit, err = number(q, "limit", listMost); err != nil {
		return f, page, err
	}
	if f.Since, err = moment(q, "since"); err != nil {
		return f, page, err
	}
	f.Until, err = moment(q, "until")
	return f, page, err
}

// number reads a parameter between 1 and a bound; 0 is none.
func number(q url.Values, name string, most int) (int, error) {
	text := q.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, unfit("%s %q: want a number from 1 to %d", name, text, most)
	}
	return n, nil
}

// moment reads a parameter that is a time (RFC 3339) or a day in UTC; zero is
// none.
func moment(q url.Values, name string) (time.Time, error) {
	text := q.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, unfit("%s %q: want a day such as 2026-03-01 or a time such as 2026-03-01T12:00:00Z", name, text)
}

// whole is everything of a run.
type whole struct {
	Run    store.Row     `json:"run"`
	Notes  []store.Note  `json:"notes"`
	Logs   []string      `json:"logs"` // names of the instances
	Result *result.Trial `json:"result"`
}

// get is a run with all that belongs to it.
func (s *Server) get(w http.ResponseWriter, r *http.Request) error {
	rec, err := s.record(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	row, err := s.c.Store.Row(r.Context(), rec.ID)
	if err != nil {
		return err
	}
	notes, err := s.c.Store.Notes(r.Context(), rec.ID)
	if err != nil {
		return err
	}
	if notes == nil {
		notes = []store.Note{}
	}
	logs := append([]string{}, slices.Sorted(maps.Keys(rec.Logs))...)
	return writeJSON(w, http.StatusOK, whole{Run: row, Notes: notes, Logs: logs, Result: &rec.Trial})
}

// record reads the run that a word stands for: last, a name, an id or its first
// letters.
func (s *Server) record(ctx context.Context, word string) (store.Record, error) {
	id, err := s.c.Store.Find(ctx, word)
	if err != nil {
		return store.Record{}, err
	}
	return s.c.Store.Get(ctx, id)
}

// exact is the run of a request that changes it: what an abbreviation or "last"
// means may have changed since somebody looked.
func (s *Server) exact(ctx context.Context, word string) (store.RunID, error) {
	id, err := s.c.Store.Find(ctx, word)
	if err == nil && string(id) != word {
		err = trouble(http.StatusConflict, "%q stands for the run %s: a change wants its whole id", word, id)
	}
	return id, err
}

// bundle is the run as a .prony file.
func (s *Server) bundle(w http.ResponseWriter, r *http.Request) error {
	rec, err := s.record(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := store.WriteBundle(&b, rec); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/vnd.prony+zip")
	h.Set("Content-Disposition", `attachment; filename="`+string(rec.ID)+`.prony"`)
	h.Set("Cache-Control", "no-store")
	_, _ = b.WriteTo(w) // the peer may have gone
	return nil
}

// remove takes a run out.
func (s *Server) remove(w http.ResponseWriter, r *http.Request) error {
	id, err := s.exact(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := s.c.Store.Remove(r.Context(), id); err != nil {
		return err
	}
	return done(w)
}

// experiments are the variants that runs are kept of.
func (s *Server) experiments(w http.ResponseWriter, r *http.Request) error {
	if err := known(r, "experiment"); err != nil {
		return err
	}
	all, err := s.c.Store.Subjects(r.Context(), r.URL.Query().Get("experiment"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, map[string]any{"experiments": append([]store.Subject{}, all...)})
}

// campaign is an experiment with all its trials.
func (s *Server) campaign(w http.ResponseWriter, r *http.Request) error {
	e, err := s.c.Store.Experiment(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, e)
}
