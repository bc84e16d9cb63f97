package plan

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"prony/internal/spec"
)

// Kind is how a service comes to be.
type Kind string

const (
	Catalog  Kind = "catalog"  // an entry of the catalog
	Program  Kind = "process"  // a program that is built and started
	Docker   Kind = "docker"   // a container of an image
	Compose  Kind = "compose"  // a service of a Compose file
	External Kind = "external" // it runs already
)

// Service is a target, a gateway or what they need, resolved. Its texts may
// hold ${port}, ${work} and ${host}, which are known when it starts; see [Fill].
type Service struct {
	Name    string            `json:"name"`
	Kind    Kind              `json:"kind"`
	Entry   string            `json:"entry,omitempty"`  // of a catalog
	Params  map[string]string `json:"params,omitempty"` // of a catalog entry
	Process *Process          `json:"process,omitempty"`
	Docker  *Container        `json:"docker,omitempty"`
	Compose *ComposeFile      `json:"compose,omitempty"`
	URL     string            `json:"url,omitempty"` // of what runs already

	Instances int               `json:"instances"`
	Upstream  []string          `json:"upstream,omitempty"` // names of services that start first
	Limits    Limits            `json:"limits"`
	Ready     Ready             `json:"ready"`
	Env       map[string]string `json:"env,omitempty"`
	// Metrics are paths or URLs of metrics in the text format of Prometheus.
	Metrics []string `json:"metrics,omitempty"`
	// ThreadDumps is how often the states of a Java service's threads are read;
	// 0 is never. It stops the service for some milliseconds each time.
	ThreadDumps time.Duration `json:"thread_dumps_ns,omitempty"`
	Port        int           `json:"port,omitempty"` // 0: a free one for each instance
	Host        string        `json:"host,omitempty"` // name of its host; "" is this one
}

// Process is a program; Command and Build are words for no shell.
type Process struct {
	Command []string `json:"command"`
	Build   []string `json:"build,omitempty"`
	Dir     string   `json:"dir,omitempty"` // "": the experiment file's
}

// Container is a container of an image.
type Container struct {
	Image   string   `json:"image"`
	Command []string `json:"command,omitempty"`
	Port    int      `json:"port,omitempty"` // inside; 0: the only one that the image exposes
	Network string   `json:"network"`
	Volumes []string `json:"volumes,omitempty"`
	User    string   `json:"user,omitempty"`
}

// ComposeFile is a service of a Compose file.
type ComposeFile struct {
	File    string `json:"file"`
	Service string `json:"service"`
	Port    int    `json:"port,omitempty"` // inside; 0: the only one that it publishes
}

// Limits are what each instance may use; zero is no limit.
type Limits struct {
	CPUs   float64 `json:"cpus,omitempty"` // CPU time, in cores
	Cores  []int   `json:"cores,omitempty"`
	Memory int64   `json:"memory_bytes,omitempty"`
	PIDs   int     `json:"pids,omitempty"`
	// StartupCPUs takes the place of CPUs until the warm-up has ended; 0 does not.
	StartupCPUs float64 `json:"startup_cpus,omitempty"`
}

// AtStart are the limits with which an instance starts.
func (l Limits) AtStart() Limits {
	if l.StartupCPUs > 0 {
		l.CPUs, l.StartupCPUs = l.StartupCPUs, 0
	}
	return l
}

// None reports whether nothing is limited.
func (l Limits) None() bool {
	return l.CPUs == 0 && len(l.Cores) == 0 && l.Memory == 0 && l.PIDs == 0
}

// Ready is when an instance counts as started: the Path answers with Status, or
// the output matches Log, or (TCP) it takes a connection. All empty leaves it to
// the catalog entry.
type Ready struct {
	Path   string        `json:"path,omitempty"`
	Status int           `json:"status,omitempty"`
	TCP    bool          `json:"tcp,omitempty"`
	Log    string        `json:"log,omitempty"`
	Within time.Duration `json:"within_ns"`
}

// Started reports whether the service is ours to start and stop.
func (s Service) Started() bool { return s.Kind != External }

// Fill puts values in place of the variables ${name} of a service's text, and
// ${ in place of $${. An unknown variable is an error that names it.
func Fill(text string, values map[string]string) (string, error) { return spec.Fill(text, values) }

// At returns the load with the addresses of its services in place of their
// names: base URLs such as http://127.0.0.1:8080, one for each instance. The
// instances share the weight of a request. A service without an address is an
// error.
func (l Load) At(addresses map[string][]string) (Load, error) {
	var placed []Request
	for _, q := range l.Requests {
		if q.Service == "" {
			placed = append(placed, q)
			continue
		}
		if len(addresses[q.Service]) == 0 {
			return l, fmt.Errorf("place the requests of service %q: no address", q.Service)
		}
		for _, address := range addresses[q.Service] {
			one, err := q.at(address)
			if err != nil {
				return l, err
			}
			one.Weight /= float64(len(addresses[q.Service]))
			placed = append(placed, one)
		}
	}
	l.Requests = placed
	return l, nil
}

