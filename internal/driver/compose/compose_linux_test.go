package compose_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"prony/internal/driver"
	"prony/internal/driver/compose"
	"prony/internal/driver/docker"
	"prony/internal/driver/drivertest"
	"prony/internal/host"
	"prony/internal/plan"
)

func TestMain(m *testing.M) {
	done := drivertest.Engine()
	status := drivertest.Main(m, suites())
	done()
	os.Exit(status)
}

// folder hands the folder of Compose files to the process of a runner.
const folder = "PRONY_COMPOSETEST"

func suites() map[string]func() (drivertest.Suite, error) {
	return map[string]func() (drivertest.Suite, error){
		"published port": func() (drivertest.Suite, error) { return suite("", 0) },
		"host network":   func() (drivertest.Suite, error) { return suite("    network_mode: host\n", 0) },
	}
}

func here() driver.Site { return driver.Site{Host: host.Local()} }

// image makes an image of the test binary, as users have theirs, and returns its
// name: that which the docker driver makes for a program.
func image(ctx context.Context) (string, error) {
	d := docker.New(docker.Config{})
	s := drivertest.Program()
	s.Env, s.Ready = map[string]string{"PRONY_DRIVERTEST": "mute"}, plan.Ready{Log: "thinking", Within: 20 * time.Second}
	r, err := driver.Start(ctx, d, driver.Request{Run: driver.RunID(fmt.Sprintf("image-%d", os.Getpid())), Service: s, Site: here(),
		Ports: &driver.Ports{}, Grace: time.Millisecond})
	if err != nil {
		return "", err
	}
	api, err := d.Engine(ctx)
	if err != nil {
		return "", errors.Join(err, r.Stop(ctx))
	}
	found, err := api.ContainerInspect(ctx, r.Place().Container, client.ContainerInspectOptions{})
	if err = errors.Join(err, r.Stop(ctx)); err != nil {
		return "", err
	}
	return found.Container.Config.Image, nil
}

