package testserver_test

import (
	"bufio"
	"io"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"prony/internal/testserver"
)

// together asks for a path n times at once, each on a connection of its own, and
// returns how long it took until all had their answer.
func together(t *testing.T, s *testserver.Server, path string, n int) time.Duration {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: n, MaxIdleConnsPerHost: n}}
	defer client.CloseIdleConnections()
	start := time.Now()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			answer, err := client.Get(s.URL() + path)
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			if body, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != 200 || string(body) != "ok\n" {
				t.Errorf("got %d %q, %v, want the default answer", answer.StatusCode, body, err)
			}
		})
	}
	all.Wait()
	return time.Since(start)
}

// TestLimits: times can only be longer than the limit makes them.
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		name, path string
		at         int
		least      time.Duration
	}{
		{"a lock, alone", "/lock/20ms", 1, 20 * time.Millisecond},
		{"a lock", "/lock/20ms", 4, 80 * time.Millisecond},
		{"a pool with room", "/pool/4x20ms", 4, 20 * time.Millisecond},
		{"a pool of two", "/pool/2x20ms", 6, 60 * time.Millisecond},
		{"work", "/work/20ms", 1, 20 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, testserver.Config{})
			if got := together(t, s, tt.path, tt.at); got < tt.least {
				t.Errorf("got all %d answers after %v, want at least %v", tt.at, got, tt.least)
			}
			eventually(t, "all answers are booked", func() bool { return s.Stats().Responses == int64(tt.at) })
		})
	}
}

// TestPoolIsNoLock: as many as the pool holds wait at the same time. Each would
// take a minute of them after the other.
func TestPoolIsNoLock(t *testing.T) {
	s := start(t, testserver.Config{})
	if got := together(t, s, "/pool/100x600ms", 100); got > 30*time.Second {
		t.Errorf("got 100 answers after %v, want them to wait together", got)
	}
}

// TestAging: an answer takes longer the older the server is.
func TestAging(t *testing.T) {
	s := start(t, testserver.Config{})
	c := dial(t, s)
	br := bufio.NewReader(c)
	get(t, c, br, "/aging/0s+10s")
	time.Sleep(20 * time.Millisecond) //house:sleep the age of the server is what is asked for
	start := time.Now()
	if answer, _ := get(t, c, br, "/aging/0s+10s"); answer.StatusCode != 200 {
		t.Fatalf("got status %d", answer.StatusCode)
	}
	if got := time.Since(start); got < 200*time.Millisecond {
		t.Errorf("got an answer after %v at an age of 20 ms, want at least 200 ms", got)
	}
}

// TestHold: what has been held stays.
func TestHold(t *testing.T) {
	s := start(t, testserver.Config{})
	c := dial(t, s)
	br := bufio.NewReader(c)
	inUse := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := inUse()
	for range 20 {
		get(t, c, br, "/hold/1MiB")
	}
	if got := int64(inUse() - before); got < 19<<20 {
		t.Errorf("got %d bytes more in use, want about 20 MiB", got)
	}
	runtime.KeepAlive(s)
}

// TestLimitsEnd: a server that ends does not wait for those that wait.
func TestLimitsEnd(t *testing.T) {
	for _, path := range []string{"/lock/10m", "/pool/2x10m", "/work/10m", "/aging/10m+1s"} {
		t.Run(path, func(t *testing.T) {
			s := start(t, testserver.Config{})
			for range 4 {
				write(t, dial(t, s), "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
			}
			eventually(t, "all have arrived", func() bool { return s.Stats().Requests == 4 })
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if got := s.Stats(); got.Aborted != 4 {
				t.Errorf("got %d requests cut off, want 4", got.Aborted)
			}
		})
	}
}

// TestAcceptEvery: connections are taken one after the other.
func TestAcceptEvery(t *testing.T) {
	s := start(t, testserver.Config{AcceptEvery: 20 * time.Millisecond})
	begin := time.Now()
	for range 4 {
		c := dial(t, s)
		get(t, c, bufio.NewReader(c), "/")
	}
	if got := time.Since(begin); got < 60*time.Millisecond {
		t.Errorf("got four connections served after %v, want at least 60 ms", got)
	}
}
