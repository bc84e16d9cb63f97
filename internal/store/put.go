package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prony/internal/result"
)

// Put keeps a run, whole or not at all, and returns its id. Once it has
// returned the run is on disk. Putting a run again keeps it once: a copy of what
// is there, from an import for instance, gets the id that is there. A trial that
// had no result gives way to one with the same id; a result never does
// ([ErrDiffers]). What people added to a run stays.
func (s *Store) Put(ctx context.Context, r Record) (RunID, error) {
	if err := r.check(); err != nil {
		return "", fmt.Errorf("keep run: %w", err)
	}
	p, err := partsOf(r)
	if err != nil {
		return "", fmt.Errorf("keep run: %w", err)
	}
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		id, there, err := p.find(ctx, tx)
		if there || err != nil {
			p.ID = id
			return err
		}
		return p.write(ctx, tx)
	})
	if err != nil {
		return "", fmt.Errorf("keep run %s: %w", p.ID, err)
	}
	return p.ID, nil
}

// find looks for the same run, and makes room for one that replaces a trial
// without a result.
func (p *parts) find(ctx context.Context, tx *sql.Tx) (id RunID, there bool, err error) {
	err = tx.QueryRowContext(ctx, `SELECT id FROM runs WHERE digest = $1`, p.digest).Scan(&id)
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		return id, err == nil, err
	}
	var failure string
	switch err := tx.QueryRowContext(ctx, `SELECT error FROM runs WHERE id = $1`, p.ID).Scan(&failure); {
	case errors.Is(err, sql.ErrNoRows):
		return p.ID, false, nil
	case err != nil:
		return p.ID, false, err
	case failure == "":
		return p.ID, false, ErrDiffers
	}
	return p.ID, false, p.clear(ctx, tx)
}

