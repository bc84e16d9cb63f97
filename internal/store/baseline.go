package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"prony/internal/result"
)

// BaselineRuns is the fewest runs that a baseline is taken from, and the fewest
// on either side of a change: with five on each side the smallest two-sided
// p-value of a rank test is 0.008, with four 0.029 (method, section 4.2).
const BaselineRuns = 5

// Baseline is what later runs of one variant are held against: several runs, by
// their median.
type Baseline struct {
	Experiment string    `json:"experiment"`
	Variant    string    `json:"variant,omitempty"`
	Pinned     time.Time `json:"pinned"`
	Runs       []RunID   `json:"runs"` // oldest first
}

// candidate is a run as far as its use in statistics goes.
type candidate struct {
	id                                RunID
	experiment, variant, campaign     string
	workload, machine, verdict, error string
}

// usable says why a run cannot enter a statistic; nil if it can.
func (c candidate) usable() error {
	switch {
	case c.error != "":
		return fmt.Errorf("run %s has no result", c.id)
	case c.verdict == string(result.Invalid):
		return fmt.Errorf("run %s is invalid", c.id)
	}
	return nil
}

// like says how two runs cannot be compared; nil if they can.
func (c candidate) like(o candidate) error {
	switch {
	case c.experiment != o.experiment || c.variant != o.variant:
		return fmt.Errorf("runs %s and %s are of different experiments or variants", c.id, o.id)
	case c.workload != o.workload:
		return fmt.Errorf("runs %s and %s did different work", c.id, o.id)
	case c.machine != o.machine:
		return fmt.Errorf("runs %s and %s ran on different machines or by different versions of Prony", c.id, o.id)
	}
	return nil
}

func candidateOf(ctx context.Context, q querier, id RunID) (candidate, error) {
	c := candidate{id: id}
	err := q.QueryRowContext(ctx, `SELECT experiment, variant, campaign, workload, machine, verdict, error FROM runs WHERE id = $1`, id).
		Scan(&c.experiment, &c.variant, &c.campaign, &c.workload, &c.machine, &c.verdict, &c.error)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return c, fmt.Errorf("run %s: %w", id, err)
	}
	return c, nil
}

// Pin makes runs the baseline of their variant, in place of the one it has. They
// must be usable and comparable with each other, and at least [BaselineRuns] of
// them ([ErrFew]): one run may have been lucky.
func (s *Store) Pin(ctx context.Context, at time.Time, ids ...RunID) (Baseline, error) {
	b := Baseline{Pinned: at.UTC()}
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		first, err := alike(ctx, tx, ids)
		if err != nil {
			return err
		}
		b.Experiment, b.Variant = first.experiment, first.variant
		if _, err := tx.ExecContext(ctx, `DELETE FROM baselines WHERE experiment = $1 AND variant = $2`, b.Experiment, b.Variant); err != nil {
			return err
		}
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, `INSERT INTO baselines (experiment, variant, run_id, pinned) VALUES ($1, $2, $3, $4)
				ON CONFLICT (experiment, variant, run_id) DO NOTHING`, b.Experiment, b.Variant, id, moment(at)); err != nil {
				return err
			}
		}
		b.Runs, err = pinned(ctx, tx, b.Experiment, b.Variant)
		if err == nil && len(b.Runs) < BaselineRuns {
			err = fmt.Errorf("%w: %d, want at least %d, since one run may be lucky; repeat it, or name more", ErrFew, len(b.Runs), BaselineRuns)
		}
		return err
	})
	if err != nil {
		return Baseline{}, fmt.Errorf("pin baseline: %w", err)
	}
	return b, nil
}

// alike checks that runs can be used, and compared; it returns the first.
func alike(ctx context.Context, q querier, ids []RunID) (candidate, error) {
	var first candidate
	for i, id := range ids {
		c, err := candidateOf(ctx, q, id)
		if err == nil {
			err = c.usable()
		}
		if err == nil && i > 0 {
			err = first.like(c)
		}
		if err != nil {
			return first, err
		}
		if i == 0 {
			first = c
		}
	}
	if len(ids) == 0 {
		return first, fmt.Errorf("%w: none is named", ErrFew)
	}
	return first, nil
}

// pinned are the runs of a baseline, oldest first.
func pinned(ctx context.Context, q querier, experiment, variant string) ([]RunID, error) {
	return collect(ctx, q, scanned[RunID], `SELECT r.id FROM baselines b JOIN runs r ON r.id = b.run_id
		WHERE b.experiment = $1 AND b.variant = $2 ORDER BY r.started, r.id`, experiment, variant)
}

// Unpin takes the baseline of a variant away; its runs stay. It fails with
// [ErrNotFound].
func (s *Store) Unpin(ctx context.Context, experiment, variant string) error {
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		return changed(tx.ExecContext(ctx, `DELETE FROM baselines WHERE experiment = $1 AND variant = $2`, experiment, variant))
	})
	if err != nil {
		return fmt.Errorf("unpin the baseline of %s: %w", title(experiment, variant), err)
	}
	return nil
}

func title(experiment, variant string) string {
	if variant == "" {
		return experiment
	}
	return experiment + ", " + variant
}

// Baselines are all of them, by experiment and variant.
func (s *Store) Baselines(ctx context.Context) ([]Baseline, error) {
	var all []Baseline
	err := s.inView(ctx, func(tx *sql.Tx) error {
		var err error
		all, err = collect(ctx, tx, func(rows *sql.Rows) (b Baseline, err error) {
			var at int64
			err = rows.Scan(&b.Experiment, &b.Variant, &at)
			b.Pinned = timeOf(at)
			return b, err
		}, `SELECT experiment, variant, MAX(pinned) FROM baselines GROUP BY experiment, variant ORDER BY experiment, variant`)
		for i := range all {
			if err == nil {
				all[i].Runs, err = pinned(ctx, tx, all[i].Experiment, all[i].Variant)
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read baselines: %w", err)
	}
	return all, nil
}

// Repeats are the runs of a run's campaign and variant that can be used, oldest
// first; of a load on its own, itself.
func (s *Store) Repeats(ctx context.Context, id RunID) ([]RunID, error) {
	c, err := candidateOf(ctx, s.read, id)
	if err != nil {
		return nil, fmt.Errorf("find repeats: %w", err)
	}
	if c.campaign == "" {
		return []RunID{id}, nil
	}
	all, err := collect(ctx, s.read, scanned[RunID], `SELECT id FROM runs WHERE campaign = $1 AND variant = $2 AND verdict <> $3 AND error = ''
		ORDER BY started, id`, c.campaign, c.variant, string(result.Invalid))
	if err != nil {
		return nil, fmt.Errorf("find repeats of run %s: %w", id, err)
	}
	return all, nil
}
