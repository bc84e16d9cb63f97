package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	driver "modernc.org/sqlite" // registers "sqlite"
)

// sqlite is one file.
type sqlite struct {
	file string
	busy time.Duration
}

// applicationID marks an SQLite file as ours ("Pron"); the first migration
// writes it into the file's header.
const applicationID = 0x50726f6e

func (d sqlite) String() string { return d.file }

// open makes the file if there is none, with no access for others: results tell
// of machines and addresses.
func (d sqlite) open(ctx context.Context) (write, read *sql.DB, err error) {
	if err := os.MkdirAll(filepath.Dir(d.file), 0o700); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(d.file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, err
	}
	if err := f.Close(); err != nil {
		return nil, nil, err
	}
	if err := d.ours(ctx); err != nil {
		return nil, nil, err
	}
	// Write transactions take the lock at once: one that begins by reading cannot
	// wait for it later (SQLITE_BUSY).
	if write, err = sql.Open("sqlite", d.dsn("_txlock=immediate", "_pragma=synchronous(FULL)", "_pragma=foreign_keys(1)")); err != nil {
		return nil, nil, err
	}
	if err := d.wal(ctx, write); err != nil {
		return nil, nil, errors.Join(err, write.Close())
	}
	if read, err = sql.Open("sqlite", d.dsn("_pragma=query_only(1)")); err != nil {
		return nil, nil, errors.Join(err, write.Close())
	}
	return write, read, nil
}

func (d sqlite) dsn(params ...string) string {
	params = append([]string{fmt.Sprintf("_pragma=busy_timeout(%d)", d.busy.Milliseconds())}, params...)
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: d.file}).EscapedPath(), RawQuery: strings.Join(params, "&")}).String()
}

// ours refuses a database of something else, before anything is written.
func (d sqlite) ours(ctx context.Context) error {
	db, err := sql.Open("sqlite", d.dsn("_pragma=query_only(1)"))
	if err != nil {
		return err
	}
	defer db.Close()
	var id, tables int64
	if err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM sqlite_master WHERE name NOT LIKE 'goose%' AND name NOT LIKE 'sqlite%'`).Scan(&tables); err != nil {
		if code(err) == sqliteNotADB {
			return ErrForeign
		}
		return err
	}
	if err := db.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&id); err != nil {
		return err
	}
	if tables > 0 && id != applicationID {
		return fmt.Errorf("%w: it is a database of something else", ErrForeign)
	}
	return nil
}

// wal turns the write-ahead log on, where readers do not wait for the writer.
// The change needs the file alone, and SQLite does not wait for that, so that two
// programs which make a store at the same moment would fail without patience.
func (d sqlite) wal(ctx context.Context, db *sql.DB) error {
	var mode string
	err := patiently(ctx, busy, func() error { return db.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode) })
	if err == nil && mode != "wal" {
		err = fmt.Errorf("the file system allows no write-ahead log (journal mode %s); keep the store on a local disk", mode)
	}
	return err
}

// Primary result codes of SQLite (sqlite.org/rescode.html).
const (
	sqliteBusy   = 5
	sqliteLocked = 6
	sqliteNotADB = 26
)

// code is the primary result code of an error of SQLite; 0 if it is none.
func code(err error) int {
	var e *driver.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

func busy(err error) bool { return code(err) == sqliteBusy || code(err) == sqliteLocked }

func (d sqlite) migrations() (goose.Dialect, string, []goose.ProviderOption, error) {
	return goose.DialectSQLite3, "migrations/sqlite", nil, nil
}

// lock has nothing to do: the transaction began by taking the file.
func (d sqlite) lock(context.Context, *sql.Tx) error { return nil }

// backup writes a consistent copy beside the file. A copy of that version that
// is there already is kept: it is the older one.
func (d sqlite) backup(ctx context.Context, db *sql.DB, version int64) (string, error) {
	name := fmt.Sprintf("%s.v%d.backup", d.file, version)
	if _, err := os.Stat(name); err == nil {
		name = fmt.Sprintf("%s.v%d.%s.backup", d.file, version, time.Now().UTC().Format("20060102T150405.000000000"))
	}
	// Written under another name first: half a copy must not look like one.
	part := fmt.Sprintf("%s.%d.part", name, os.Getpid())
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if _, err := db.ExecContext(ctx, `VACUUM INTO $1`, part); err != nil {
		return "", errors.Join(err, os.RemoveAll(part))
	}
	return name, errors.Join(os.Chmod(part, 0o600), os.Rename(part, name))
}

func (d sqlite) check(ctx context.Context, db *sql.DB) error {
	said, err := collect(ctx, db, scanned[string], `PRAGMA integrity_check`)
	if err != nil {
		return err
	}
	if len(said) != 1 || said[0] != "ok" {
		return fmt.Errorf("integrity check: %s", strings.Join(said, "; "))
	}
	return nil
}
