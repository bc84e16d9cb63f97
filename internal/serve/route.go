package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// answer answers a request, or says why not.
type answer func(w http.ResponseWriter, r *http.Request) error

// route is one call of the API.
type route struct {
	method, path string
	answer       answer
	limit        int64 // bytes of the body
}

// routes are all calls of the API; openapi.json describes them.
func (s *Server) routes() []route {
	l := s.c.Limits
	return []route{
		{"GET", "/api/version", s.version, 0},
		{"GET", "/api/openapi.json", s.openAPI, 0},
		{"GET", "/api/schema", s.schema, 0},
		{"GET", "/api/runs", s.list, 0},
		{"POST", "/api/runs", s.start, l.Body},
		{"GET", "/api/runs/{id}", s.get, 0},
		{"DELETE", "/api/runs/{id}", s.remove, 0},
		{"GET", "/api/runs/{id}/bundle", s.bundle, 0},
		{"POST", "/api/runs/{id}/stop", s.end, l.Body},
		{"POST", "/api/runs/{id}/tags", s.tag, l.Body},
		{"DELETE", "/api/runs/{id}/tags/{tag}", s.untag, 0},
		{"PUT", "/api/runs/{id}/name", s.name, l.Body},
		{"POST", "/api/runs/{id}/notes", s.note, l.Body},
		{"GET", "/api/experiments", s.experiments, 0},
		{"GET", "/api/campaigns/{id}", s.campaign, 0},
		{"GET", "/api/baselines", s.baselines, 0},
		{"POST", "/api/baselines", s.pin, l.Body},
		{"DELETE", "/api/baselines", s.unpin, 0},
		{"GET", "/api/compare", s.compare, 0},
		{"GET", "/api/metrics", s.metrics, 0},
		{"GET", "/api/history", s.history, 0},
		{"POST", "/api/import", s.upload, l.Upload},
		{"POST", "/api/audit", s.audit, l.Audit},
		{"POST", "/api/plan", s.plan, l.Body},
		{"GET", "/api/live", s.running, 0},
		{"GET", "/api/live/{id}", s.stream, 0},
	}
}

// mux leads to the routes, the reports and the pages.
func (s *Server) mux() *http.ServeMux {
	m := http.NewServeMux()
	byPath := map[string]map[string]route{}
	for _, r := range s.routes() {
		if byPath[r.path] == nil {
			byPath[r.path] = map[string]route{}
		}
		byPath[r.path][r.method] = r
	}
	for path, methods := range byPath {
		m.Handle(path, byMethod(methods))
	}
	nothing := func(_ http.ResponseWriter, r *http.Request) error {
		return notFound("there is no %s; see /api/openapi.json", r.URL.Path)
	}
	m.Handle("/api/", byMethod(only("GET", nothing)))
	m.Handle("/report/{id}", byMethod(only("GET", s.runReport)))
	m.Handle("/report/campaigns/{id}", byMethod(only("GET", s.campaignReport)))
	m.Handle("/", byMethod(only("GET", s.page)))
	return m
}

// only is a path with one method.
func only(method string, a answer) map[string]route {
	return map[string]route{method: {method: method, answer: a}}
}

// byMethod chooses among the methods of a path, and answers others with those
// that there are. HEAD is GET, whose body the server leaves out.
func byMethod(methods map[string]route) http.HandlerFunc {
	var allowed []string
	for m := range methods {
		allowed = append(allowed, m)
	}
	if _, ok := methods["GET"]; ok {
		allowed = append(allowed, "HEAD")
	}
	slices.Sort(allowed)
	allow := strings.Join(allowed, ", ")
	return func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == "HEAD" {
			method = "GET"
		}
		found, ok := methods[method]
		if !ok {
			w.Header().Set("Allow", allow)
			trouble(http.StatusMethodNotAllowed, "%s is answered to %s", r.URL.Path, allow).write(w)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, found.limit)
		if err := found.answer(w, r); err != nil {
			problemOf(err).write(w)
		}
	}
}

// writeJSON answers with a value, once all of it has been encoded. The encoder
// escapes <, > and &, so that no browser takes the answer for a page.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // the peer may have gone
	return nil
}

// done answers that there is nothing to say.
func done(w http.ResponseWriter) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// readJSON decodes a body, which holds one value and no key that is not known.
func readJSON(r *http.Request, into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return trouble(http.StatusUnsupportedMediaType, "want a body of the type application/json")
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return bodyError(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return trouble(http.StatusBadRequest, "read the body: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return trouble(http.StatusBadRequest, "read the body: want one JSON value")
	}
	return nil
}

// bodyError tells a body that is too long from one that did not come.
func bodyError(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	return trouble(http.StatusBadRequest, "read the body: %v", err)
}

// known refuses parameters of the query that a call does not have: a filter that
// was mistyped would take all runs.
func known(r *http.Request, names ...string) error {
	for name := range r.URL.Query() {
		if !slices.Contains(names, name) {
			return unfit("there is no parameter %q; there are: %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}
