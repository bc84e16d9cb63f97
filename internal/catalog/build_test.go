//go:build unix

package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"prony/internal/catalog"
)

// buildEntry is an entry whose build is the command.
func buildEntry(t *testing.T, command string) *catalog.Entry {
	t.Helper()
	c, err := catalog.Open(folder(map[string]string{"e/in": "x", "e/target.yaml": "description: d\nkind: app\nbuild: {command: '" + command +
		"', inputs: [in], output: out}\nrun: {command: '${output}'}\nroutes: [{path: /}]\nparameters: {n: {default: 1, doc: d}}\n"}))
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.Entry("e")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// buildOf is the build of an entry for some parameters.
func buildOf(t *testing.T, e *catalog.Entry, cache string, params map[string]string) *catalog.BuildCommand {
	t.Helper()
	_, command, err := e.Render(params, place(func(p *catalog.Place) { p.Cache = cache }))
	if err != nil {
		t.Fatal(err)
	}
	return command.Build
}

// eventually waits for something that other processes do.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !happened() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within 20s", what)
		case <-tick.C:
		}
	}
}

// TestBuildInterrupted ends a build: the command and what it started are gone,
// and nothing is left in the cache that a later build would take for a result.
func TestBuildInterrupted(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	child := filepath.Join(dir, "child")
	e := buildEntry(t, `sh -c "sleep 600 & echo \$! >`+child+`.new; mv `+child+`.new `+child+`; wait"`)
	ctx, cancel := context.WithCancel(t.Context())
	build, ended := buildOf(t, e, cache, nil), make(chan error, 1)
	go func() { ended <- build.Build(ctx) }()
	eventually(t, "the build starts", func() bool { _, err := os.Stat(child); return err == nil })
	text, err := os.ReadFile(child)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "build: sh -c ") {
		t.Errorf("got error %v, want one of an interrupted build", err)
	}
	eventually(t, "what the build started ends", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) })
	if left, _ := filepath.Glob(filepath.Join(cache, "e", "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// zombie reports whether a process has ended and only waits to be reaped by
// whoever inherited it.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(text), ") Z ")
}

// TestBuildsTakeTurns runs builds of two entries' worth of parameters at a time:
// each marks its time, and no two marks overlap.
func TestBuildsTakeTurns(t *testing.T) {
	busy := filepath.Join(t.TempDir(), "busy")
	e := buildEntry(t, `sh -c "mkdir `+busy+` && sleep 0.02 && rmdir `+busy+` && touch out" ${n}`)
	cache := t.TempDir()
	const builds = 4
	ended := make(chan error, builds)
	for n := range builds {
		build := buildOf(t, e, cache, map[string]string{"n": fmt.Sprint(n)})
		go func() { ended <- build.Build(t.Context()) }()
	}
	for range builds {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if made, _ := filepath.Glob(filepath.Join(cache, "e", "*", "out")); len(made) != builds {
		t.Errorf("got results %q, want %d", made, builds)
	}
}

// TestBuildWaitsInterruptibly ends a build that waits for another one.
func TestBuildWaitsInterruptibly(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	started := filepath.Join(dir, "started")
	e := buildEntry(t, `sh -c "echo >`+started+`; exec sleep 600" ${n}`)
	first, endFirst := context.WithCancel(t.Context())
	defer endFirst()
	build, ended := buildOf(t, e, cache, nil), make(chan error, 1)
	go func() { ended <- build.Build(first) }()
	eventually(t, "the first build starts", func() bool { _, err := os.Stat(started); return err == nil })
	second, endSecond := context.WithCancel(t.Context())
	endSecond()
	err := buildOf(t, e, cache, map[string]string{"n": "2"}).Build(second)
	if want := "build: wait for another build: context canceled"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %q", err, want)
	}
	endFirst()
	<-ended
}

func TestThere(t *testing.T) {
	e, cache := buildEntry(t, "touch ${output} ${n}"), t.TempDir()
	build := buildOf(t, e, cache, nil)
	if build.There() {
		t.Error("the result is there before the build")
	}
	if err := build.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !buildOf(t, e, cache, nil).There() {
		t.Error("the result is not there after the build")
	}
	if buildOf(t, e, cache, map[string]string{"n": "2"}).There() {
		t.Error("another build has the result")
	}
}
