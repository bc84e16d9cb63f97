package store

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"prony/internal/plan"
	"prony/internal/result"
)

// Keeper takes finished trials, as a campaign's folder of bundles does.
type Keeper interface {
	Put(t result.Trial, logs map[string][]byte) error
}

// Export hands the trials of a campaign to a keeper, in their order.
func (s *Store) Export(ctx context.Context, campaign string, to Keeper) error {
	ids, err := collect(ctx, s.read, scanned[RunID], `SELECT id FROM runs WHERE campaign = $1 ORDER BY number`, campaign)
	if err == nil && len(ids) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("export campaign %s: %w", campaign, err)
	}
	for _, id := range ids {
		r, err := s.Get(ctx, id)
		if err == nil {
			err = to.Put(r.Trial, r.Logs)
		}
		if err != nil {
			return fmt.Errorf("export campaign %s: %w", campaign, err)
		}
	}
	return nil
}

// A .prony file is a zip of these. Files without the origin are read too, as
// those that a campaign's folder holds.
const (
	bundleResult = "result.json"
	bundleOrigin = "campaign.json"
	bundleLogs   = "logs/"
	bundleLog    = ".log"
)

// Bounds of a .prony file: of one file in it, of all together, and of their
// number. They hold for what is unpacked, not for what the file claims.
const (
	bundleFileMax  = 256 << 20
	bundleTotalMax = 512 << 20
	bundleFilesMax = 1000
)

// origin says where a trial came from.
type origin struct {
	Campaign string           `json:"campaign"`
	Plan     *plan.Experiment `json:"plan,omitempty"`
}

// WriteBundle writes a run as one .prony file, with its logs and with the plan
// of its campaign.
func WriteBundle(w io.Writer, r Record) error {
	files := map[string][]byte{}
	trial, err := json.Marshal(&r.Trial)
	if err == nil && r.Campaign != "" {
		files[bundleOrigin], err = json.Marshal(origin{r.Campaign, r.Plan})
	}
	if err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	files[bundleResult] = trial
	for name, text := range r.Logs {
		files[bundleLogs+strings.NewReplacer("/", "_", `\`, "_").Replace(name)+bundleLog] = text
	}
	z := zip.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := z.Create(name)
		if err == nil {
			_, err = f.Write(files[name])
		}
		if err != nil {
			return fmt.Errorf("write bundle: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	return nil
}

// ReadBundle reads a .prony file of a size. It trusts nothing in it: sizes are
// bounded while unpacking, and no name becomes a path.
func ReadBundle(file io.ReaderAt, size int64) (Record, error) {
	z, err := zip.NewReader(file, size)
	if err != nil {
		return Record{}, fmt.Errorf("read bundle: %w", err)
	}
	if len(z.File) > bundleFilesMax {
		return Record{}, fmt.Errorf("read bundle: %d files, at most %d", len(z.File), bundleFilesMax)
	}
	r, left, found := Record{}, int64(bundleTotalMax), false
	for _, f := range z.File {
		text, err := unzip(f, left)
		if err == nil {
			left -= int64(len(text))
			found = found || f.Name == bundleResult
			err = r.take(f.Name, text)
		}
		if err != nil {
			return Record{}, fmt.Errorf("read bundle: %q: %w", f.Name, err)
		}
	}
	if !found {
		return Record{}, fmt.Errorf("read bundle: there is no %s in it", bundleResult)
	}
	if err := r.check(); err != nil {
		return Record{}, fmt.Errorf("read bundle: %w", err)
	}
	return r, nil
}

func unzip(f *zip.File, left int64) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	most := min(left, bundleFileMax)
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("it unpacks to more than %d bytes", most)
	}
	return text, err
}

// take fills a record from one file of a bundle; files of other names are left
// alone.
func (r *Record) take(name string, text []byte) error {
	switch {
	case name == bundleResult:
		return json.Unmarshal(text, &r.Trial)
	case name == bundleOrigin:
		var o origin
		err := json.Unmarshal(text, &o)
		r.Campaign, r.Plan = o.Campaign, o.Plan
		return err
	case strings.HasPrefix(name, bundleLogs) && strings.HasSuffix(name, bundleLog):
		log := brief(strings.TrimSuffix(strings.TrimPrefix(name, bundleLogs), bundleLog))
		if log == "" || strings.ContainsAny(log, `/\`) {
			return errors.New("a log has a name without folders")
		}
		if r.Logs == nil {
			r.Logs = map[string][]byte{}
		}
		r.Logs[log] = text
	}
	return nil
}

// ReadJSON reads results that were written as JSON: one result, or an experiment
// with all its trials.
func ReadJSON(text []byte) ([]Record, error) {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	var all []Record
	switch head.Schema {
	case result.Schema:
		r := Record{}
		if err := json.Unmarshal(text, &r.Trial); err != nil {
			return nil, fmt.Errorf("read result: %w", err)
		}
		all = append(all, r)
	case result.ExperimentSchema:
		var e result.Experiment
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("read experiment: %w", err)
		}
		for _, t := range e.Trials {
			all = append(all, Record{Campaign: e.ID, Plan: e.Plan, Trial: t})
		}
	default:
		return nil, fmt.Errorf("read result: the schema is %q, want %s or %s", head.Schema, result.Schema, result.ExperimentSchema)
	}
	for i := range all {
		if err := all[i].check(); err != nil {
			return nil, fmt.Errorf("read result %d: %w", i+1, err)
		}
	}
	return all, nil
}
