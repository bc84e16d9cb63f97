package store_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"prony/internal/store"
)

// at opens a store as another version left it, and closes it.
func at(t testing.TB, address string, version int64) {
	t.Helper()
	s, err := store.OpenAt(context.Background(), address, store.Config{}, version)
	if err != nil {
		t.Fatalf("make a store of version %d: %v", version, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNewerIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		at(t, address, store.Latest+5)
		_, err := store.Open(context.Background(), address, store.Config{})
		if !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), "its tables have version 7 and this Prony knows 2") {
			t.Errorf("got %v, want ErrNewer with both versions", err)
		}
	})
}

// TestOlderIsMigrated: what was in an older store is there afterwards, and in a
// copy beside it.
func TestOlderIsMigrated(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx := context.Background()
		old, err := store.OpenAt(ctx, address, store.Config{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		id := put(t, old, load(1, 1000))
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		s := open(t, address)
		if err := s.Tag(ctx, id, "after"); err != nil {
			t.Errorf("the tables of version 2 are not there: %v", err)
		}
		if _, err := s.Get(ctx, id); err != nil {
			t.Error(err)
		}
		if strings.HasPrefix(address, "postgres:") {
			return
		}
		if s.Backup() != address+".v1.backup" {
			t.Fatalf("got backup %q, want one beside the store", s.Backup())
		}
		if info, err := os.Stat(s.Backup()); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("got %v and %v, want a private copy", info, err)
		}
		var n int
		copied := must[*sql.DB](t)(sql.Open("sqlite", s.Backup()))
		defer copied.Close()
		if err := copied.QueryRow(`SELECT COUNT(*) FROM runs WHERE id = $1`, id).Scan(&n); err != nil || n != 1 {
			t.Errorf("the copy has %d such runs (%v), want 1", n, err)
		}
		if err := copied.QueryRow(`SELECT COUNT(*) FROM sqlite_master WHERE name = 'tags'`).Scan(&n); err != nil || n != 0 {
			t.Errorf("the copy has %d tables of version 2 (%v), want none", n, err)
		}
		if again := open(t, address); again.Backup() != "" {
			t.Errorf("got backup %q the second time, want none", again.Backup())
		}
	})
}

// TestMigratedAtOnce: several programs that find an older store all end up with
// a new one.
func TestMigratedAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		for _, version := range []int64{0, 1} {
			if version > 0 {
				if address = strings.TrimSuffix(address, ".db"); strings.HasPrefix(address, "postgres:") {
					address = postgresURL(t)
				}
				at(t, address, version)
			}
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					s, err := store.Open(context.Background(), address, store.Config{})
					if err != nil {
						t.Errorf("from version %d: %v", version, err)
						return
					}
					if err := errors.Join(s.Check(context.Background()), s.Close()); err != nil {
						t.Errorf("from version %d: %v", version, err)
					}
				})
			}
			all.Wait()
		}
	})
}

// TestForeignFiles: what is not ours is left as it is.
func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database at all\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.db")
	db := must[*sql.DB](t)(sql.Open("sqlite", other))
	if _, err := db.Exec(`CREATE TABLE runs (id TEXT)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{text, other} {
		before := must[[]byte](t)(os.ReadFile(file))
		start := time.Now()
		if _, err := store.Open(context.Background(), file, store.Config{}); !errors.Is(err, store.ErrForeign) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: got %v, want ErrForeign", file, err)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: refused after %v, want no waiting", file, took)
		}
		if after := must[[]byte](t)(os.ReadFile(file)); string(after) != string(before) {
			t.Errorf("%s was changed", file)
		}
	}
}

func TestAddresses(t *testing.T) {
	dir := t.TempDir()
	odd := filepath.Join(dir, "a b?c#d%20é", "x.db")
	for _, address := range []string{odd, "sqlite:" + odd, "sqlite://" + odd, ""} {
		s, err := store.Open(context.Background(), address, store.Config{File: odd})
		if err != nil {
			t.Fatalf("%q: %v", address, err)
		}
		if s.Address() != odd {
			t.Errorf("%q: got address %q, want %q", address, s.Address(), odd)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		info, err := os.Stat(odd)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%q: got %v and %v, want a private file of exactly that name", address, info, err)
		}
	}
	if all, _ := filepath.Glob(filepath.Join(filepath.Dir(odd), "*")); len(all) != 1 {
		t.Errorf("got files %v, want the store alone once it is closed", all)
	}
	for address, want := range map[string]string{
		"":                                   "no file is named",
		"mysql://u:secret@h/d":               `unknown kind of store "mysql://"`,
		"postgres://u:se/cret@h/d":           "cannot be read",
		"postgres://u:secret@127.0.0.1:1/d":  "postgres://u:xxxxx@127.0.0.1:1/d",
		"postgres://u:secret@h/d?sslmode=no": "sslmode",
	} {
		_, err := store.Open(context.Background(), address, store.Config{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "cret") {
			t.Errorf("%q: got %v, want %q, and no password", address, err, want)
		}
	}
}

// TestDamageIsFound: the check is one that can fail.
func TestDamageIsFound(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx := context.Background()
		s := open(t, address)
		id := put(t, s, load(1, 1))
		if _, err := s.Write().Exec(`DELETE FROM series WHERE run_id = $1 AND place = 1`, id); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(ctx); err == nil || !strings.Contains(err.Error(), "1 runs lack a part") {
			t.Errorf("got %v, want the missing part found", err)
		}
		if _, err := s.Write().Exec(`UPDATE documents SET body = $1`, []byte("no gzip")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(ctx, id); err == nil || !strings.Contains(err.Error(), "decode the result") {
			t.Errorf("got %v, want the damage told", err)
		}
	})
}

// TestOneText: the dialects' migrations say the same.
func TestOneText(t *testing.T) {
	read := func(dialect, name string) string {
		text := string(must[[]byte](t)(os.ReadFile(filepath.Join("migrations", dialect, name))))
		text = strings.NewReplacer("BYTEA", "BLOB", ` COLLATE "C"`, "").Replace(text)
		text = regexp.MustCompile(`(?m)^PRAGMA .*;$`).ReplaceAllString(text, "")
		return strings.Join(strings.Fields(text), " ")
	}
	names := must[[]os.DirEntry](t)(os.ReadDir("migrations/sqlite"))
	if len(names) != store.Latest {
		t.Errorf("got %d migrations, want %d", len(names), store.Latest)
	}
	for _, n := range names {
		if a, b := read("sqlite", n.Name()), read("postgres", n.Name()); a != b {
			t.Errorf("%s differs:\n%s\n%s", n.Name(), a, b)
		}
	}
}

// TestWriterWaits: a writer waits for another one, and not for ever.
func TestWriterWaits(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx := context.Background()
		a := open(t, address)
		b, err := store.Open(ctx, address, store.Config{Busy: 200 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		tx := must[*sql.Tx](t)(a.Write().BeginTx(ctx, nil))
		if err := a.Lock(ctx, tx); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Put(ctx, load(1, 1)); err == nil {
			t.Error("got no error while another one writes, want one after the wait")
		}
		kept := make(chan error, 1)
		patient := open(t, address)
		go func() { _, err := patient.Put(ctx, load(2, 1)); kept <- err }()
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := <-kept; err != nil {
			t.Errorf("got %v, want it kept once the other is done", err)
		}
	})
}
