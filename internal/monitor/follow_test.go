package monitor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"prony/internal/monitor"
	"prony/internal/result"
)

// changing is a service on a machine, and what it does second by second.
func changing(w *world) []func() {
	const group = "0::/app\n"
	return []func(){
		func() { before(w, group, 2) }, func() { after(w, group, 2) }, nothing,
	}
}

func target() monitor.Request {
	return monitor.Request{Host: "far", Every: time.Second, Services: []monitor.Target{{Name: "api", PIDs: []int{20}, Cgroup: "app"}}}
}

// normal orders what was watched and takes away what only one way of watching
// has: its own cost, and facts of the clock. Files are read one after another
// in no certain order, so only the names of things order them.
func normal(t *testing.T, all []result.Observed) string {
	t.Helper()
	for i := range all {
		delete(all[i].Facts, "clock_bound_us")
		delete(all[i].Series, monitor.WatchCores)
		delete(all[i].Totals, monitor.WatchCores)
		delete(all[i].Unknown, string(monitor.WatchCores))
		if len(all[i].Facts) == 0 {
			all[i].Facts = nil
		}
		if len(all[i].Unknown) == 0 {
			all[i].Unknown = nil
		}
	}
	slices.SortFunc(all, func(a, b result.Observed) int { return strings.Compare(a.Kind+a.Name, b.Kind+b.Name) })
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// same shows the first line in which two texts differ.
func same(t *testing.T, name, got, want string) {
	t.Helper()
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s: line %d: got %s, want %s; before it %s", name, i, a[i], b[i], b[max(0, i-12):i])
		}
	}
	if len(a) != len(b) {
		t.Errorf("%s: got %d lines, want %d", name, len(a), len(b))
	}
}

// TestFollowEqualsWatch watches the same machine directly and over a pipe.
func TestFollowEqualsWatch(t *testing.T) {
	linux(t)
	w := newWorld(t)
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		served := make(chan error, 1)
		steps := changing(w)
		steps[0]()
		start := time.Now()
		go func() { served <- monitor.ServeRoot(t.Context(), far, far, w.root) }()
		followed, err := monitor.Follow(t.Context(), near, target())
		if err != nil {
			t.Fatal(err)
		}
		request := target()
		request.Root = w.root
		local, err := monitor.Watch(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps[1:] {
			time.Sleep(500 * time.Millisecond) //house:sleep the clock of the bubble
			step()
			time.Sleep(500 * time.Millisecond) //house:sleep the clock of the bubble
			synctest.Wait()
		}
		live := followed.Live()
		a, b := followed.Stop(), local.Stop()
		if err := <-served; err != nil {
			t.Errorf("the far side: %v", err)
		}
		same(t, "cut", normal(t, a.Cut(start, 0, 2*time.Second)), normal(t, b.Cut(start, 0, 2*time.Second)))
		if !reflect.DeepEqual(a.Environment, b.Environment) {
			t.Errorf("environment: got %+v, want %+v", a.Environment, b.Environment)
		}
		api := find(t, live, result.OfService, "api")
		if len(api.AtUS) != 1 || api.AtUS[0] != 2e6 || len(api.Series[result.Processes]) != 1 {
			t.Errorf("live: got %+v, want the one sample of second 2", api)
		}
		again := throughJSON(t, a)
		same(t, "JSON", normal(t, again.Cut(start, 0, 2*time.Second)), normal(t, b.Cut(start, 0, 2*time.Second)))
	})
}

func throughJSON(t *testing.T, r monitor.Recording) monitor.Recording {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var again monitor.Recording
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if again.Schema != monitor.RecordingSchema {
		t.Errorf("schema: got %d, want %d", again.Schema, monitor.RecordingSchema)
	}
	return again
}

// TestFollowBreaks: what was watched until then is kept, and the end is told.
func TestFollowBreaks(t *testing.T) {
	linux(t)
	w := newWorld(t)
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- monitor.ServeRoot(ctx, far, far, w.root) }()
		start := time.Now()
		followed, err := monitor.Follow(t.Context(), near, monitor.Request{Host: "far"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2500 * time.Millisecond) //house:sleep the clock of the bubble
		cancel()
		<-served
		host := find(t, followed.Stop().Cut(start, 0, 3*time.Second), result.OfHost, "far")
		if len(host.AtUS) < 2 || !strings.Contains(host.Unknown["watch"], "ended") {
			t.Errorf("got %v, unknown %v, want two samples and the reason", host.AtUS, host.Unknown)
		}
	})
}

