package process_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prony/internal/driver"
	"prony/internal/driver/drivertest"
	"prony/internal/driver/process"
	"prony/internal/plan"
)

func newDriver(t *testing.T) *process.Driver {
	t.Helper()
	d, err := process.New(process.Config{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// target asks for an instance of the suite's target.
func target(run driver.RunID, site driver.Site) driver.Request {
	s := drivertest.Program()
	s.Env = map[string]string{"PRONY_DRIVERTEST": "target"}
	s.Ready = plan.Ready{TCP: true, Within: 20 * time.Second}
	return driver.Request{Run: run, Service: s, Site: site, Ports: &driver.Ports{}}
}

func TestRenderedProgram(t *testing.T) {
	for name, site := range map[string]driver.Site{"here": here(), "far": far()} {
		t.Run(name, func(t *testing.T) {
			q := target("rendered", site)
			command := q.Service.Process.Command
			q.Service.Process, q.Service.Kind, q.Service.Ready = nil, plan.Catalog, plan.Ready{}
			var work string
			q.Render = func(s driver.Setting) (driver.Program, error) {
				work = s.Work
				words, err := driver.Words(command, map[string]string{"host": s.Host, "port": "${port}"})
				words[len(words)-1] = strings.TrimPrefix(s.URL(), "http://"+s.Host+":")
				return driver.Program{
					Command: append([]string{"sh", "-c", `pwd; cat conf/a.conf; exec "$@"`, "sh"}, words...),
					Files:   []driver.File{{Name: "conf/a.conf", Text: []byte("setting\n")}, {Name: s.Work + "/run.sh", Perm: 0o755}},
					Ready:   plan.Ready{Path: "/", Within: 20 * time.Second},
				}, err
			}
			d := newDriver(t)
			r, err := driver.Start(t.Context(), d, q)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(r.Logs().Text()); !strings.HasPrefix(got, work+"\nsetting\n") && !strings.Contains(got, "\nsetting\n") {
				t.Errorf("got log %q, want the folder and the file", got)
			}
			if info, err := os.Stat(work + "/run.sh"); err != nil || info.Mode().Perm() != 0o755 {
				t.Errorf("got %v, %v, want a program", info, err)
			}
			if err := r.Stop(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Dir(work)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("got %v, want the run's folder gone with its last instance", err)
			}
		})
	}
}

func TestFilesOutside(t *testing.T) {
	for _, name := range []string{"../x", "/etc/prony-test", "a/../../x", "."} {
		q := target("outside", here())
		q.Render = func(driver.Setting) (driver.Program, error) {
			return driver.Program{Command: []string{"true"}, Files: []driver.File{{Name: name}}}, nil
		}
		if _, err := driver.Start(t.Context(), newDriver(t), q); err == nil || !strings.Contains(err.Error(), "outside ${work}") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestThereAlready(t *testing.T) {
	d, q := newDriver(t), target("twice", here())
	r, err := driver.Start(t.Context(), d, q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if _, err := driver.Start(t.Context(), d, q); err == nil || !strings.Contains(err.Error(), "is there already: was something left by a crash? prony cleanup removes it") {
		t.Errorf("got %v", err)
	}
	if err := r.Err(); err != nil {
		t.Errorf("the first one: %v", err)
	}
	if _, err := os.Stat("/proc/self"); err == nil && r.Place().PID == 0 {
		t.Error("got no process")
	}
}

func TestCheckMissingProgram(t *testing.T) {
	q := target("check", here())
	q.Service.Process = &plan.Process{Command: []string{"prony-no-such-program"}, Build: []string{"prony-no-such-builder"}}
	err := newDriver(t).Check(t.Context(), q)
	if !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "no such program: prony-no-such-program") {
		t.Errorf("got %v, want both named", err)
	}
}

// TestOverwrittenEnvironment is about programs that write their title over their
// environment, as nginx does: the working folder gives them away.
func TestOverwrittenEnvironment(t *testing.T) {
	d, site := newDriver(t), here()
	site.Dir = t.TempDir()
	root := filepath.Join(site.Dir, "prony-titled.run")
	work := filepath.Join(root, "app.0")
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(root, 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("sleep", "60")
	c.Dir, c.Env = work, []string{"A=B"}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	dead := make(chan struct{})
	go func() { defer close(dead); _ = c.Wait() }()
	removed, err := driver.Cleanup(t.Context(), d, site, "titled")
	if err != nil || len(removed) != 2 || removed[0].Kind != "process" || removed[1].Name != root {
		t.Errorf("got %v, %v, want the process and the folder", removed, err)
	}
	_ = c.Process.Kill()
	<-dead
}

func TestServe(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"no order", "", `read an order: EOF`},
		{"no JSON", "x", "read an order: invalid character"},
		{"of a later version", `{"do": "find", "name": "prony-x.", "shape": 1}`, `read an order: json: unknown field "shape"`},
		{"unknown", `{"do": "dance"}`, `unknown order "dance"`},
		{"a bad name", `{"do": "create", "name": "../x"}`, "make control group: name"},
		{"not there", `{"do": "read", "name": "prony-nothing.here"}`, `file does not exist`},
		{"nothing to find", `{"do": "find", "name": "prony-nothing.here"}`, ""},
		{"nothing to remove", `{"do": "remove", "name": "prony-nothing.here"}`, ""},
	} {
		var out bytes.Buffer
		if err := process.Serve(strings.NewReader(c.in), &out); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var a process.Answer
		if err := json.Unmarshal(out.Bytes(), &a); err != nil {
			t.Fatalf("%s: %v in %q", c.name, err, out.String())
		}
		if a.Error == "" != (c.want == "") || !strings.Contains(a.Error, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, a.Error, c.want)
		}
	}
}

func TestNoCopyOfOurselves(t *testing.T) {
	site := far()
	site.Self = nil
	q := target("bare", site)
	q.Service.Limits = plan.Limits{CPUs: 1}
	_, err := driver.Start(t.Context(), newDriver(t), q)
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "limit it to 1 CPU: use control groups on far: there is no copy of Prony on the host") {
		t.Errorf("got %v", err)
	}
	if left, err := driver.Find(t.Context(), newDriver(t), here(), "bare"); err != nil || len(left) != 0 {
		t.Errorf("got %v, %v left", left, err)
	}
}

func TestWhereabouts(t *testing.T) {
	text := "lrwxrwxrwx 1 root root 0 Nov 30 12:00 /proc/12/cwd -> /tmp/prony-r.run/app.0\n" +
		"lrwxrwxrwx 1 root root 0 Nov 30 12:00 /proc/13/cwd -> /tmp/prony-r.run (deleted)\n" +
		"lrwxrwxrwx 1 root root 0 Nov 30 12:00 /proc/14/cwd -> /var/tmp/prony-r.run/x\n" +
		"lrwxrwxrwx 1 root root 0 Nov 30 12:00 /proc/15/cwd -> /tmp/other\n" +
		"lrwxrwxrwx 1 root root 0 Nov 30 12:00 /proc/16/cwd\n"
	got, want := process.Whereabouts(text, "/tmp"), map[int]driver.RunID{12: "r", 13: "r"}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMarked(t *testing.T) {
	for _, c := range []struct {
		environ string
		want    driver.RunID
	}{{"A=1\x00PRONY_RUN=r-1\x00B=2\x00", "r-1"}, {"PRONY_RUN=a\x00PRONY_RUN=b\x00", "b"}, {"XPRONY_RUN=a\x00", ""}, {"PRONY_RUN=\x00", ""}, {"PRONY_RUN=a b\x00", ""}, {"", ""}} {
		if got := process.Marked(c.environ); got != c.want {
			t.Errorf("%q: got %q, want %q", c.environ, got, c.want)
		}
	}
}

func FuzzLabels(f *testing.F) {
	f.Add("PRONY_RUN=r\x00", "/proc/1/cwd -> /tmp/prony-r.run/a")
	f.Fuzz(func(t *testing.T, environ, listing string) {
		if run := process.Marked(environ); run != "" && (run.Check() != nil || !strings.Contains(environ, "PRONY_RUN="+string(run))) {
			t.Errorf("got run %q of %q", run, environ)
		}
		for pid, run := range process.Whereabouts(listing, "/tmp") {
			if pid < 0 || run.Check() != nil {
				t.Errorf("got %d: %q", pid, run)
			}
		}
	})
}

func FuzzServe(f *testing.F) {
	f.Add(`{"do": "find", "name": "prony-fuzz."}`)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "create") || strings.Contains(text, "remove") {
			t.Skip("would be obeyed")
		}
		var out bytes.Buffer
		if err := process.Serve(strings.NewReader(text), &out); err != nil || !json.Valid(out.Bytes()) {
			t.Errorf("got %v, %q", err, out.String())
		}
	})
}