func (q Request) at(address string) (Request, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" {
		return q, fmt.Errorf("place the requests of service %q: %q is no URL", q.Service, address)
	}
	u, err := url.Parse(q.URL)
	if err != nil {
		return q, fmt.Errorf("place the requests of service %q: %w", q.Service, err)
	}
	u.Scheme, u.Host = base.Scheme, base.Host
	q.URL = u.String()
	return q, nil
}

// resolve turns a service of the file into one of the plan.
func resolve(s spec.Service) Service {
	p := Service{Name: s.Name, Entry: s.Catalog, Params: s.Params, URL: s.URL, Instances: max(s.Instances, 1), Upstream: s.Upstream,
		Env: maps.Clone(s.Env), Metrics: s.Metrics, ThreadDumps: time.Duration(s.ThreadDumps), Port: s.Port, Host: s.On}
	switch {
	case s.Catalog != "":
		p.Kind = Catalog
	case s.Process != nil:
		p.Kind = Program
		p.Process = &Process{Command: s.Process.Command, Build: s.Process.Build, Dir: s.Process.Dir}
		p.Env = merged(p.Env, s.Process.Env)
	case s.Docker != nil:
		p.Kind = Docker
		p.Docker = &Container{Image: s.Docker.Image, Command: s.Docker.Command, Port: s.Docker.Port, Network: s.Docker.Network,
			Volumes: s.Docker.Volumes, User: s.Docker.User}
		if p.Docker.Network == "" {
			p.Docker.Network = "bridge"
		}
	case s.Compose != nil:
		p.Kind = Compose
		p.Compose = &ComposeFile{File: s.Compose.File, Service: s.Compose.Service, Port: s.Compose.Port}
	default:
		p.Kind = External
	}
	if s.Limits != nil {
		p.Limits = Limits{CPUs: s.Limits.CPUs, Cores: s.Limits.CPUSet, Memory: int64(s.Limits.Memory), PIDs: s.Limits.PIDs,
			StartupCPUs: s.Limits.StartupCPUs}
		if p.Limits.StartupCPUs <= p.Limits.CPUs {
			p.Limits.StartupCPUs = 0
		}
	}
	p.Ready = readiness(s.Ready, p.Kind)
	return p
}

// merged adds what is nearer to the program and wins.
func merged(env, nearer map[string]string) map[string]string {
	if env == nil {
		return maps.Clone(nearer)
	}
	maps.Copy(env, nearer)
	return env
}

// readiness writes out the defaults.
func readiness(r *spec.Ready, kind Kind) Ready {
	var p Ready
	if r != nil {
		p = Ready{Path: r.Path, Status: r.Status, Within: time.Duration(r.Within), TCP: r.TCP, Log: r.Log}
	}
	if p.Within == 0 && kind != Catalog { // an entry knows how long it may take
		p.Within = time.Minute
	}
	switch {
	case p.Path != "" && p.Status == 0:
		p.Status = 200
	case p.Path == "" && p.Log == "" && kind != Catalog:
		p.TCP = true
	}
	return p
}

// startOrder puts upstreams before those that need them, and keeps the file's
// order otherwise. Circles were refused with the file.
func startOrder(services []Service) []Service {
	var ordered []Service
	placed := map[string]bool{}
	for len(ordered) < len(services) {
		before := len(ordered)
		for _, s := range services {
			if !placed[s.Name] && !slices.ContainsFunc(s.Upstream, func(name string) bool { return !placed[name] }) {
				placed[s.Name] = true
				ordered = append(ordered, s)
			}
		}
		if len(ordered) == before {
			return services
		}
	}
	return ordered
}

// limits describes them for people; "" for none.
func (l Limits) String() string {
	var parts []string
	if l.CPUs > 0 {
		text := plural(l.CPUs, "CPU")
		if l.StartupCPUs > 0 {
			text += fmt.Sprintf(" (%v until it is warm)", l.StartupCPUs)
		}
		parts = append(parts, text)
	}
	if len(l.Cores) > 0 {
		parts = append(parts, "cores "+spec.Cores(l.Cores).String())
	}
	if l.Memory > 0 {
		parts = append(parts, sizeText(l.Memory))
	}
	if l.PIDs > 0 {
		parts = append(parts, fmt.Sprintf("%d processes and threads", l.PIDs))
	}
	return strings.Join(parts, ", ")
}
