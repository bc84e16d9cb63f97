package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
)

// someProgress is the state of a load after that much of ten seconds.
func someProgress(elapsed time.Duration) result.Progress {
	h := hdr.MustNew(hdr.Config{})
	h.RecordN(int64(2*time.Millisecond), 5000)
	return result.Progress{Elapsed: elapsed, Total: 10 * time.Second, Completed: 5000, Failed: 3, Open: 64,
		Interval: result.Interval{LengthUS: 1e6, Completed: 5000, Response: result.Pack(h)}}
}

func TestProgressWithoutTerminal(t *testing.T) {
	var out bytes.Buffer
	tell := newProgress(&out)
	for i := range 3 {
		tell(someProgress(time.Duration(i+1)*time.Second), 0.25)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 4 || lines[3] != "" {
		t.Fatalf("got %q, want three lines", lines)
	}
	for i, want := range []string{" 10%    1s", " 20%    2s", " 30%    3s"} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("got %q, want it to begin with %q", lines[i], want)
		}
		if !strings.HasSuffix(lines[i], "errors 3  open 64  generator 25%") {
			t.Errorf("got %q", lines[i])
		}
	}
	if strings.ContainsAny(out.String(), "\r\x1b") {
		t.Errorf("got %q, want no control characters", out.String())
	}
}

// TestProgressToPipe: a file that is no terminal gets lines too.
func TestProgressToPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	newProgress(w)(someProgress(10*time.Second), -1)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(got, []byte("100%   10s")) || bytes.ContainsAny(got, "\r\x1b") || bytes.Contains(got, []byte("generator")) {
		t.Errorf("got %q, want a line without control characters and without a share nobody knows", got)
	}
}

func TestProgressQuiet(t *testing.T) {
	s := looks{quiet: true}.open(streams{err: os.Stderr}, nil, plan.Load{}, func() {}, nil)
	defer s.close(os.Stderr)
	if s.events.Progress != nil || s.screen != nil {
		t.Error("got a printer, want none")
	}
}

// TestProgressBeforeTheStart: a load that never began has no negative time.
func TestProgressBeforeTheStart(t *testing.T) {
	var out bytes.Buffer
	newProgress(&out)(someProgress(-2*time.Millisecond), -1)
	if got, want := out.String(), "  0%    0s"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want it to begin with %q", got, want)
	}
}

func TestStyleWithoutTerminal(t *testing.T) {
	if style(&bytes.Buffer{}).Colour {
		t.Error("got colours in a buffer")
	}
}
