//go:build unix

package store_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"prony/internal/store"
)

// writerEnv tells the test binary to be a writer on that store.
const (
	writerEnv = "PRONY_TEST_WRITER"
	prefixEnv = "PRONY_TEST_CAMPAIGN"
)

// writer puts runs without end and prints the id of each one that is kept.
func writer(address string) int {
	s, err := store.Open(context.Background(), address, store.Config{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for i := 1; ; i++ {
		campaign := os.Getenv(prefixEnv) // in the result too: equal results are one run
		id, err := s.Put(context.Background(), trial(campaign, i, campaign, float64(100+i)))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Fprintln(os.Stdout, id)
	}
}

// child is a writer in a process of its own.
type child struct {
	cmd  *exec.Cmd
	said chan store.RunID // what it has kept; closed when it has ended
	err  strings.Builder
}

func startWriter(t *testing.T, address, campaign string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0]), said: make(chan store.RunID, 1000)}
	c.cmd.Env = append(os.Environ(), writerEnv+"="+address, prefixEnv+"="+campaign)
	c.cmd.Stderr = &c.err
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		t.Fatalf("start writer: %v", err)
	}
	go func() {
		defer close(c.said)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.said <- store.RunID(lines.Text())
		}
	}()
	return c
}

// kill ends it with signal 9 and returns the ids that it had printed.
func (c *child) kill(t *testing.T) []store.RunID {
	t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatalf("kill: %v", err)
	}
	var all []store.RunID
	for id := range c.said {
		if len(id) == 10 { // the last line may be cut
			all = append(all, id)
		}
	}
	_ = c.cmd.Wait() // it was killed
	if c.err.Len() > 0 {
		t.Errorf("the writer said: %s", c.err.String())
	}
	return all
}

// TestKill kills a writer at random moments, a hundred times on each database:
// what it said was kept is kept, whole, and the store is sound. The moments are
// from before it opens the store to some writes later.
func TestKill(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 10
	}
	onBoth(t, func(t *testing.T, address string) {
		random := rand.New(rand.NewPCG(1, 2))
		kept := 0
		for round := range rounds {
			c := startWriter(t, address, fmt.Sprintf("k%d", round))
			// Most of them only after the first is kept, so that they die in a write.
			var early []store.RunID
			if round%4 > 0 {
				if id, ok := <-c.said; ok {
					early = append(early, id)
				}
			}
			<-time.After(time.Duration(random.Int64N(int64(60 * time.Millisecond))))
			ids := append(early, c.kill(t)...)
			kept += len(ids)
			wantWhole(t, address, ids, round%10 == 9 || round == 0)
		}
		if kept < rounds/2 {
			t.Errorf("%d runs were kept in %d rounds: the kills came before any write", kept, rounds)
		}
		t.Logf("%d kills, %d runs kept, none lost", rounds, kept)
	})
}

// wantWhole opens a store after a crash and reads runs that must be in it.
func wantWhole(t *testing.T, address string, ids []store.RunID, thorough bool) {
	t.Helper()
	ctx := context.Background()
	s, err := store.Open(ctx, address, store.Config{})
	if err != nil {
		t.Fatalf("open after a kill: %v", err)
	}
	defer s.Close()
	for i, id := range ids {
		r, err := s.Get(ctx, id)
		if err != nil || len(r.Trial.Observed) != 2 || len(r.Logs) != 2 || r.Plan == nil {
			t.Fatalf("run %d of %d, %s, is not whole: %v", i+1, len(ids), id, err)
		}
	}
	if !thorough {
		return
	}
	if err := s.Check(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestTwoProcesses: two writers and a reader on one store, and one writer is
// killed: the others go on.
func TestTwoProcesses(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		a, b := startWriter(t, address, "a"), startWriter(t, address, "b") // both make the tables
		var ids []store.RunID
		take := func(c *child, n int) {
			t.Helper()
			for range n {
				id, ok := <-c.said
				if !ok {
					t.Fatalf("a writer ended: %s", c.err.String())
				}
				ids = append(ids, id)
			}
		}
		take(a, 1)
		s := open(t, address)
		for range 5 {
			take(a, 2)
			take(b, 2)
			if l := must[store.List](t)(s.List(context.Background(), store.Filter{}, store.Page{Limit: 1000})); l.Total < int64(len(ids)) {
				t.Errorf("the reader sees %d runs, want %d at least", l.Total, len(ids))
			}
		}
		ids = append(ids, a.kill(t)...)
		take(b, 5)
		put(t, s, load(1, 1)) // this process writes too
		ids = append(ids, b.kill(t)...)
		wantWhole(t, address, ids, true)
	})
}
