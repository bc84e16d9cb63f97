package serve

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"prony/internal/audit"
	"prony/internal/store"
)

// filesMost is the most files of a bundle: a result, its origin, and the logs.
const filesMost = 1000

// upload takes a .prony file, or results as JSON, into the history. What is there
// already is not taken twice.
func (s *Server) upload(w http.ResponseWriter, r *http.Request) error {
	file, err := os.CreateTemp("", "prony-upload-*")
	if err != nil {
		return fmt.Errorf("keep the upload: %w", err)
	}
	defer func() { _, _ = file.Close(), os.Remove(file.Name()) }() // nothing of it is needed any more
	size, err := io.Copy(file, r.Body)
	if err != nil {
		return bodyError(err)
	}
	select {
	case s.uploads <- struct{}{}: // one at a time, since one may take all the memory that is allowed
		defer func() { <-s.uploads }()
	case <-r.Context().Done():
		return r.Context().Err()
	}
	all, err := records(file, size, s.c.Limits.Unpacked)
	if err != nil {
		return unfit("%v", err)
	}
	ids, err := s.keep(r.Context(), all)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusCreated, map[string]any{"runs": ids})
}

// keep puts runs, and names those that are there now also when one is refused.
func (s *Server) keep(ctx context.Context, all []store.Record) ([]store.RunID, error) {
	ids := []store.RunID{}
	for i, rec := range all {
		id, err := s.c.Store.Put(ctx, rec)
		if err != nil {
			return ids, fmt.Errorf("keep result %d of %d: %w", i+1, len(all), err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// file is what an upload is read from.
type file interface {
	io.ReaderAt
	io.ReadSeeker
}

// records reads what was handed in: a zip by its first two bytes, or else JSON.
func records(f file, size, most int64) ([]store.Record, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	in := bufio.NewReader(f)
	start, err := in.Peek(2)
	switch {
	case err != nil:
		return nil, errors.New("read the upload: it is no .prony file and no result as JSON")
	case string(start) == "PK":
		if err := examine(f, size, most); err != nil {
			return nil, fmt.Errorf("read bundle: %w", err)
		}
		rec, err := store.ReadBundle(f, size)
		return []store.Record{rec}, err
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	return store.ReadJSON(text)
}

// examine looks through a bundle before anything of it is kept in memory: how
// much it claims to hold, whether that is so, and whether its names are
// names.
func examine(f io.ReaderAt, size, most int64) error {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return err
	}
	if len(z.File) > filesMost {
		return fmt.Errorf("%d files, at most %d", len(z.File), filesMost)
	}
	left, seen := uint64(most), map[string]bool{}
	for _, one := range z.File {
		switch {
		case !fs.ValidPath(strings.TrimSuffix(one.Name, "/")) || strings.Contains(one.Name, `\`):
			return fmt.Errorf("%q is no name of a file in a bundle", one.Name)
		case seen[one.Name]:
			return fmt.Errorf("%q is there twice", one.Name)
		case one.UncompressedSize64 > left:
			return fmt.Errorf("%q: together the files claim to be longer than %d bytes", one.Name, most)
		}
		seen[one.Name] = true
		left -= one.UncompressedSize64
		if err := honest(one); err != nil {
			return fmt.Errorf("%q: %w", one.Name, err)
		}
	}
	return nil
}

// honest unpacks a file to nowhere, no further than it claims to be long.
func honest(one *zip.File) error {
	in, err := one.Open()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // nothing was written
	n, err := io.Copy(io.Discard, io.LimitReader(in, int64(one.UncompressedSize64)+1))
	if err == nil && uint64(n) != one.UncompressedSize64 {
		err = fmt.Errorf("it claims %d bytes and holds others", one.UncompressedSize64)
	}
	return err
}

// auditRequest is a text with what is known beside it.
type auditRequest struct {
	Text   string   `json:"text"`
	Facts  string   `json:"facts"`  // YAML, as in a file of facts
	Claims []string `json:"claims"` // what was concluded
}

// claimsMost bounds the claims of a request.
const claimsMost = 100

// audit says what in a printed result cannot be true.
func (s *Server) audit(w http.ResponseWriter, r *http.Request) error {
	var body auditRequest
	if err := readJSON(r, &body); err != nil {
		return err
	}
	report, err := body.run()
	if err != nil {
		return unfit("%v", err)
	}
	return writeJSON(w, http.StatusOK, report)
}

const pasted = "pasted"

func (a *auditRequest) run() (audit.Report, error) {
	read, err := audit.Read([]audit.Source{{File: pasted, Text: a.Text}}, audit.Limits{})
	if err != nil {
		return audit.Report{}, err
	}
	known := audit.File{}
	if a.Facts != "" {
		if known, err = audit.ParseFacts("facts", []byte(a.Facts)); err != nil {
			return audit.Report{}, err
		}
	}
	if lost := audit.Unmatched(read, known); len(lost) > 0 {
		return audit.Report{}, fmt.Errorf("facts of results that were not found: %s", strings.Join(lost, ", "))
	}
	all := audit.Join(read, known, func(*audit.Block) {})
	if len(all) == 0 && len(known.Shards) == 0 {
		return audit.Report{}, errors.New("no result was recognised: want the output of wrk, ab, Gatling, h2load, hey, vegeta, bombardier, oha, k6 or fortio")
	}
	if err := errors.Join(known.Check("facts", all), a.addClaims(&known, all)); err != nil {
		return audit.Report{}, err
	}
	return audit.Run(all, known, audit.Thresholds{}), nil
}

// addClaims reads the claims, each of which is about results that are there.
func (a *auditRequest) addClaims(f *audit.File, all []audit.Block) error {
	if len(a.Claims) > claimsMost {
		return fmt.Errorf("%d claims, at most %d", len(a.Claims), claimsMost)
	}
	var errs []error
	for _, text := range a.Claims {
		c, err := audit.ParseClaim(text)
		if err == nil {
			f.Claims = append(f.Claims, c)
			_, _, err = c.Resolve(all)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
