//go:build linux && (amd64 || arm64)

package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestServeHold starts the held server as the bench does, asks it once, and
// reads back its own account.
func TestServeHold(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := serveHold(ctx, []string{"2ms"}, in)
		in.Close()
		done <- err
	}()
	decoder := json.NewDecoder(out)
	url := announcedURL(t, out)
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	stop()
	var held map[string]float64
	if err := decoder.Decode(&held); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if held["p50"] < us(2*time.Millisecond) || held["max"] < held["p50"] {
		t.Errorf("got %v, want at least the time asked for", held)
	}
	if err := serveHold(t.Context(), []string{"soon"}, io.Discard); err == nil {
		t.Error("a bad duration was taken")
	}
}

// announcedURL reads the first line, and no byte more.
func announcedURL(t *testing.T, in io.Reader) string {
	t.Helper()
	var line strings.Builder
	for b := make([]byte, 1); ; {
		if _, err := in.Read(b); err != nil {
			t.Fatal(err)
		}
		if b[0] == '\n' {
			break
		}
		line.WriteByte(b[0])
	}
	url, ok := strings.CutPrefix(line.String(), "listening on ")
	if !ok {
		t.Fatalf("got %q", line.String())
	}
	return url
}

// TestExecute tells an exit status from a program that cannot be run, and
// charges processor time.
func TestExecute(t *testing.T) {
	o, err := execute(t.Context(), time.Minute, true, []string{"WORD=hello"}, []string{"sh", "-c", "echo $WORD; echo bad >&2; exit 3"})
	if err != nil || string(o.stdout) != "hello\n" || o.failed == nil || !strings.Contains(o.failed.Error(), "bad") {
		t.Errorf("got %+v, %v", o, err)
	}
	if _, err := execute(t.Context(), time.Minute, false, nil, []string{"/nonexistent/program"}); err == nil {
		t.Error("a program that does not exist was run")
	}
	if _, err := execute(t.Context(), 50*time.Millisecond, false, nil, []string{"sleep", "60"}); err == nil {
		t.Error("a program that does not end was waited for")
	}
	o, err = execute(t.Context(), time.Minute, false, nil, []string{"sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"})
	if err != nil || o.user+o.sys == 0 {
		t.Errorf("a busy program cost %v, %v", o.user+o.sys, err)
	}
}
