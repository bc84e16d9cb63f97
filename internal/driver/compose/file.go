package compose

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"prony/internal/driver"
	"prony/internal/driver/docker"
	"prony/internal/plan"
)

// file is a Compose file as Compose resolved it. What we do not know of it we
// hand on as it is.
type file struct {
	text   string         // a file is changed in a copy: it is parsed anew
	root   map[string]any // parsed
	origin string         // path of the user's file
}

// nameHash is how many bytes of a path's hash tell files of one run apart.
const nameHash = 4

// projectName names the project of a file in a run. Compose wants small letters,
// digits, dashes and underscores.
func projectName(run driver.RunID, path string) string {
	sum := sha256.Sum256([]byte(path))
	return fmt.Sprintf("%s-%x", strings.ToLower(strings.TrimSuffix(driver.Prefix(run), ".")), sum[:nameHash])
}

var errShape = errors.New("want a mapping of services, a mapping each")

// parse reads what Compose says a file is.
func parse(text, origin string) (file, error) {
	f := file{text: text, origin: origin}
	if err := yaml.Unmarshal([]byte(text), &f.root); err != nil {
		return f, fmt.Errorf("read the resolved file: %w", err)
	}
	if len(mapping(f.root["services"])) == 0 {
		return f, fmt.Errorf("read the resolved file: %w", errShape)
	}
	for _, name := range f.names() {
		if f.service(name) == nil {
			return f, fmt.Errorf("read service %s of the resolved file: %w", name, errShape)
		}
	}
	return f, nil
}

