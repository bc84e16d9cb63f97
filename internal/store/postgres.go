package store

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// postgres is a database on a server. Its tables are in the schema "prony",
// unless the URL has a search_path.
type postgres struct {
	url  *url.URL
	busy time.Duration
}

const postgresSchema = "prony"

func (d postgres) String() string { return d.url.Redacted() }

func (d postgres) open(ctx context.Context) (write, read *sql.DB, err error) {
	c, err := pgx.ParseConfig(d.url.String())
	if err != nil {
		return nil, nil, err // pgx leaves the password out
	}
	c.RuntimeParams["lock_timeout"] = strconv.FormatInt(d.busy.Milliseconds(), 10)
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "prony"
	}
	own := c.RuntimeParams["search_path"] == ""
	if own {
		c.RuntimeParams["search_path"] = postgresSchema
	}
	write, read = stdlib.OpenDB(*c), stdlib.OpenDB(*c)
	if err = write.PingContext(ctx); err == nil && own {
		// Two that do this at once may both find none.
		err = patiently(ctx, always, func() error {
			_, err := write.ExecContext(ctx, `CREATE SCHEMA IF NOT EXISTS `+postgresSchema)
			return err
		})
	}
	if err != nil {
		_, _ = write.Close(), read.Close() // the reason is what matters
		return nil, nil, err
	}
	return write, read, nil
}

// migrations hold a lock on the server, so that one of several programs does
// them.
func (d postgres) migrations() (goose.Dialect, string, []goose.ProviderOption, error) {
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, uint64(max(d.busy/time.Second, 1))))
	if err != nil {
		return "", "", nil, fmt.Errorf("make the lock of the migrations: %w", err)
	}
	return goose.DialectPostgres, "migrations/postgres", []goose.ProviderOption{goose.WithSessionLocker(locker)}, nil
}

// lock holds a lock of the database until the transaction ends, so that what it
// has read is still so when it writes. Readers do not wait.
func (d postgres) lock(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(applicationID))
	return err
}

// backup makes none: a server has its own, and each migration is a transaction.
func (d postgres) backup(context.Context, *sql.DB, int64) (string, error) { return "", nil }

func (d postgres) check(ctx context.Context, db *sql.DB) error { return db.PingContext(ctx) }
