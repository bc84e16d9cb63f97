package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"prony/internal/analyse"
	"prony/internal/bundle"
	"prony/internal/compare"
	"prony/internal/result"
)

// source is a stored result: an experiment with its trials, or a single run.
type source struct {
	name       string
	variant    string // asked for by name#variant
	experiment *result.Experiment
	run        *result.Run
	repeats    []*result.Run // of a run of the history, itself among them
}

var errSource = errors.New("want a campaign (its id, its folder, or last), a .prony file, a result as JSON, or a run of the history (prony list)")

// openSource finds a stored result by what people call it: NAME or NAME#VARIANT.
func openSource(name, root string) (*source, error) {
	base, variant, _ := strings.Cut(name, "#")
	s := &source{name: name, variant: variant}
	if err := s.open(base, root); err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	return s, s.check()
}

func (s *source) open(name, root string) error {
	info, err := os.Stat(name)
	switch {
	case strings.HasPrefix(name, baselinePrefix):
		return s.history(name)
	case err != nil:
		if err := s.campaign(root, name); !errors.Is(err, errSource) {
			return err
		}
		return s.history(name)
	case info.IsDir():
		return s.campaign(filepath.Dir(filepath.Clean(name)), filepath.Base(filepath.Clean(name)))
	case strings.HasSuffix(name, ".prony"):
		t, err := bundle.Read(name)
		s.run = &t.Run
		return err
	}
	return s.json(name)
}

func (s *source) campaign(root, id string) error {
	c, p, err := bundle.Open(root, id)
	if errors.Is(err, os.ErrNotExist) {
		return errSource
	}
	if err == nil {
		s.experiment, err = c.Results(p)
	}
	if err == nil {
		analyse.Experiment(s.experiment, analyse.DefaultThresholds())
		compare.Curves(s.experiment)
	}
	return err
}

func (s *source) json(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return fmt.Errorf("%w: %w", errSource, err)
	}
	switch head.Schema {
	case result.Schema:
		return json.Unmarshal(text, &s.run)
	case result.ExperimentSchema:
		return json.Unmarshal(text, &s.experiment)
	}
	return fmt.Errorf("schema %q: %w", head.Schema, errSource)
}

// check refuses a variant that is not there.
func (s *source) check() error {
	if s.variant == "" {
		return nil
	}
	names := s.variants()
	for _, n := range names {
		if n == s.variant {
			return nil
		}
	}
	return fmt.Errorf("open %s: no such variant; there are: %s", s.name, strings.Join(names, ", "))
}

func (s *source) variants() (names []string) {
	if s.experiment != nil && s.experiment.Plan != nil {
		for _, v := range s.experiment.Plan.Variants {
			names = append(names, v.Name)
		}
	}
	return names
}