// clear removes what the trial without a result had; its row is overwritten, so
// that tags and notes stay.
func (p *parts) clear(ctx context.Context, tx *sql.Tx) error {
	for _, table := range []string{"documents", "findings", "series", "words", "histograms", "logs"} {
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE run_id = $1`, p.ID); err != nil {
			return err
		}
	}
	return nil
}

func (p *parts) write(ctx context.Context, tx *sql.Tx) error {
	if err := p.writeRun(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO documents (run_id, body) VALUES ($1, $2)`, p.ID, p.document); err != nil {
		return err
	}
	for i, f := range p.Trial.Validity.Findings {
		if _, err := tx.ExecContext(ctx, `INSERT INTO findings (run_id, place, rule, rule_id, severity, confidence, about, message) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			p.ID, i, brief(f.Rule), brief(f.ID), brief(string(f.Severity)), brief(string(f.Confidence)), brief(f.Where), clean(f.Message)); err != nil {
			return err
		}
	}
	for i, o := range p.Trial.Observed {
		if _, err := tx.ExecContext(ctx, `INSERT INTO series (run_id, place, kind, name, service, instance, host, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			p.ID, i, brief(o.Kind), brief(o.Name), brief(o.Service), o.Instance, brief(o.Host), p.watched[i]); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO words (run_id, text) VALUES ($1, $2)`, p.ID, p.words()); err != nil {
		return err
	}
	if err := p.writeHistograms(ctx, tx); err != nil {
		return err
	}
	return p.writeLogs(ctx, tx)
}

// wordsMax bounds what is searched of a run, in bytes.
const wordsMax = 16 << 10

// words are what a run can be found by, in lower case.
func (p *parts) words() string {
	r := &p.Trial.Run
	all := []string{p.experiment(), p.Trial.Variant, target(r.Plan), p.Trial.Error}
	if r.Bottleneck != nil {
		all = append(all, r.Bottleneck.What, r.Bottleneck.Message)
	}
	for _, f := range r.Validity.Findings {
		all = append(all, f.Rule, f.Message)
	}
	text := strings.ToLower(clean(strings.Join(all, "\n")))
	return strings.ToValidUTF8(text[:min(len(text), wordsMax)], "")
}

// writeRun writes the row of the list, and the campaign that it belongs to.
func (p *parts) writeRun(ctx context.Context, tx *sql.Tx) error {
	if p.plan != nil && p.Campaign != "" {
		if _, err := tx.ExecContext(ctx, `INSERT INTO campaigns (id, experiment, plan) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`,
			brief(p.Campaign), brief(p.experiment()), p.plan); err != nil {
			return err
		}
	}
	r := &p.Trial.Run
	h := headline(r)
	var bottleneck string
	if r.Bottleneck != nil {
		bottleneck = r.Bottleneck.What
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO runs (id, digest, campaign, number, block, experiment, variant, kind, version, workload, machine,
			started, verdict, error, ended_by, target, connections, duration_us, rate, offered, p50_us, p90_us, p99_us, p999_us, max_us, errors,
			cpu_us, rss_bytes, generator_us, asked, completed, failed, bottleneck, findings, watched)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26,
			$27, $28, $29, $30, $31, $32, $33, $34, $35)
		ON CONFLICT (id) DO UPDATE SET digest = excluded.digest, block = excluded.block, experiment = excluded.experiment, variant = excluded.variant,
			kind = excluded.kind, version = excluded.version, workload = excluded.workload, machine = excluded.machine, started = excluded.started,
			verdict = excluded.verdict, error = excluded.error, ended_by = excluded.ended_by, target = excluded.target,
			connections = excluded.connections, duration_us = excluded.duration_us, rate = excluded.rate, offered = excluded.offered,
			p50_us = excluded.p50_us, p90_us = excluded.p90_us, p99_us = excluded.p99_us, p999_us = excluded.p999_us, max_us = excluded.max_us,
			errors = excluded.errors, cpu_us = excluded.cpu_us, rss_bytes = excluded.rss_bytes, generator_us = excluded.generator_us,
			asked = excluded.asked, completed = excluded.completed, failed = excluded.failed, bottleneck = excluded.bottleneck,
			findings = excluded.findings, watched = excluded.watched`,
		p.ID, p.digest, brief(p.Campaign), p.Trial.Number, p.Trial.Block, brief(p.experiment()), brief(p.Trial.Variant), brief(r.Kind), brief(r.Version),
		workload(r), machine(r), moment(r.Started), brief(string(r.Validity.Verdict)), clean(p.Trial.Error), brief(r.Load.EndedBy), brief(target(r.Plan)),
		h.Connections, h.DurationUS, h.Rate, h.OfferedRate, h.P50, h.P90, h.P99, h.P999, h.Max, h.Errors,
		h.CPUPerRequest, h.ServiceRSS, h.GeneratorCPU, h.Asked, h.Completed, h.Failed, brief(bottleneck),
		len(r.Validity.Findings), len(r.Observed))
	return err
}

// Distribution names a histogram of a load.
type Distribution string

// The distributions that are kept apart from the documents.
const (
	Response  Distribution = "response"   // from the planned start
	Service   Distribution = "service"    // from the real send
	Lag       Distribution = "lag"        // send minus planned
	FirstByte Distribution = "first_byte" // from the real send to the first byte
	Failed    Distribution = "failed"     // of failed requests
)

func distributions(l *result.Latency) map[Distribution]result.Histogram {
	return map[Distribution]result.Histogram{Response: l.Response, Service: l.Service, Lag: l.Lag, FirstByte: l.FirstByte, Failed: l.Failed}
}

func (p *parts) writeHistograms(ctx context.Context, tx *sql.Tx) error {
	for i, l := range append([]result.Load{p.Trial.Load}, p.Trial.Also...) {
		all := distributions(&l.Latency)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			h := all[name]
			if h.Empty() {
				continue
			}
			exact, err := json.Marshal(h.Summary())
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO histograms (run_id, load, name, exact, body) VALUES ($1, $2, $3, $4, $5)`,
				p.ID, i, string(name), string(exact), pack(h.AppendV2(nil))); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *parts) writeLogs(ctx context.Context, tx *sql.Tx) error {
	for _, name := range slices.Sorted(maps.Keys(p.Logs)) {
		if _, err := tx.ExecContext(ctx, `INSERT INTO logs (run_id, name, body) VALUES ($1, $2, $3)`, p.ID, brief(name), pack(p.Logs[name])); err != nil {
			return err
		}
	}
	return nil
}