// TestFollowRefused: the far side's reason arrives, and answers that make no
// sense are an error.
func TestFollowRefused(t *testing.T) {
	linux(t)
	for _, c := range []struct {
		name   string
		answer string // "" is a real far side
		want   string
	}{
		{"another version", `{"schema":99,"environment":{}}`, "version"},
		{"a shell", "bash: prony: command not found", "command not found"},
		{"an error", `{"schema":1,"error":"no such thing"}`, "no such thing"},
		{"nothing", "", "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			near, far := net.Pipe()
			go func() {
				_, _ = bufio.NewReader(far).ReadString('\n')
				_, _ = far.Write([]byte(c.answer + "\n"))
				_ = far.Close()
			}()
			if _, err := monitor.Follow(t.Context(), near, monitor.Request{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestServeRefuses(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", "EOF"},
		{"no request", `{"ping":1}`, "request"},
		{"another version", `{"schema":7,"request":{}}`, "version"},
		{"no JSON", "hello", "hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			err := monitor.Serve(t.Context(), strings.NewReader(c.in), &out)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(out.String(), `"error"`) {
				t.Errorf("got %v and %q, want an error with %q on both sides", err, out.String(), c.want)
			}
		})
	}
}

// disk reads files below a root, as over ssh.
type disk struct{ root string }

func (d disk) ReadFile(_ context.Context, name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(d.root, name))
}

// folders can list and follow links besides.
type folders struct{ disk }

func (d folders) ReadDir(_ context.Context, name string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(d.root, name))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (d folders) ReadLink(_ context.Context, name string) (string, error) {
	return os.Readlink(filepath.Join(d.root, name))
}

// batch can read many files at once besides.
type batch struct {
	folders
	singles *int // files that were asked for one by one
}

func (d batch) ReadFile(ctx context.Context, name string) ([]byte, error) {
	*d.singles++
	return d.disk.ReadFile(ctx, name)
}

func (d batch) ReadFiles(_ context.Context, names []string) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, name := range names {
		if b, err := os.ReadFile(filepath.Join(d.root, name)); err == nil {
			all[name] = b
		}
	}
	return all, nil
}

// TestWatchFilesEqualsWatch reads the same machine through three kinds of far
// files.
func TestWatchFilesEqualsWatch(t *testing.T) {
	linux(t)
	singles := 0
	for _, c := range []struct {
		name  string
		files func(disk) monitor.Files
		whole bool // all that a local watch has
	}{
		{"files alone", func(d disk) monitor.Files { return d }, false},
		{"with folders", func(d disk) monitor.Files { return folders{d} }, true},
		{"in batches", func(d disk) monitor.Files { return batch{folders{d}, &singles} }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			want := normal(t, w.watch(target(), changing(w)...))
			got := watchFiles(t, c.files(disk{w.root}), changing(w))
			if c.whole {
				same(t, "cut", normal(t, got), want)
				return
			}
			api := find(t, got, result.OfService, "api")
			figures(t, api, map[result.Metric][]float64{result.CPUCores: {0.9, 0}, result.OOMKills: {2, 0}, result.Processes: {1, 1}})
		})
	}
	if singles > 150 {
		t.Errorf("in batches, %d files were asked for one by one", singles)
	}
}

func watchFiles(t *testing.T, files monitor.Files, steps []func()) []result.Observed {
	t.Helper()
	var all []result.Observed
	synctest.Test(t, func(t *testing.T) {
		steps[0]()
		start := time.Now()
		watcher, err := monitor.WatchFiles(t.Context(), target(), files)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps[1:] {
			time.Sleep(500 * time.Millisecond) //house:sleep the clock of the bubble
			step()
			time.Sleep(500 * time.Millisecond) //house:sleep the clock of the bubble
			synctest.Wait()
		}
		all = watcher.Stop().Cut(start, 0, 2*time.Second)
	})
	return all
}

func TestWatchFilesFails(t *testing.T) {
	_, err := monitor.WatchFiles(t.Context(), monitor.Request{}, disk{t.TempDir()})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}
