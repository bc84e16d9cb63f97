package process_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prony/internal/driver"
	"prony/internal/driver/drivertest"
	"prony/internal/driver/process"
	"prony/internal/plan"
)

// workshop is a source tree with a build that counts how often it ran.
type workshop struct {
	t            *testing.T
	dir, counter string
	site         driver.Site
	cache        string
}

func newWorkshop(t *testing.T, site driver.Site) *workshop {
	dir := t.TempDir()
	w := &workshop{t: t, dir: filepath.Join(dir, "src", "sub"), counter: filepath.Join(dir, "count"), site: site, cache: filepath.Join(dir, "cache")}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w.write("../go.mod", "module m\n")
	w.write("text", "one\n")
	return w
}

func (w *workshop) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// request is a service whose program is the target, if its build worked.
func (w *workshop) request(build string) driver.Request {
	s := drivertest.Program()
	s.Env = map[string]string{"PRONY_DRIVERTEST": "target", "COUNTER": w.counter, "AT": "${port}"}
	s.Process.Dir = w.dir
	s.Process.Build = []string{"sh", "-c", "echo run >>$COUNTER; " + build, "sh", "${work}"}
	s.Process.Command = append([]string{"sh", "-c", `cat "$1/made" && shift && exec "$@"`, "sh", "${work}"}, s.Process.Command...)
	s.Ready = plan.Ready{TCP: true, Within: 20 * time.Second}
	return driver.Request{Run: "buildtest", Service: s, Site: w.site, Ports: &driver.Ports{}}
}

// runs starts and stops an instance with a driver of its own, as another run of
// the program would, and returns its log.
func (w *workshop) runs(r driver.Request) (string, error) {
	w.t.Helper()
	d, err := process.New(process.Config{Cache: w.cache})
	if err != nil {
		w.t.Fatal(err)
	}
	running, err := driver.Start(w.t.Context(), d, r)
	if err != nil {
		return "", err
	}
	if err := running.Stop(w.t.Context()); err != nil {
		w.t.Error(err)
	}
	return string(running.Logs().Text()), nil
}

func (w *workshop) builds() int {
	text, _ := os.ReadFile(w.counter)
	return strings.Count(string(text), "run")
}

func TestBuildCache(t *testing.T) {
	const build = `cp text "$1/made"`
	for name, site := range map[string]driver.Site{"here": here(), "far": far()} {
		t.Run(name, func(t *testing.T) {
			w := newWorkshop(t, site)
			for _, step := range []struct {
				name   string
				change func()
				build  string
				builds int
				log    string
			}{
				{"first", func() {}, build, 1, "one\n"},
				{"nothing changed", func() {}, build, 1, "one\n"},
				{"a source changed", func() { w.write("text", "two\n") }, build, 2, "two\n"},
				{"it changed back", func() { w.write("text", "one\n") }, build, 2, "one\n"},
				{"another command", func() {}, build + "; true", 3, "one\n"},
				{"the module around it changed", func() { w.write("../other", "x") }, build, 4, "one\n"},
				{"outside of it", func() { w.write("../../notes", "x") }, build, 4, "one\n"},
				{"another environment", func() { t.Setenv("GOFLAGS", "-mod=mod") }, build, 5, "one\n"},
			} {
				step.change()
				log, err := w.runs(w.request(step.build))
				if err != nil {
					t.Fatalf("%s: %v", step.name, err)
				}
				if got := w.builds(); got != step.builds || !holds(log, step.log) {
					t.Errorf("%s: got %d builds, log %q, want %d, %q", step.name, got, log, step.builds, step.log)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(w.cache, "builds", "prony-*")); len(left) != 0 {
				t.Errorf("got unfinished builds %v", left)
			}
		})
	}
}

func TestBuildOnceInADriver(t *testing.T) {
	w := newWorkshop(t, here())
	d, err := process.New(process.Config{Cache: w.cache})
	if err != nil {
		t.Fatal(err)
	}
	q := w.request(`cp text "$1/made"; echo x >text`) // its sources never stay the same
	for i := range 2 {
		q.Index = i
		r, err := driver.Start(t.Context(), d, q)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := r.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		if log := string(r.Logs().Text()); !holds(log, "one\n") {
			t.Errorf("instance %d: got log %q, want the same program", i, log)
		}
	}
	if got := w.builds(); got != 1 {
		t.Errorf("got %d builds, want 1", got)
	}
}

func TestBuildElsewhere(t *testing.T) {
	w := newWorkshop(t, here())
	q := w.request(`true`)
	q.Service.Process.Command = drivertest.Program().Process.Command
	for range 2 {
		if _, err := w.runs(q); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.builds(); got != 2 {
		t.Errorf("got %d builds, want one for each run: nothing was kept", got)
	}
}

func TestBuildFails(t *testing.T) {
	w := newWorkshop(t, here())
	_, err := w.runs(w.request(`for i in 1 2 3; do echo "mistake $i"; done; exit 4`))
	if err == nil || !strings.HasPrefix(err.Error(), "start app[0]: build: run sh: exit status 4 (command: ") ||
		!strings.HasSuffix(err.Error(), "; its last lines:\n  mistake 1\n  mistake 2\n  mistake 3") {
		t.Errorf("got %v", err)
	}
	q := w.request(`true`)
	q.Service.Process.Build = []string{"make", "${port}"}
	if _, err := w.runs(q); err == nil || !strings.Contains(err.Error(), `unknown variable "port" (known: work)`) {
		t.Errorf("a port in a build: got %v", err)
	}
	d, err := process.New(process.Config{Cache: w.cache})
	if err != nil {
		t.Fatal(err)
	}
	if left, err := driver.Find(t.Context(), d, here(), "buildtest"); err != nil || len(left) != 0 {
		t.Errorf("got %v, %v left", left, err)
	}
}

func TestUnfinishedBuildIsFound(t *testing.T) {
	cache := t.TempDir()
	dir := filepath.Join(cache, "builds", "prony-buildtest.build.0123456789abcdef")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := process.New(process.Config{Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	removed, err := driver.Cleanup(t.Context(), d, here(), "buildtest")
	if err != nil || len(removed) != 1 || removed[0].Name != dir {
		t.Errorf("got %v, %v, want the folder of the build", removed, err)
	}
}

// holds reports whether a log has a line, wherever: what a program writes to
// its two outputs may arrive in any order.
func holds(log, line string) bool { return strings.Contains("\n"+log, "\n"+line) }
