package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
)

// Last is the word for the newest run.
const Last = "last"

// candidatesMax is how many runs an ambiguous abbreviation is answered with.
const candidatesMax = 5

// Find turns what a person types into a run: "last", a name, an id, or the first
// letters of one. It fails with [ErrNotFound] or [ErrAmbiguous].
func (s *Store) Find(ctx context.Context, word string) (RunID, error) {
	id, err := s.find(ctx, strings.TrimSpace(word))
	if err != nil {
		return "", fmt.Errorf("find run %q: %w", word, err)
	}
	return id, nil
}

func (s *Store) find(ctx context.Context, word string) (RunID, error) {
	if word == "" || strings.ContainsRune(word, 0) {
		return "", ErrNotFound
	}
	if word == Last {
		return one(s.read.QueryRowContext(ctx, `SELECT id FROM runs ORDER BY started DESC, id DESC LIMIT 1`))
	}
	if id, err := one(s.read.QueryRowContext(ctx, `SELECT run_id FROM names WHERE name = $1`, word)); !errors.Is(err, ErrNotFound) {
		return id, err
	}
	word = strings.ToLower(word)
	// "~" is behind all letters of ids, in the order of bytes.
	ids, err := collect(ctx, s.read, scanned[RunID], `SELECT id FROM runs WHERE id >= $1 AND id <= $2 ORDER BY id LIMIT $3`, word, word+"~", candidatesMax+1)
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", ErrNotFound
	case len(ids) > 1 && ids[0] != RunID(word):
		return "", ambiguous(ids)
	}
	return ids[0], nil
}

func ambiguous(ids []RunID) error {
	var text []string
	for _, id := range ids[:min(len(ids), candidatesMax)] {
		text = append(text, string(id))
	}
	if len(ids) > candidatesMax {
		text = append(text, "…")
	}
	return fmt.Errorf("%w: %s", ErrAmbiguous, strings.Join(text, " "))
}

// one reads a single id.
func one(row *sql.Row) (RunID, error) {
	var id RunID
	err := row.Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return id, err
}

// Get reads everything of a run. It fails with [ErrNotFound].
func (s *Store) Get(ctx context.Context, id RunID) (Record, error) {
	r := Record{ID: id}
	err := s.inView(ctx, func(tx *sql.Tx) error {
		if err := r.read(ctx, tx); err != nil {
			return err
		}
		var err error
		if r.Plan, err = planOf(ctx, tx, r.Campaign); err != nil {
			return err
		}
		return r.readLogs(ctx, tx)
	})
	if err != nil {
		return Record{}, fmt.Errorf("read run %s: %w", id, err)
	}
	return r, nil
}

// read reads the result.
func (r *Record) read(ctx context.Context, q querier) error {
	var document []byte
	err := q.QueryRowContext(ctx, `SELECT r.campaign, d.body FROM runs r JOIN documents d ON d.run_id = r.id WHERE r.id = $1`, r.ID).Scan(&r.Campaign, &document)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return err
	}
	if err := unpackJSON(document, &r.Trial); err != nil {
		return fmt.Errorf("decode the result: %w", err)
	}
	r.Trial.Observed, err = observed(ctx, q, r.ID, "")
	return err
}

// observed are the things that were watched, of a kind or all.
func observed(ctx context.Context, q querier, id RunID, kind string) ([]result.Observed, error) {
	query, args := `SELECT body FROM series WHERE run_id = $1`, []any{id}
	if kind != "" {
		query, args = query+` AND kind = $2`, append(args, kind)
	}
	bodies, err := collect(ctx, q, scanned[[]byte], query+` ORDER BY place`, args...)
	if err != nil || len(bodies) == 0 {
		return nil, err
	}
	all := make([]result.Observed, len(bodies))
	for i, b := range bodies {
		if err := unpackJSON(b, &all[i]); err != nil {
			return nil, fmt.Errorf("decode series %d: %w", i+1, err)
		}
	}
	return all, nil
}

func (r *Record) readLogs(ctx context.Context, q querier) error {
	type log struct {
		name string
		body []byte
	}
	all, err := collect(ctx, q, func(rows *sql.Rows) (l log, err error) { return l, rows.Scan(&l.name, &l.body) },
		`SELECT name, body FROM logs WHERE run_id = $1`, r.ID)
	if err != nil || len(all) == 0 {
		return err
	}
	r.Logs = map[string][]byte{}
	for _, l := range all {
		if r.Logs[l.name], err = unpack(l.body); err != nil {
			return fmt.Errorf("decode log %s: %w", l.name, err)
		}
	}
	return nil
}

// planOf is the experiment of a campaign; nil if none was kept.
func planOf(ctx context.Context, q querier, campaign string) (*plan.Experiment, error) {
	if campaign == "" {
		return nil, nil
	}
	var body []byte
	err := q.QueryRowContext(ctx, `SELECT plan FROM campaigns WHERE id = $1`, campaign).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p := &plan.Experiment{}
	if err := unpackJSON(body, p); err != nil {
		return nil, fmt.Errorf("decode the plan of %s: %w", campaign, err)
	}
	return p, nil
}

