package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// RunID names a run: ten letters and digits of [idLetters].
type RunID string

// Config is where and how to open. Its zero value is usable with an address.
type Config struct {
	// File is the SQLite file that an empty address means.
	File string
	// Busy is how long a writer waits for another one. Default 30 s.
	Busy time.Duration
}

// Reasons that callers branch on.
var (
	// ErrNotFound says that nothing goes by that name or id.
	ErrNotFound = errors.New("not in the store")
	// ErrAmbiguous says that an abbreviation fits several runs.
	ErrAmbiguous = errors.New("fits several runs")
	// ErrNewer says that a newer version of Prony wrote the store.
	ErrNewer = errors.New("written by a newer Prony")
	// ErrForeign says that the file is no store of Prony.
	ErrForeign = errors.New("not a store of Prony")
	// ErrTaken says that a name belongs to another run.
	ErrTaken = errors.New("the name is taken")
	// ErrDiffers says that the id is there with another result.
	ErrDiffers = errors.New("the store has another result under this id")
	// ErrBaseline says that a run cannot go because a baseline rests on it.
	ErrBaseline = errors.New("a baseline rests on it")
	// ErrInput says that a name, a tag, a note, a metric or a record is not of the
	// form that is wanted; the error says which is.
	ErrInput = errors.New("not accepted")
	// ErrFew says that there are too few runs to conclude anything.
	ErrFew = errors.New("too few runs")
)

// Store is an open history. Its methods may be called at the same time.
type Store struct {
	address string // without a password
	dialect dialect
	write   *sql.DB // one connection: writers wait here, not inside the database
	read    *sql.DB
	backup  string
}

// readers is the most connections that read at the same time.
const readers = 4

// Open opens the history at an address: the path of an SQLite file, also as
// sqlite:PATH; a postgres:// or postgresql:// URL; or "" for the file that the
// configuration names. It makes what is missing and migrates what is older; see
// [ErrNewer] and [ErrForeign] for what it refuses.
func Open(ctx context.Context, address string, c Config) (*Store, error) {
	d, err := dialectOf(address, c)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{address: d.String(), dialect: d}
	if s.write, s.read, err = d.open(ctx); err != nil {
		return nil, fmt.Errorf("open store %s: %w", s.address, err)
	}
	s.write.SetMaxOpenConns(1)
	s.read.SetMaxOpenConns(readers)
	s.read.SetMaxIdleConns(readers)
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", s.address, err), s.Close())
	}
	return s, nil
}

// Address is where the store is, without a password.
func (s *Store) Address() string { return s.address }

// Backup is the copy that [Open] made before it migrated an older store; "" if
// there was no need, or on PostgreSQL, which has backups of its own.
func (s *Store) Backup() string { return s.backup }

// Close waits for what is under way and closes the database.
func (s *Store) Close() error { return errors.Join(s.read.Close(), s.write.Close()) }

// Check asks the database whether its file is whole (SQLite), and whether each
// run has all its parts. The error says what is not.
func (s *Store) Check(ctx context.Context) error {
	if err := s.dialect.check(ctx, s.read); err != nil {
		return fmt.Errorf("check store %s: %w", s.address, err)
	}
	var halves int64
	err := s.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM runs r WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.run_id = r.id)
		OR r.watched <> (SELECT COUNT(*) FROM series s WHERE s.run_id = r.id)
		OR r.findings <> (SELECT COUNT(*) FROM findings f WHERE f.run_id = r.id)`).Scan(&halves)
	if err == nil && halves > 0 {
		err = fmt.Errorf("%d runs lack a part", halves)
	}
	if err != nil {
		return fmt.Errorf("check store %s: %w", s.address, err)
	}
	return nil
}

// inTx does several writes as one.
func (s *Store) inTx(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	err = s.dialect.lock(ctx, tx)
	if err == nil {
		err = do(tx)
	}
	if err != nil {
		return errors.Join(err, rollback(tx))
	}
	return tx.Commit()
}

// inView does several reads of one moment.
func (s *Store) inView(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return err
	}
	return errors.Join(do(tx), rollback(tx))
}

// rollback ends a transaction; one whose context ended is rolled back already.
func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); !errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return nil
}

// querier is what a database and a transaction have in common.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// collect reads all rows of a query; scan reads one.
func collect[T any](ctx context.Context, q querier, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// scanned reads a row of one column.
func scanned[T any](rows *sql.Rows) (T, error) {
	var v T
	err := rows.Scan(&v)
	return v, err
}
