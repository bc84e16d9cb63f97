// Package bundle keeps finished trials as files: a folder for each campaign with
// its plan and a .prony file (zip) for each trial, which holds the result with
// its histograms and the logs of the services. A trial is on disk, whole, before
// the next one starts; a file is written beside its place and then renamed, so
// that a crash leaves no half of one.
package bundle

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"prony/internal/plan"
	"prony/internal/result"
)

// Campaign is the folder of one experiment that was started.
type Campaign struct{ dir string }

const (
	planFile    = "plan.json"
	journalFile = "journal.jsonl"
	resultFile  = "result.json"
	suffix      = ".prony"
)

// Create makes the folder of a campaign and keeps its plan there.
func Create(root, id string, p *plan.Experiment) (*Campaign, error) {
	c := &Campaign{dir: filepath.Join(root, id)}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return nil, fmt.Errorf("create campaign: %w", err)
	}
	b, err := json.Marshal(p)
	if err == nil {
		err = c.write(planFile, func(w io.Writer) error { _, err := w.Write(b); return err })
	}
	if err != nil {
		return nil, fmt.Errorf("create campaign: keep the plan: %w", err)
	}
	return c, nil
}

// Open finds a campaign by its id, or the newest with the id "last".
func Open(root, id string) (*Campaign, *plan.Experiment, error) {
	if id == "last" {
		all, err := List(root)
		if err != nil || len(all) == 0 {
			return nil, nil, errors.Join(fmt.Errorf("open campaign: there is none in %s", root), err)
		}
		id = all[len(all)-1]
	}
	c := &Campaign{dir: filepath.Join(root, id)}
	b, err := os.ReadFile(filepath.Join(c.dir, planFile))
	if err != nil {
		return nil, nil, fmt.Errorf("open campaign %s: %w", id, err)
	}
	var p plan.Experiment
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, nil, fmt.Errorf("open campaign %s: read its plan: %w", id, err)
	}
	return c, &p, nil
}

// List are the campaigns below a folder; their names sort by time.
func List(root string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []string
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(root, e.Name(), planFile)); err == nil {
			all = append(all, e.Name())
		}
	}
	slices.Sort(all)
	return all, err
}

// ID is the campaign's name.
func (c *Campaign) ID() string { return filepath.Base(c.dir) }

// Dir is its folder.
func (c *Campaign) Dir() string { return c.dir }

// Journal is the file of what was about to be started.
func (c *Campaign) Journal() string { return filepath.Join(c.dir, journalFile) }

func (c *Campaign) file(number int) string { return fmt.Sprintf("%04d%s", number, suffix) }

// Has reports whether a trial is finished.
func (c *Campaign) Has(number int) bool {
	_, err := os.Stat(filepath.Join(c.dir, c.file(number)))
	return err == nil
}

// Put keeps a finished trial with the logs of its services.
func (c *Campaign) Put(t result.Trial, logs map[string][]byte) error {
	b, err := json.Marshal(t)
	if err == nil {
		err = c.write(c.file(t.Number), func(w io.Writer) error { return pack(w, b, logs) })
	}
	if err != nil {
		return fmt.Errorf("keep trial %d: %w", t.Number, err)
	}
	return nil
}

func pack(w io.Writer, trial []byte, logs map[string][]byte) error {
	z := zip.NewWriter(w)
	errs := []error{add(z, resultFile, trial)}
	for name, text := range logs {
		errs = append(errs, add(z, "logs/"+strings.ReplaceAll(name, "/", "_")+".log", text))
	}
	return errors.Join(append(errs, z.Close())...)
}

func add(z *zip.Writer, name string, text []byte) error {
	f, err := z.Create(name)
	if err == nil {
		_, err = f.Write(text)
	}
	return err
}

// Get reads a finished trial.
func (c *Campaign) Get(number int) (result.Trial, error) {
	t, err := Read(filepath.Join(c.dir, c.file(number)))
	if err != nil {
		return t, fmt.Errorf("read trial %d: %w", number, err)
	}
	return t, nil
}

// resultBytes bounds what a .prony file may hold: it may come from anywhere.
const resultBytes = 256 << 20

// Read reads a .prony file.
func Read(name string) (result.Trial, error) {
	var t result.Trial
	z, err := zip.OpenReader(name)
	if err != nil {
		return t, err
	}
	defer z.Close()
	f, err := z.Open(resultFile)
	if err != nil {
		return t, err
	}
	defer f.Close()
	return t, json.NewDecoder(io.LimitReader(f, resultBytes)).Decode(&t)
}

// Results are the finished trials of the campaign, slim.
func (c *Campaign) Results(p *plan.Experiment) (*result.Experiment, error) {
	e := &result.Experiment{Schema: result.ExperimentSchema, ID: c.ID(), Plan: p}
	for i := range p.Trials {
		if !c.Has(i + 1) {
			continue
		}
		t, err := c.Get(i + 1)
		if err != nil {
			return nil, err
		}
		e.Trials = append(e.Trials, t.Slim())
	}
	return e, nil
}

// write makes a file beside its place and renames it.
func (c *Campaign) write(name string, fill func(io.Writer) error) error {
	f, err := os.CreateTemp(c.dir, "."+name+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing, once renamed
	if err := errors.Join(fill(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(c.dir, name))
}
