package serve

import (
	"bytes"
	_ "embed"
	"errors"
	"html"
	"html/template"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"prony/internal/store"
	"prony/internal/web"
)

// hashed is the name of an asset that changes whenever its content does, such as
// index-B3x9Qk2f.js: a browser may keep it for ever.
var hashed = regexp.MustCompile(`[-.][A-Za-z0-9_-]{8,}\.[a-z0-9]+$`)

// assets are the endings of what pages load. Other paths are places inside the
// page, which finds its way by itself: a name of a run may have a dot.
const assets = ".css .html .ico .js .json .map .png .svg .txt .wasm .webp .woff2"

// page serves index.html and what it loads.
func (s *Server) page(w http.ResponseWriter, r *http.Request) error {
	if s.c.Pages == nil {
		return s.plainList(w, r)
	}
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if ending := path.Ext(name); ending == "" || !slices.Contains(strings.Fields(assets), ending) {
		name = "index.html"
	}
	text, err := fs.ReadFile(s.c.Pages, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return notFound("there is no %s", r.URL.Path)
	}
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", typeOf(name))
	switch {
	case name == "index.html":
		h.Set("Cache-Control", "no-store")
	case hashed.MatchString(name):
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	default:
		h.Set("Cache-Control", "no-cache")
	}
	_, _ = w.Write(text) // the peer may have gone
	return nil
}

// typeOf is the content type of an asset. The usual ones do not depend on what
// the system's tables say.
func typeOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}

//go:embed list.html
var listPage string

// plainRuns is how many runs the plain list shows.
const plainRuns = 100

// plainList is the newest runs with their reports, for a build without pages.
// html/template escapes for the place where a text stands.
func (s *Server) plainList(w http.ResponseWriter, r *http.Request) error {
	if r.URL.Path != "/" {
		return notFound("there is no %s", r.URL.Path)
	}
	l, err := s.c.Store.List(r.Context(), store.Filter{}, store.Page{Limit: plainRuns})
	if err != nil {
		return err
	}
	t, err := template.New("list").Parse(listPage)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, l); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = b.WriteTo(w) // the peer may have gone
	return nil
}

// runReport is the report of a run as one file.
func (s *Server) runReport(w http.ResponseWriter, r *http.Request) error {
	rec, err := s.record(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if rec.Trial.Error != "" {
		return unfit("run %s has no result: %s", rec.ID, rec.Trial.Error)
	}
	return s.report(w, web.Document{Run: &rec.Trial.Run})
}

// campaignReport is the report of an experiment as one file.
func (s *Server) campaignReport(w http.ResponseWriter, r *http.Request) error {
	e, err := s.c.Store.Experiment(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return s.report(w, web.Document{Experiment: e})
}

// reportPolicy comes before the policy that a report has of its own, by the
// hashes of its parts. In the sandbox it is of no origin: even if something ran
// in it, it could neither read nor change anything here.
const reportPolicy = "frame-ancestors 'none'; sandbox allow-scripts allow-downloads allow-popups"

func (s *Server) report(w http.ResponseWriter, doc web.Document) error {
	doc.Version = s.c.Version
	if s.c.Complete != nil {
		s.c.Complete(&doc)
	}
	var b bytes.Buffer
	if err := web.Report(&b, doc); err != nil {
		return err
	}
	own, err := policyOf(b.Bytes())
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Security-Policy", reportPolicy+"; "+own)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	_, _ = io.Copy(w, &b) // the peer may have gone
	return nil
}

var (
	policyMeta = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]+)">`)
	errPolicy  = errors.New("the report says nothing of what may run in it")
)

// policyOf is the policy that a report states in its head, before any data.
func policyOf(report []byte) (string, error) {
	m := policyMeta.FindSubmatch(report[:min(len(report), 4096)])
	if m == nil {
		return "", errPolicy
	}
	return html.UnescapeString(string(m[1])), nil
}