// Series are the things of one kind that were watched in a run, such as
// [result.OfService], without the rest of it; all kinds with "".
func (s *Store) Series(ctx context.Context, id RunID, kind string) ([]result.Observed, error) {
	all, err := observed(ctx, s.read, id, kind)
	if err != nil {
		return nil, fmt.Errorf("read series of run %s: %w", id, err)
	}
	return all, nil
}

// packed is a histogram as it is kept.
type packed struct {
	exact string
	body  []byte
}

// Merged adds up one distribution of the first load of several runs: the only
// honest percentile over runs. It is nil where nothing was recorded.
func (s *Store) Merged(ctx context.Context, of Distribution, ids ...RunID) (*hdr.Histogram, error) {
	var sum *hdr.Histogram
	for _, id := range ids {
		all, err := collect(ctx, s.read, func(rows *sql.Rows) (p packed, err error) { return p, rows.Scan(&p.exact, &p.body) },
			`SELECT exact, body FROM histograms WHERE run_id = $1 AND load = 0 AND name = $2`, id, string(of))
		if err != nil {
			return nil, fmt.Errorf("merge %s: %w", of, err)
		}
		for _, p := range all {
			if sum, err = p.addTo(sum); err != nil {
				return nil, fmt.Errorf("merge %s of run %s: %w", of, id, err)
			}
		}
	}
	return sum, nil
}

func (p packed) addTo(sum *hdr.Histogram) (*hdr.Histogram, error) {
	v2, err := unpack(p.body)
	if err != nil {
		return nil, err
	}
	h, err := hdr.DecodeV2(v2)
	if err != nil {
		return nil, err
	}
	var exact hdr.Summary
	if err := json.Unmarshal([]byte(p.exact), &exact); err != nil {
		return nil, err
	}
	if err := h.Restore(exact); err != nil || sum == nil {
		return h, err
	}
	return sum, sum.Merge(h)
}

// Experiment puts the trials of a campaign together, in the order of the plan.
// An abbreviation that fits one campaign will do, and "last" is that of the
// newest run with one. It fails with [ErrNotFound] or [ErrAmbiguous].
func (s *Store) Experiment(ctx context.Context, campaign string) (*result.Experiment, error) {
	e := &result.Experiment{Schema: result.ExperimentSchema}
	err := s.inView(ctx, func(tx *sql.Tx) error {
		var err error
		if e.ID, err = findCampaign(ctx, tx, campaign); err != nil {
			return err
		}
		if e.Plan, err = planOf(ctx, tx, e.ID); err != nil {
			return err
		}
		ids, err := collect(ctx, tx, scanned[RunID], `SELECT id FROM runs WHERE campaign = $1 ORDER BY number, id`, e.ID)
		if err != nil {
			return err
		}
		for _, id := range ids {
			r := Record{ID: id}
			if err := r.read(ctx, tx); err != nil {
				return fmt.Errorf("run %s: %w", id, err)
			}
			e.Trials = append(e.Trials, r.Trial)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read campaign %q: %w", campaign, err)
	}
	return e, nil
}

func findCampaign(ctx context.Context, q querier, word string) (string, error) {
	query, args := `SELECT DISTINCT campaign FROM runs WHERE campaign >= $1 AND campaign <= $2 ORDER BY campaign LIMIT 6`, []any{word, word + "~"}
	switch word {
	case "":
		return "", ErrNotFound
	case Last:
		query, args = `SELECT campaign FROM runs WHERE campaign <> '' ORDER BY started DESC, id DESC LIMIT 1`, nil
	}
	all, err := collect(ctx, q, scanned[string], query, args...)
	switch {
	case err != nil:
		return "", err
	case len(all) == 0:
		return "", ErrNotFound
	case len(all) > 1 && !slices.Contains(all, word):
		return "", fmt.Errorf("%w: campaigns %s", ErrAmbiguous, strings.Join(all, " "))
	case slices.Contains(all, word):
		return word, nil
	}
	return all[0], nil
}

// Remove takes runs out, with all that belongs to them, or none of them. It
// fails with [ErrNotFound] and, where a baseline rests on one, [ErrBaseline].
func (s *Store) Remove(ctx context.Context, ids ...RunID) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			if err := remove(ctx, tx, id); err != nil {
				return fmt.Errorf("remove run %s: %w", id, err)
			}
		}
		return nil
	})
}

func remove(ctx context.Context, tx *sql.Tx, id RunID) error {
	var n int64
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM baselines WHERE run_id = $1`, id).Scan(&n); err != nil {
		return err
	}
	if n > 0 {
		return ErrBaseline
	}
	if err := changed(tx.ExecContext(ctx, `DELETE FROM runs WHERE id = $1`, id)); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM campaigns WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.campaign = campaigns.id)`)
	return err
}

// changed fails with ErrNotFound when a statement found nothing to change.
func changed(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := r.RowsAffected()
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}
