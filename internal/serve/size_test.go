package serve_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"prony/internal/result"
	"prony/internal/store"
)

// full is a server over a store with n runs: one that was put, and copies of its
// rows, since putting each of them takes a minute.
func full(t testing.TB, n int) *fixture {
	t.Helper()
	file := filepath.Join(t.TempDir(), "store.db")
	s, err := store.Open(context.Background(), file, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	if _, err := s.Put(context.Background(), store.Record{Trial: result.Trial{Run: run(0, 1000)}}); err != nil {
		t.Fatal(err)
	}
	if n > 1 {
		copyRun(t, file, n-1)
	}
	return startOn(t, config(), s)
}

// copyRun adds copies of the one run that a store has, whatever its columns.
func copyRun(t testing.TB, file string, n int) {
	t.Helper()
	db, err := sql.Open("sqlite", file) // the driver that store brought along
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const id = `CAST(1000000000 + n.i AS TEXT)`
	changed := map[string]map[string]string{
		"runs":     {"id": id, "digest": id, "started": "started + n.i * 60000000000"},
		"findings": {"run_id": id},
		"words":    {"run_id": id},
	}
	for _, table := range []string{"runs", "findings", "words"} {
		rows, err := db.Query(`SELECT name FROM pragma_table_info('` + table + `')`)
		if err != nil {
			t.Fatal(err)
		}
		into, from := "", ""
		for rows.Next() {
			var column string
			if err := rows.Scan(&column); err != nil {
				t.Fatal(err)
			}
			value := changed[table][column]
			if value == "" {
				value = "x." + column
			}
			into, from = into+", "+column, from+", "+value
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec(fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO %s (%s) SELECT %s FROM %s x, n`,
			n, table, into[2:], from[2:], table))
		if err != nil {
			t.Fatalf("copy %s: %v", table, err)
		}
	}
	if _, err := db.Exec(`ANALYZE`); err != nil {
		t.Fatal(err)
	}
}

// listMost is how long a page of the list may take with 10,000 runs; the
// benchmark says what it takes.
const listMost = 100 * time.Millisecond

// TestListOfTenThousand: over the whole way, from a request to the last byte of
// the answer. The best of several attempts counts, since the machine may be busy.
func TestListOfTenThousand(t *testing.T) {
	if raceDetector {
		t.Skip("it is about time")
	}
	f := full(t, 10_000)
	var l store.List
	f.call(t, "GET", "/api/runs?limit=50", "", 200, &l)
	if len(l.Rows) != 50 || l.Total != 10_000 {
		t.Fatalf("got %d of %d runs", len(l.Rows), l.Total)
	}
	for _, query := range []string{"", "?text=no+such+thing", "?verdict=invalid", "?experiment=checkout&limit=100"} {
		best := time.Hour
		for range 10 {
			before := time.Now()
			if a := f.send(t, f.request(t, "GET", "/api/runs"+query, "")); a.StatusCode != 200 {
				t.Fatal(a.body)
			}
			if best = min(best, time.Since(before)); best < listMost/2 {
				break
			}
		}
		if best > listMost {
			t.Errorf("%q: a page took %v at best, want at most %v", query, best, listMost)
		}
		t.Logf("%q: %v", query, best)
	}
}

// BenchmarkList is a page of the list, and how it grows.
func BenchmarkList(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := full(b, n)
			for b.Loop() {
				resp, err := http.Get(f.http.URL + "/api/runs")
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 {
					b.Fatal(resp.Status, err)
				}
				resp.Body.Close()
			}
		})
	}
}