// suite has a file with the service, and one that it depends on. What the file
// says of limits is replaced; its name and ports could be there once only.
func suite(more string, port int) (drivertest.Suite, error) {
	name, err := image(context.Background())
	if err != nil {
		return drivertest.Suite{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return drivertest.Suite{}, err
	}
	dir, inside := os.Getenv(folder), "    container_name: the-only-one\n    ports: [\"8080:18080\"]\n"
	number := 18080
	if more != "" {
		inside, number = "", 28080
	}
	text := fmt.Sprintf(`services:
  app:
    image: %[1]s
    entrypoint: [%[2]q, %[4]s, "%[5]d"]
    restart: always
    depends_on: [db]
    cpus: 0.7
    mem_limit: 90m
%[3]s  db:
    image: %[1]s
    entrypoint: [%[2]q]
    environment: {PRONY_DRIVERTEST: mute, TEXT: "a$$b"}
    volumes: ["data:/data"]
volumes: {data: {}}
`, name, self, more+inside, `"0.0.0.0"`, number)
	file := filepath.Join(dir, fmt.Sprintf("compose-%d.yml", number))
	if more == "" {
		number = 0
	}
	return drivertest.Suite{Driver: compose.New(compose.Config{}), Site: here(), Service: func() plan.Service {
		return plan.Service{Name: "app", Kind: plan.Compose, Instances: 1, Compose: &plan.ComposeFile{File: file, Service: "app", Port: number}}
	}}, os.WriteFile(file, []byte(text), 0o644)
}

func need(t *testing.T) {
	t.Helper()
	drivertest.NeedEngine(t)
	if exec.Command("docker", "compose", "version").Run() == nil {
		return
	}
	if _, err := exec.LookPath("docker-compose"); err != nil {
		if os.Getenv("PRONY_E2E") == "require" {
			t.Fatalf("PRONY_E2E=require: %v", err)
		}
		t.Skipf("no Compose (apt-get install -y docker-compose): %v", err)
	}
}

func TestConformance(t *testing.T) {
	need(t)
	t.Setenv(folder, t.TempDir())
	s, err := suite("", 0)
	if err != nil {
		t.Fatal(err)
	}
	drivertest.Run(t, "published port", s)
}

// TestPlugin drives the other flavour: docker with the word compose.
func TestPlugin(t *testing.T) {
	need(t)
	t.Setenv(folder, t.TempDir())
	if exec.Command("docker", "compose", "version").Run() != nil {
		standIn(t)
	}
	s, err := suite("", 0)
	if err != nil {
		t.Fatal(err)
	}
	service := s.Service()
	service.Env, service.Ready = map[string]string{"PRONY_DRIVERTEST": "target"}, plan.Ready{Path: "/", Within: 20 * time.Second}
	r := start(t, s.Driver, driver.Request{Run: "plugin", Service: service, Site: here(), Ports: &driver.Ports{}})
	if got := get(t, r.Endpoint()+"/run"); got != "plugin" {
		t.Errorf("got run %q", got)
	}
}

// standIn is a docker with a compose that is Debian's docker-compose.
func standIn(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\n[ \"$1\" = compose ] || exit 1\nshift\nexec docker-compose \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
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

func TestHostNetwork(t *testing.T) {
	need(t)
	t.Setenv(folder, t.TempDir())
	s, err := suite("    network_mode: host\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	service := s.Service()
	service.Env, service.Ready = map[string]string{"PRONY_DRIVERTEST": "target"}, plan.Ready{Path: "/", Within: 20 * time.Second}
	r := start(t, s.Driver, driver.Request{Run: "hostnet", Service: service, Site: here(), Ports: &driver.Ports{}})
	if got := r.Endpoint(); got != "http://127.0.0.1:28080" || get(t, got+"/") != "hello\n" {
		t.Errorf("got %s", got)
	}
}

// TestScale is about several instances in one project, with what they need once.
func TestScale(t *testing.T) {
	need(t)
	t.Setenv(folder, t.TempDir())
	s, err := suite("", 0)
	if err != nil {
		t.Fatal(err)
	}
	service := s.Service()
	service.Instances, service.Limits = 3, plan.Limits{CPUs: 0.25, Memory: 80 << 20, PIDs: 60}
	service.Env, service.Ready = map[string]string{"PRONY_DRIVERTEST": "target"}, plan.Ready{Path: "/", Within: 20 * time.Second}
	q := driver.Request{Run: "Scale-1", Service: service, Site: here(), Ports: &driver.Ports{}}
	var all []*driver.Running
	for q.Index = range 3 {
		r := start(t, s.Driver, q)
		if a := r.Applied(); a.CPUs != 0.25 || a.Memory != 80<<20 || a.PIDs != 60 {
			t.Errorf("%s: got %+v applied", r.Name(), a)
		}
		all = append(all, r)
	}
	for _, r := range all {
		if got := get(t, r.Endpoint()+"/"); got != "hello\n" {
			t.Errorf("%s: got %q", r.Name(), got)
		}
	}
	count := func(want map[string]int) {
		t.Helper()
		left, err := driver.Find(t.Context(), s.Driver, here(), q.Run)
		got := map[string]int{}
		for _, l := range left {
			got[l.Kind]++
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	count(map[string]int{"container": 4, "folder": 3, "network": 1, "volume": 1})
	for i, r := range all { // the first one first: what it needed has to stay
		if err := r.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			count(map[string]int{"container": 3, "folder": 2, "network": 1, "volume": 1})
		}
	}
	count(map[string]int{})
}

func TestCheck(t *testing.T) {
	need(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.yml": "services:\n  app: {image: \"nobody.invalid/nothing:1\", ports: [\"80\", \"81\"]}\n  other: {build: ., expose: [\"80\"]}\n",
		"b.yml": "services: [\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		file plan.ComposeFile
		want string
		kind error
	}{
		{"no file", plan.ComposeFile{File: "no.yml", Service: "app"}, "check app[0]: stat " + dir + "/no.yml: no such file or directory", fs.ErrNotExist},
		{"no service", plan.ComposeFile{File: "a.yml", Service: "ap"}, "service ap of " + dir + "/a.yml: no such service (there are: app, other)", nil},
		{"several ports", plan.ComposeFile{File: "a.yml", Service: "app"}, "it has several ports: say which one serves (port): [80 81]", nil},
		{"no image", plan.ComposeFile{File: "a.yml", Service: "app", Port: 80},
			"image nobody.invalid/nothing:1 of service app is not on this machine, and nothing is pulled or built by the way: docker-compose -f " + dir + "/a.yml pull app brings it", fs.ErrNotExist},
		{"not built", plan.ComposeFile{File: "a.yml", Service: "other"}, "/a.yml build other brings it", fs.ErrNotExist},
		{"no YAML", plan.ComposeFile{File: "b.yml", Service: "app"}, "config: ", nil},
	} {
		q := driver.Request{Run: "check", Service: plan.Service{Name: "app", Kind: plan.Compose, Compose: &c.file}, Site: here(), Base: dir, Ports: &driver.Ports{}}
		d := compose.New(compose.Config{})
		for what, err := range map[string]error{"check": d.Check(t.Context(), q), "start": started(t, d, q)} {
			want := c.want
			if what == "start" {
				want = strings.TrimPrefix(want, "check app[0]: ")
			}
			if err == nil || !strings.Contains(err.Error(), want) || c.kind != nil && !errors.Is(err, c.kind) {
				t.Errorf("%s, %s: got %v, want %q", c.name, what, err, want)
			}
		}
	}
}

func started(t *testing.T, d driver.Driver, q driver.Request) error {
	r, err := driver.Start(t.Context(), d, q)
	if err == nil {
		_ = r.Stop(t.Context())
	}
	return err
}

func TestNoProgram(t *testing.T) {
	drivertest.NeedEngine(t)
	t.Setenv("PATH", t.TempDir())
	file := filepath.Join(t.TempDir(), "c.yml")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	q := driver.Request{Run: "none", Service: plan.Service{Name: "app", Compose: &plan.ComposeFile{File: file, Service: "app"}}, Site: here()}
	err := compose.New(compose.Config{}).Check(t.Context(), q)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "apt-get install -y docker-compose") {
		t.Errorf("got %v", err)
	}
}
