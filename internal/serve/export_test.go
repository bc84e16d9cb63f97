package serve

import (
	"io"

	"prony/internal/audit"
	"prony/internal/store"
)

// Routes are the methods and paths of the API.
func Routes() (all []string) {
	for _, r := range (&Server{}).routes() {
		all = append(all, r.method+" "+r.path)
	}
	return all
}

// EventsMost is how many events of an experiment are kept.
const EventsMost = eventsMost

// Records reads an upload.
func Records(f interface {
	io.ReaderAt
	io.ReadSeeker
}, size, most int64) ([]store.Record, error) {
	return records(f, size, most)
}

// Audit looks at a printed result.
func Audit(text, facts string, claims []string) (audit.Report, error) {
	return (&auditRequest{text, facts, claims}).run()
}
