package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/pressly/goose/v3"
)

//go:embed migrations
var migrationFiles embed.FS

// latest is the version of the tables that this code reads and writes: the
// number of the last migration.
const latest = 2

// Attempts of what another program may be doing at the same moment.
const (
	attempts     = 50
	attemptPause = 100 * time.Millisecond
)

// patiently tries again while an error may pass, until attempts are used up or
// the context ends.
func patiently(ctx context.Context, passing func(error) bool, do func() error) error {
	var err error
	for range attempts {
		if err = do(); err == nil || !passing(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(attemptPause):
		}
	}
	return err
}

// always takes every error for one that may pass.
func always(error) bool { return true }

func (s *Store) migrate(ctx context.Context) error { return s.migrateTo(ctx, latest) }

// migrateTo brings the tables to a version. When another program does the same
// at the same moment, one of the two finds the tables made; the next look shows
// that nothing is left to do.
func (s *Store) migrateTo(ctx context.Context, version int64) error {
	name, dir, options, err := s.dialect.migrations()
	if err != nil {
		return err
	}
	files, err := fs.Sub(migrationFiles, dir)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(name, s.write, files, append(options, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))...)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	passing := func(err error) bool { return !errors.Is(err, ErrNewer) }
	return patiently(ctx, passing, func() error { return s.step(ctx, p, version) })
}

func (s *Store) step(ctx context.Context, p *goose.Provider, version int64) error {
	now, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read its version: %w", err)
	}
	if now > version {
		return fmt.Errorf("%w: its tables have version %d and this Prony knows %d; use the newer Prony, or another store", ErrNewer, now, version)
	}
	if now == version {
		return nil
	}
	if now > 0 {
		if err := s.aside(ctx, p, now); err != nil {
			return fmt.Errorf("copy it aside before migrating it from version %d to %d: %w", now, version, err)
		}
	}
	if _, err := p.UpTo(ctx, version); err != nil {
		return fmt.Errorf("migrate it from version %d to %d: %w", now, version, err)
	}
	return nil
}

// aside copies the database. The copy counts only if nobody else migrated in
// between.
func (s *Store) aside(ctx context.Context, p *goose.Provider, version int64) error {
	file, err := s.dialect.backup(ctx, s.write, version)
	if err != nil {
		return err
	}
	now, err := p.GetDBVersion(ctx)
	if err == nil && now != version {
		err = fmt.Errorf("another program has brought it to version %d", now)
	}
	if err != nil && file != "" {
		return errors.Join(err, os.Remove(file))
	}
	s.backup = file
	return err
}