// mapping is a mapping, or nil.
func mapping(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// sub is a mapping in a mapping, made if it is not there.
func sub(in map[string]any, name string) map[string]any {
	m := mapping(in[name])
	if m == nil {
		m = map[string]any{}
		in[name] = m
	}
	return m
}

func (f file) service(name string) map[string]any {
	return mapping(mapping(f.root["services"])[name])
}

func (f file) names() []string { return slices.Sorted(maps.Keys(mapping(f.root["services"]))) }

var (
	errService = errors.New("no such service")
	errPorts   = errors.New("it has several ports: say which one serves (port)")
	errNoPort  = errors.New("it publishes and exposes no port: say which one serves (port)")
)

// serves is the port on which a service serves in its own network.
func (f file) serves(name string, want int) (int, error) {
	s := f.service(name)
	if s == nil {
		return 0, fmt.Errorf("service %s of %s: %w (there are: %s)", name, f.origin, errService, strings.Join(f.names(), ", "))
	}
	if want != 0 {
		return want, nil
	}
	ports := inside(s["ports"])
	if len(ports) == 0 {
		ports = inside(s["expose"])
	}
	switch len(ports) {
	case 0:
		return 0, fmt.Errorf("service %s of %s: %w", name, f.origin, errNoPort)
	case 1:
		return ports[0], nil
	}
	return 0, fmt.Errorf("service %s of %s: %w: %v", name, f.origin, errPorts, ports)
}

// inside are the TCP ports in the container of a list of ports: "8080",
// "80:8080", "127.0.0.1:80:8080/tcp", or a mapping with a target. A range is
// none that could serve.
func inside(list any) []int {
	all, _ := list.([]any)
	var ports []int
	for _, one := range all {
		text := fmt.Sprint(one)
		if m := mapping(one); m != nil {
			text = fmt.Sprint(m["target"])
			if proto, ok := m["protocol"]; ok {
				text += "/" + fmt.Sprint(proto)
			}
		}
		text, proto, _ := strings.Cut(text, "/")
		n, err := strconv.Atoi(text[strings.LastIndexByte(text, ':')+1:])
		if err == nil && n > 0 && n < 1<<16 && (proto == "" || proto == "tcp") {
			ports = append(ports, n)
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// onHost reports whether a service has the network of the machine.
func (f file) onHost(name string) bool { return f.service(name)["network_mode"] == "host" }

// needs are the services that a service needs, without those of itself, each
// after those that it needs.
func (f file) needs(name string) []string {
	var all []string
	seen := map[string]bool{name: true}
	var visit func(string)
	visit = func(of string) {
		for _, n := range f.direct(of) {
			if !seen[n] && f.service(n) != nil {
				seen[n] = true
				visit(n)
				all = append(all, n)
			}
		}
	}
	visit(name)
	return all
}

// direct are the services that one names.
func (f file) direct(name string) []string {
	s := f.service(name)
	all := words(s["depends_on"])
	for _, link := range words(s["links"]) {
		to, _, _ := strings.Cut(link, ":")
		all = append(all, to)
	}
	for _, key := range []string{"network_mode", "ipc", "pid"} {
		if to, ok := strings.CutPrefix(fmt.Sprint(s[key]), "service:"); ok {
			all = append(all, to)
		}
	}
	for _, from := range words(s["volumes_from"]) {
		to, _, _ := strings.Cut(from, ":")
		all = append(all, to)
	}
	return all
}

// words is a list of words, or the keys of a mapping.
func words(v any) []string {
	if m := mapping(v); m != nil {
		return slices.Sorted(maps.Keys(m))
	}
	list, _ := v.([]any)
	var all []string
	for _, one := range list {
		all = append(all, fmt.Sprint(one))
	}
	return all
}

// part is what an experiment wants of a file for one instance.
type part struct {
	request driver.Request
	service string
	inside  int // 0 on the host's network
	port    int // on this machine
	images  map[string]string
}

// with is the file for an instance, for Compose to read: JSON is YAML.
func (f file) with(p part) ([]byte, error) {
	changed, err := parse(f.text, f.origin)
	if err != nil {
		return nil, err
	}
	delete(changed.root, "name") // the project has ours
	run := map[string]string{docker.LabelRun: string(p.request.Run)}
	for _, name := range changed.names() {
		common(changed.service(name), p.images[name], run)
	}
	for _, kind := range []string{"networks", "volumes"} {
		for name := range mapping(changed.root[kind]) {
			if own := sub(mapping(changed.root[kind]), name); own["external"] == nil || own["external"] == false {
				label(own, run)
			}
		}
	}
	label(sub(sub(changed.root, "networks"), "default"), run)
	if err := p.change(changed.service(p.service)); err != nil {
		return nil, err
	}
	return json.Marshal(changed.root)
}

// common is what changes in every service.
func common(s map[string]any, image string, labels map[string]string) {
	for _, key := range []string{"container_name", "ports", "build", "restart", "pull_policy"} {
		delete(s, key)
	}
	if image != "" {
		s["image"] = image
	}
	label(s, labels)
}

// label adds labels to a mapping of labels or a list.
func label(to map[string]any, labels map[string]string) { extend(to, "labels", labels) }

// extend adds texts to a mapping, or to a list of NAME=text. A dollar sign is
// doubled, for Compose to leave it.
func extend(to map[string]any, key string, texts map[string]string) {
	m := map[string]any{}
	if list, ok := to[key].([]any); ok {
		for _, one := range list {
			name, value, given := strings.Cut(fmt.Sprint(one), "=")
			if m[name] = value; !given {
				m[name] = nil // Compose takes it from its own environment
			}
		}
	} else if old := mapping(to[key]); old != nil {
		m = old
	}
	for name, text := range texts {
		m[name] = strings.ReplaceAll(text, "$", "$$")
	}
	to[key] = m
}

// change is what changes in the service of the instance.
func (p part) change(s map[string]any) error {
	label(s, docker.Labels(p.request))
	env := map[string]string{}
	values := map[string]string{"host": "0.0.0.0", "port": strconv.Itoa(p.inside)}
	if p.inside == 0 {
		values = map[string]string{"host": p.request.Site.Reach(), "port": strconv.Itoa(p.port)}
	} else {
		s["ports"] = []any{fmt.Sprintf("%s:%d:%d", p.request.Site.Reach(), p.port, p.inside)}
	}
	for name, text := range p.request.Service.Env {
		value, err := plan.Fill(text, values)
		if err != nil {
			return fmt.Errorf("environment %s: %w", name, err)
		}
		env[name] = value
	}
	for _, pair := range p.request.Labels() {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	extend(s, "environment", env)
	replaced(s, p.request.Service.Limits)
	return nil
}

// replaced takes the limits out of a service that the experiment sets itself.
func replaced(s map[string]any, asked plan.Limits) {
	deploy := mapping(s["deploy"])
	limits := mapping(mapping(deploy["resources"])["limits"])
	for _, one := range []struct {
		asked  bool
		keys   []string
		deploy string
	}{
		{asked.CPUs > 0, []string{"cpus", "cpu_quota", "cpu_period"}, "cpus"},
		{asked.Memory > 0, []string{"mem_limit", "memswap_limit", "mem_reservation"}, "memory"},
		{asked.PIDs > 0, []string{"pids_limit"}, "pids"},
		{len(asked.Cores) > 0, []string{"cpuset"}, ""},
	} {
		if one.asked {
			delete(limits, one.deploy)
			for _, key := range one.keys {
				delete(s, key)
			}
		}
	}
	delete(deploy, "replicas")
	delete(s, "scale")
}

// missingImage is an image that nothing of ours will bring.
type missingImage struct{ service, image, file, verb string }

func (m *missingImage) Error() string {
	return fmt.Sprintf("image %s of service %s is not on this machine, and nothing is pulled or built by the way: docker-compose -f %s %s %s brings it",
		m.image, m.service, m.file, m.verb, m.service)
}

func (m *missingImage) Unwrap() error { return fs.ErrNotExist }

// builtNames are the names that the image of a service with a build can have,
// by the project that the user builds it in.
func (f file) builtNames(service, project string) []string {
	if project == "" {
		project = strings.ToLower(filepath.Base(filepath.Dir(f.origin)))
	}
	project = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			return c
		}
		return -1
	}, project)
	return []string{project + "-" + service, project + "_" + service} // of docker compose, of docker-compose
}
