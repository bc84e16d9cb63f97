package compose_test

import (
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prony/internal/driver"
	"prony/internal/driver/compose"
	"prony/internal/host"
	"prony/internal/plan"
)

const resolved = `name: shop
services:
  app:
    build: {context: /src}
    container_name: my-app
    ports:
    - {published: "8080", target: 80, protocol: tcp}
    - {target: 53, protocol: udp}
    environment: [A=1, B]
    depends_on: {db: {condition: service_started}, cache: {condition: service_started}}
    deploy: {replicas: 3, resources: {limits: {cpus: 0.5, memory: 100M}, reservations: {cpus: 0.1}}}
    mem_limit: 90m
    restart: always
  db: {image: "db:1", ports: ["127.0.0.1:5432:5432"], links: ["cache:c"], labels: {old: "1"}}
  cache: {image: "cache:1", expose: ["6379"], network_mode: "service:app"}
  odd: {image: x, ports: ["80-90:80-90"]}
networks:
  outside: {external: true}
  inner: null
volumes: {data: {name: fixed}}
`

// updating rewrites the golden file.
var updating = flag.Bool("update", false, "rewrite the golden files")

func parse(t *testing.T) compose.Resolved {
	t.Helper()
	f, err := compose.Parse(resolved, "/home/me/My Shop/compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestServes(t *testing.T) {
	for _, c := range []struct {
		service string
		want    int
		port    int
		bad     string
	}{
		{"app", 0, 80, ""}, {"db", 0, 5432, ""}, {"cache", 0, 6379, ""}, {"app", 9000, 9000, ""},
		{"odd", 0, 0, "it publishes and exposes no port"}, {"no", 0, 0, "no such service (there are: app, cache, db, odd)"},
	} {
		got, err := parse(t).Serves(c.service, c.want)
		if got != c.port || (err == nil) != (c.bad == "") || err != nil && !strings.Contains(err.Error(), c.bad) {
			t.Errorf("%s: got %d, %v, want %d, %q", c.service, got, err, c.port, c.bad)
		}
	}
}

func TestNeeds(t *testing.T) {
	if got, want := parse(t).Needs("app"), []string{"cache", "db"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := parse(t).Needs("odd"); len(got) != 0 {
		t.Errorf("got %v, want nothing", got)
	}
}

// TestWith holds the file that Compose gets against a golden one.
func TestWith(t *testing.T) {
	q := driver.Request{Run: "r-1", Site: driver.Site{Host: host.Local()}, Index: 1, Service: plan.Service{Name: "web",
		Limits: plan.Limits{CPUs: 0.2, Memory: 64 << 20}, Env: map[string]string{"PORT": "${port}", "PRICE": "5$"}}}
	text, err := parse(t).With(q, "app", 80, 20001, map[string]string{"app": "myshop_app"})
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	pretty, err := json.MarshalIndent(tree, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got := string(pretty) + "\n"
	if *updating {
		if err := os.WriteFile("testdata/with.json", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/with.json")
	if err != nil || got != string(want) {
		t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
	}
	again, err := parse(t).With(q, "app", 80, 20001, map[string]string{"app": "myshop_app"})
	if err != nil || again != text {
		t.Errorf("a second time: got another file, %v", err)
	}
}

func TestReplaced(t *testing.T) {
	full := func() map[string]any {
		return map[string]any{"cpus": 1, "cpu_quota": 1, "mem_limit": 1, "pids_limit": 1, "cpuset": "0", "scale": 2}
	}
	for _, c := range []struct {
		name  string
		asked plan.Limits
		want  string
	}{
		{"nothing", plan.Limits{}, `{"cpu_quota":1,"cpus":1,"cpuset":"0","mem_limit":1,"pids_limit":1}`},
		{"cpus", plan.Limits{CPUs: 1}, `{"cpuset":"0","mem_limit":1,"pids_limit":1}`},
		{"all", plan.Limits{CPUs: 1, Memory: 1, PIDs: 1, Cores: []int{0}}, `{}`},
	} {
		s := full()
		compose.Replaced(s, c.asked)
		if got, err := json.Marshal(s); err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.name, got, err, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	good := regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)
	a, b := compose.ProjectName("20261130-X_y", "/a/compose.yml"), compose.ProjectName("20261130-X_y", "/b/compose.yml")
	if a == b || !good.MatchString(a) {
		t.Errorf("got %q and %q, want two names that Compose takes", a, b)
	}
	if got, want := parse(t).BuiltNames("app", ""), []string{"myshop-app", "myshop_app"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := parse(t).BuiltNames("app", "other"); got[0] != "other-app" {
		t.Errorf("got %v", got)
	}
}

func TestParseBad(t *testing.T) {
	for _, text := range []string{"", "[]", "services: []", "services: {}", "a: [", "services: text"} {
		if _, err := compose.Parse(text, "x"); err == nil {
			t.Errorf("%q: got no error", text)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add(resolved)
	f.Add(`{services: {app: {ports: [1, "2:3"], labels: [a=b], environment: {}}}, networks: {default: 1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := compose.Parse(text, "/x/y.yml")
		if err != nil {
			return
		}
		if port, err := r.Serves("app", 0); err == nil && (port < 1 || port > 65535) {
			t.Errorf("got port %d", port)
		}
		if slices.Contains(r.Needs("app"), "app") {
			t.Error("it needs itself")
		}
		if _, err := r.Serves("app", 80); err != nil {
			return
		}
		q := driver.Request{Run: "r", Site: driver.Site{Host: host.Local()}, Service: plan.Service{Name: "app"}}
		if out, err := r.With(q, "app", 80, 20000, nil); err == nil && !json.Valid([]byte(out)) {
			t.Errorf("got %q", out)
		}
	})
}
