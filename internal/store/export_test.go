package store

import (
	"context"
	"database/sql"
)

// Latest is the version of the tables.
const Latest = latest

// OpenAt opens a store as an older or newer version would have left it: it
// migrates to that version, or writes a higher one down.
func OpenAt(ctx context.Context, address string, c Config, version int64) (*Store, error) {
	d, err := dialectOf(address, c)
	if err != nil {
		return nil, err
	}
	s := &Store{address: d.String(), dialect: d}
	if s.write, s.read, err = d.open(ctx); err != nil {
		return nil, err
	}
	s.write.SetMaxOpenConns(1)
	if err := s.migrateTo(ctx, min(version, latest)); err != nil {
		return nil, err
	}
	if version > latest {
		_, err = s.write.ExecContext(ctx, `INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, $2)`, version, true)
	}
	return s, err
}

// Write is the database of a store, to damage it.
func (s *Store) Write() *sql.DB { return s.write }

// Segments are where the segments of a series begin, for a margin of its medians.
func Segments(values []float64, metric string) []int {
	m, err := MetricOf(metric)
	if err != nil {
		panic(err)
	}
	spans, _ := segments(values, m.differ)
	var from []int
	for _, s := range spans {
		from = append(from, s.from)
	}
	return from
}

// RankSum is |z| of the first k of values.
func RankSum(values []float64, k int) float64 {
	ranks, ties := midranks(values)
	sum := 0.0
	for _, r := range ranks[:k] {
		sum += r
	}
	return standardised(sum, float64(k), float64(len(values)), ties)
}

// ChanceOfTwo is the p-value of two groups.
func ChanceOfTwo(before, after []float64) float64 { return chanceOfTwo(before, after) }

// Lock makes a transaction the only one that writes.
func (s *Store) Lock(ctx context.Context, tx *sql.Tx) error { return s.dialect.lock(ctx, tx) }
