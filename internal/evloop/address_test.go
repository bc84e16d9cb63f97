package evloop_test

import (
	"errors"
	"testing"
	"time"

	"prony/internal/evloop"
)

func TestParseAddress(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     string // "" for an error
		loopback bool
	}{
		{"IPv4", "127.0.0.1:80", "127.0.0.1:80", true},
		{"all of 127/8", "127.9.9.9:80", "127.9.9.9:80", true},
		{"elsewhere", "192.0.2.1:8080", "192.0.2.1:8080", false},
		{"IPv6", "[::1]:80", "[::1]:80", true},
		{"IPv4 in IPv6", "[::ffff:127.0.0.1]:80", "[::ffff:127.0.0.1]:80", true},
		{"zone", "[fe80::1%lo]:80", "[fe80::1%lo]:80", false},
		{"unix socket", "unix:/run/app.sock", "unix:/run/app.sock", true},
		{"abstract name", "unix:@app", "unix:@app", true},
		{"no path", "unix:", "", false},
		{"a name", "localhost:80", "", false},
		{"no port", "127.0.0.1", "", false},
		{"port too large", "127.0.0.1:65536", "", false},
		{"nothing", "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := evloop.ParseAddress(c.in)
			if c.want == "" {
				if err == nil {
					t.Fatalf("got %s, want an error", a)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := a.String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := a.IsLoopback(); got != c.loopback {
				t.Errorf("loopback: got %v, want %v", got, c.loopback)
			}
		})
	}
}

func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"127.0.0.1:80", "[::1]:0", "unix:/a", "unix:@", "[fe80::1%eth0]:1", ":80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := evloop.ParseAddress(s)
		if err != nil {
			return
		}
		again, err := evloop.ParseAddress(a.String())
		if err != nil {
			t.Fatalf("%q is printed as %q, which is refused: %v", s, a, err)
		}
		if again.TCP != a.TCP || again.Unix != a.Unix {
			t.Errorf("%q is printed as %q, which is read as %q", s, a, again)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		kind evloop.Kind
		o    evloop.Options
		want error // nil: any
	}{
		{"no slots", evloop.Goroutines, evloop.Options{}, nil},
		{"less than no slots", evloop.Goroutines, evloop.Options{Slots: -1}, nil},
		{"a kind nobody knows", "kqueue", evloop.Options{Slots: 1}, evloop.ErrKind},
		{"timestamps without epoll", evloop.Goroutines, evloop.Options{Slots: 1, KernelTimestamps: true}, evloop.ErrKind},
		{"timestamps with io_uring", evloop.IOURing, evloop.Options{Slots: 1, KernelTimestamps: true}, evloop.ErrKind},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := evloop.Open(c.kind, c.o, &counter{})
			if err == nil {
				_ = l.Release()
				t.Fatal("got a loop, want an error")
			}
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestProbe(t *testing.T) {
	kind, why := evloop.Probe()
	if why == "" {
		t.Error("Probe gives no reason")
	}
	if again, _ := evloop.Probe(); again != kind {
		t.Errorf("Probe says %s, then %s", kind, again)
	}
	for _, k := range []evloop.Kind{evloop.Auto, "", kind} {
		l, err := evloop.Open(k, evloop.Options{Slots: 1}, &counter{})
		if err != nil {
			t.Fatalf("Probe promised %s, but: %v", kind, err)
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
}

func TestClock(t *testing.T) {
	before := evloop.Now()
	wall := evloop.Wall(before)
	if d := time.Since(wall); d < 0 || d > time.Minute {
		t.Errorf("now was %v ago on the wall clock", d)
	}
	if after := evloop.Now(); after < before {
		t.Errorf("the clock went back from %d to %d", before, after)
	}
}
