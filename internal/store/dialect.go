package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

// dialect is what differs between the two databases.
type dialect interface {
	String() string // the address, without a password
	// open makes the pools for writing and for reading; nothing is in doubt about
	// whose database it is when it returns.
	open(ctx context.Context) (write, read *sql.DB, err error)
	// migrations are the dialect's name, folder and options for goose.
	migrations() (goose.Dialect, string, []goose.ProviderOption, error)
	// lock makes a transaction that has just begun the only one that writes.
	lock(ctx context.Context, tx *sql.Tx) error
	// backup copies the database aside before it changes from a version; it
	// returns where the copy is, "" if this dialect makes none.
	backup(ctx context.Context, db *sql.DB, version int64) (string, error)
	check(ctx context.Context, db *sql.DB) error
}

var (
	_ dialect = sqlite{}
	_ dialect = postgres{}
)

// defaultBusy is how long a writer waits for another one.
const defaultBusy = 30 * time.Second

// dialectOf reads an address.
func dialectOf(address string, c Config) (dialect, error) {
	busy := c.Busy
	if busy <= 0 {
		busy = defaultBusy
	}
	scheme, _, ok := strings.Cut(address, "://")
	if ok && scheme != "sqlite" {
		return postgresOf(address, scheme, busy)
	}
	file := strings.TrimPrefix(strings.TrimPrefix(address, "sqlite:"), "//")
	if file == "" {
		file = c.File
	}
	if file == "" {
		return nil, errors.New("no file is named; want a path or a postgres:// URL")
	}
	return sqlite{file: file, busy: busy}, nil
}

func postgresOf(address, scheme string, busy time.Duration) (dialect, error) {
	if scheme != "postgres" && scheme != "postgresql" {
		return nil, fmt.Errorf("unknown kind of store %q, want a path, sqlite:PATH or postgres://HOST/DATABASE", scheme+"://")
	}
	u, err := url.Parse(address)
	if err != nil {
		// The error would repeat the address, and with it the password.
		return nil, errors.New("the postgres URL cannot be read; characters such as @ and / in a password are written %40 and %2F")
	}
	return postgres{url: u, busy: busy}, nil
}
