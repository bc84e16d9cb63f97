package docker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prony/internal/cgroup"
	"prony/internal/driver"
	"prony/internal/driver/docker"
	"prony/internal/driver/drivertest"
	"prony/internal/plan"
)

// target asks for an instance of the suite's target in a container of its own.
func target(run driver.RunID) driver.Request {
	s := drivertest.Program()
	s.Env = map[string]string{"PRONY_DRIVERTEST": "target"}
	s.Ready = plan.Ready{Path: "/", Within: 20 * time.Second}
	return driver.Request{Run: run, Service: s, Site: here(), Ports: &driver.Ports{}}
}

func start(t *testing.T, d driver.Driver, q driver.Request) *driver.Running {
	t.Helper()
	r, err := driver.Start(t.Context(), d, q)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		left, err := driver.Find(context.WithoutCancel(t.Context()), d, q.Site, q.Run)
		if q.Index == 0 && (err != nil || len(left) != 0) {
			t.Errorf("got %v, %v left", left, err)
		}
	})
	return r
}

func get(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// nginx is a gateway as the catalog has it: its own configuration in ${work},
// the program and everything that it loads from this machine.
func nginx(upstreams []string) func(driver.Setting) (driver.Program, error) {
	return func(s driver.Setting) (driver.Program, error) {
		var servers strings.Builder
		for _, u := range upstreams {
			fmt.Fprintf(&servers, "server %s;", strings.TrimPrefix(u, "http://"))
		}
		text := fmt.Sprintf(`user root root;
pid %[1]s/nginx.pid; daemon off; error_log stderr notice;
events {}
http {
  access_log off;
  client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e;
  upstream app { %[4]s }
  server { listen %[2]s:%[3]d; location / { proxy_pass http://app; } location = /.status { stub_status; } }
}`, s.Work, s.Host, s.Port, servers.String())
		return driver.Program{Command: []string{"nginx", "-e", "stderr", "-p", s.Work, "-c", s.Work + "/entry/nginx.conf"},
			Files: []driver.File{{Name: "entry/nginx.conf", Text: []byte(text)}},
			Ready: plan.Ready{Path: "/.status", Status: 200, Within: 20 * time.Second}}, nil
	}
}

// TestNginxOverTargets is an experiment under --driver docker: a real nginx of
// this machine in front of two instances, all in containers made from scratch.
func TestNginxOverTargets(t *testing.T) {
	drivertest.NeedEngine(t)
	if _, err := exec.LookPath("nginx"); err != nil {
		t.Skip("no nginx (apt-get install -y nginx)")
	}
	d, q := newDriver(), target("nginxtest")
	var upstreams []string
	for i := range 2 {
		q.Index = i
		upstreams = append(upstreams, start(t, d, q).Endpoint())
	}
	g := driver.Request{Run: q.Run, Service: plan.Service{Name: "gateway", Kind: plan.Catalog, Limits: plan.Limits{CPUs: 0.5, Memory: 128 << 20}},
		Site: here(), Ports: q.Ports, Index: 1, Render: nginx(upstreams)}
	r := start(t, d, g)
	for range 4 {
		if got := get(t, r.Endpoint()+"/"); got != "hello\n" {
			t.Errorf("got answer %q through the gateway", got)
		}
	}
	if a := r.Applied(); a.CPUs != 0.5 || a.Memory != 128<<20 {
		t.Errorf("got %+v applied", a)
	}
	if len(r.Notes()) != 0 {
		t.Errorf("got notes %q", r.Notes())
	}
}

// TestOurTarget runs the server that is in the program itself.
func TestOurTarget(t *testing.T) {
	drivertest.NeedEngine(t)
	if testing.Short() {
		t.Skip("builds the program")
	}
	q := target("ourtarget")
	q.Service.Env = map[string]string{"CGO_ENABLED": "0"}
	q.Service.Ready = plan.Ready{Path: "/", Status: 200, Within: 20 * time.Second}
	q.Service.Limits = plan.Limits{CPUs: 0.2, Memory: 200 << 20}
	module, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	q.Service.Process = &plan.Process{Dir: module, Build: []string{"go", "build", "-o", "${work}/prony", "./cmd/prony"},
		Command: []string{"${work}/prony", "target", "--fast", "--addr", "${host}:${port}"}}
	d := newDriver()
	if err := d.Check(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	r := start(t, d, q)
	if got := get(t, r.Endpoint()+"/"); len(got) != 12 {
		t.Errorf("got answer %q, want 12 bytes", got)
	}
	p := r.Place()
	if p.Container == "" || p.PID == 0 || !strings.Contains(p.Cgroup, p.Container) {
		t.Errorf("got place %+v, want container, process and group", p)
	}
	used, err := d.Stat(t.Context(), p.Container)
	if err != nil || used.CPU <= 0 || used.Memory <= 0 || used.OOMKills != cgroup.Unknown {
		t.Errorf("got %+v, %v used", used, err)
	}
}

func TestBuildOnce(t *testing.T) {
	drivertest.NeedEngine(t)
	q, counter := target("buildonce"), filepath.Join(t.TempDir(), "count")
	q.Service.Env["COUNTER"] = counter
	self := q.Service.Process.Command[0]
	q.Service.Process.Build = []string{"sh", "-c", `echo run >>$COUNTER; cp "$2" "$1/program"`, "sh", "${work}", self}
	q.Service.Process.Command[0] = "${work}/program"
	d := newDriver()
	for i := range 2 {
		q.Index = i
		start(t, d, q)
	}
	if text, err := os.ReadFile(counter); err != nil || string(text) != "run\n" {
		t.Errorf("got %q, %v, want one build", text, err)
	}
	q.Service.Process.Build = []string{"sh", "-c", "echo a mistake; exit 4"}
	if _, err := driver.Start(t.Context(), d, q); err == nil || !strings.Contains(err.Error(), "exit status 4") || !strings.HasSuffix(err.Error(), "its last lines:\n  a mistake") {
		t.Errorf("got %v", err)
	}
}

func TestFilesAndFolder(t *testing.T) {
	drivertest.NeedEngine(t)
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "data"), []byte("of the folder\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Skip(err)
	}
	q := target("files")
	q.Service.Process = &plan.Process{Dir: dir, Command: []string{"sh", "-c", cat + ` data; echo "at $PWD on ${host}:${port}"; exec sleep 60`}}
	q.Service.Ready = plan.Ready{Log: `^at ` + dir + ` on 127\.0\.0\.1:\d+$`, Within: 20 * time.Second}
	q.Grace = time.Millisecond
	q.Service.Process.Command[2] = strings.Replace(q.Service.Process.Command[2], "exec sleep 60", "read nothing < "+dir+"/fifo", 1)
	if err := exec.Command("mkfifo", filepath.Join(dir, "fifo")).Run(); err != nil {
		t.Skip(err)
	}
	r := start(t, newDriver(), q)
	if got := string(r.Logs().Text()); !strings.HasPrefix(got, "of the folder\n") {
		t.Errorf("got log %q, want the file of its folder", got)
	}
}

// TestJava is about a program that loads most of itself from folders beside it.
func TestJava(t *testing.T) {
	drivertest.NeedEngine(t)
	if _, err := exec.LookPath("java"); err != nil || testing.Short() {
		t.Skip("no java, or no time for an image of 300 MB")
	}
	q := target("java")
	q.Service.Process = &plan.Process{Command: []string{"java", "-version"}}
	q.Service.Ready = plan.Ready{Log: "Runtime Environment", Within: 20 * time.Second}
	r, err := driver.Start(t.Context(), newDriver(), q)
	var death *driver.DeathError
	if err != nil && (!errors.As(err, &death) || !death.Exit.Clean) {
		t.Fatal(err)
	}
	if err == nil { // it may end before or after it was ready
		if err := r.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestFilesOutside(t *testing.T) {
	drivertest.NeedEngine(t)
	for _, name := range []string{"../x", "/etc/prony-test", "."} {
		q := target("outside")
		q.Render = func(driver.Setting) (driver.Program, error) {
			return driver.Program{Command: drivertest.Program().Process.Command, Files: []driver.File{{Name: name}}}, nil
		}
		if _, err := driver.Start(t.Context(), newDriver(), q); err == nil || !strings.Contains(err.Error(), "outside ${work}") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestThereAlready(t *testing.T) {
	drivertest.NeedEngine(t)
	d, q := newDriver(), target("twice")
	r := start(t, d, q)
	if _, err := driver.Start(t.Context(), d, q); err == nil || !strings.Contains(err.Error(), "is there already: was something left by a crash? prony cleanup removes it") {
		t.Errorf("got %v", err)
	}
	if got := get(t, r.Endpoint()+"/"); got != "hello\n" {
		t.Errorf("the first one: got %q", got)
	}
}

func TestPublished(t *testing.T) {
	drivertest.NeedEngine(t)
	s, err := imageSuite("bridge", 0)
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	service := s.Service()
	service.Env, service.Ready, service.Port = map[string]string{"PRONY_DRIVERTEST": "target"}, plan.Ready{Path: "/", Within: 20 * time.Second}, port
	r := start(t, s.Driver, driver.Request{Run: "published", Service: service, Site: here(), Ports: &driver.Ports{}})
	for _, base := range []string{r.Endpoint(), fmt.Sprintf("http://127.0.0.1:%d", port)} {
		if got := get(t, base+"/"); got != "hello\n" {
			t.Errorf("%s: got %q", base, got)
		}
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestCheck(t *testing.T) {
	drivertest.NeedEngine(t)
	s, err := imageSuite("bridge", 0)
	if err != nil {
		t.Fatal(err)
	}
	image := s.Service().Docker.Image
	for _, c := range []struct {
		name   string
		change func(*driver.Request)
		want   string
		kind   error
	}{
		{"no image", func(q *driver.Request) { q.Service.Docker = &plan.Container{Image: "nobody.invalid/nothing:1"} },
			"check app[0]: image nobody.invalid/nothing:1 is not on this machine, and nothing is pulled unasked: docker pull nobody.invalid/nothing:1 brings it", fs.ErrNotExist},
		{"no folder", func(q *driver.Request) {
			q.Service.Docker = &plan.Container{Image: image, Volumes: []string{"./no-such:/x"}}
		},
			"volume /base/no-such:/x: stat /base/no-such: no such file or directory", fs.ErrNotExist},
		{"no volume", func(q *driver.Request) {
			q.Service.Docker = &plan.Container{Image: image, Volumes: []string{"no-such-volume:/x"}}
		},
			"volume no-such-volume: no such volume: docker volume create makes it", fs.ErrNotExist},
		{"no program", func(q *driver.Request) { q.Service.Process.Command = []string{"prony-no-such-program"} }, "prony-no-such-program: no such program", fs.ErrNotExist},
		{"another host", func(q *driver.Request) { q.Site.Name = "far" }, `host "far": containers can be started on this machine only`, nil},
	} {
		q := target("check")
		q.Base = "/base"
		c.change(&q)
		err := newDriver().Check(t.Context(), q)
		if err == nil || !strings.Contains(err.Error(), c.want) || c.kind != nil && !errors.Is(err, c.kind) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	q := target("check")
	q.Service.Limits = plan.Limits{CPUs: 0.5, Memory: 64 << 20, PIDs: 10, Cores: []int{0}}
	if err := newDriver().Check(t.Context(), q); err != nil {
		t.Errorf("got %v, want it to be fine", err)
	}
}

func TestPrune(t *testing.T) {
	drivertest.NeedEngine(t)
	d, name := newDriver(), filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(t.Name()+time.Now().String()), 0o644); err != nil {
		t.Fatal(err)
	}
	image, err := d.ImageOf(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := d.ImageOf(t.Context(), name); err != nil || again != image {
		t.Errorf("got %s, %v, want the same image again", again, err)
	}
	removed, err := d.Prune(t.Context(), time.Hour)
	if err != nil || len(removed) != 0 {
		t.Errorf("got %v, %v removed, want none that was used within the hour", removed, err)
	}
	removed, err = d.Prune(t.Context(), 0)
	if err != nil || !strings.Contains(strings.Join(removed, " "), image) {
		t.Errorf("got %v, %v removed, want %s among them", removed, err, image)
	}
}

func TestNoEngine(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "docker.sock")
	d := docker.New(docker.Config{Host: "unix://" + socket})
	q := target("noengine")
	err := d.Check(t.Context(), q)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "check app[0]: no Docker engine at unix://"+socket+": install one (apt-get install -y docker.io) and start it (systemctl start docker), or set DOCKER_HOST") {
		t.Errorf("got %v", err)
	}
	if _, err := driver.Start(t.Context(), d, q); !docker.Absent(err) {
		t.Errorf("start: got %v", err)
	}
	if left, err := driver.Find(t.Context(), d, here(), q.Run); err != nil || len(left) != 0 {
		t.Errorf("find: got %v, %v, want nothing", left, err)
	}
	deaf, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	_ = deaf.(*net.UnixListener).SetDeadline(time.Now())
	deaf.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = deaf.Close()
	if err := d.Check(t.Context(), q); err == nil || !strings.Contains(err.Error(), "does not answer: start it (systemctl start docker)") {
		t.Errorf("got %v", err)
	}
}
