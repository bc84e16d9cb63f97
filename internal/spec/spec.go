package spec

import (
	"fmt"
	"io"

	"go.yaml.in/yaml/v4"
)

// Version of the file format.
const Version = 1

// Experiment is one experiment file. Fields that were not written are zero;
// defaults are the plan's business.
type Experiment struct {
	Prony    int    `yaml:"prony"`
	Name     string `yaml:"name,omitempty"`
	Question string `yaml:"question,omitempty"`
	// Services and Load are those of the first combination of what is varied;
	// [Experiment.Resolve] gives the others.
	Services  Services          `yaml:"services"`
	Hosts     map[string]string `yaml:"hosts,omitempty"`
	Load      Loads             `yaml:"load"`
	Repeat    Repeat            `yaml:"repeat,omitempty"`
	Order     string            `yaml:"order,omitempty"`
	Baseline  map[string]string `yaml:"baseline,omitempty"`
	Expect    []string          `yaml:"expect,omitempty"`
	OnFailure string            `yaml:"on-failure,omitempty"`
	Cooldown  *Duration         `yaml:"cooldown,omitempty"`
	Seed      uint64            `yaml:"seed,omitempty"`
	Scale     Scale             `yaml:"scale,omitempty"`

	// Axes are what is varied, in the file's order.
	Axes []Axis `yaml:"-"`
	// Narrowed is set where flags leave fewer variants than the file has.
	Narrowed bool `yaml:"-"`

	file  string
	form  *form
	tree  *node
	combs []Combination
}

// Services are the services of an experiment in the file's order.
type Services []Service

// Service is one of them: how it comes to be, and what it may use. Exactly one
// of Catalog, Process, Docker, Compose, Kubernetes and URL is set.
type Service struct {
	Name        string            `yaml:"-"`
	Catalog     string            `yaml:"catalog,omitempty"`
	Process     *Process          `yaml:"process,omitempty"`
	Docker      *Docker           `yaml:"docker,omitempty"`
	Compose     *Compose          `yaml:"compose,omitempty"`
	Kubernetes  *Kubernetes       `yaml:"kubernetes,omitempty"`
	URL         string            `yaml:"url,omitempty"`
	Instances   int               `yaml:"instances,omitempty"`
	Upstream    []string          `yaml:"upstream,omitempty"`
	Limits      *Limits           `yaml:"limits,omitempty"`
	Ready       *Ready            `yaml:"ready,omitempty"`
	Env         map[string]string `yaml:"env,omitempty"`
	Params      map[string]string `yaml:"params,omitempty"`
	Metrics     []string          `yaml:"metrics,omitempty"`
	ThreadDumps Duration          `yaml:"thread_dumps,omitempty"` // 0: never
	Port        int               `yaml:"port,omitempty"`
	On          string            `yaml:"on,omitempty"`
}

// Process is a program that is built and started. Command and Build are words
// for no shell.
type Process struct {
	Command []string          `yaml:"command"`
	Build   []string          `yaml:"build,omitempty"`
	Env     map[string]string `yaml:"env,omitempty"`
	Dir     string            `yaml:"dir,omitempty"`
}

// Docker is a container of an image.
type Docker struct {
	Image   string   `yaml:"image"`
	Command []string `yaml:"command,omitempty"`
	Port    int      `yaml:"port,omitempty"` // inside the container
	Network string   `yaml:"network,omitempty"`
	Volumes []string `yaml:"volumes,omitempty"`
	User    string   `yaml:"user,omitempty"`
}

// Compose is a service of a Compose file.
type Compose struct {
	File    string `yaml:"file"`
	Service string `yaml:"service"`
	Port    int    `yaml:"port,omitempty"` // inside the container
}

// Kubernetes is a workload in a cluster.
type Kubernetes struct {
	Manifest  string `yaml:"manifest,omitempty"`
	Image     string `yaml:"image,omitempty"`
	Namespace string `yaml:"namespace,omitempty"`
	Context   string `yaml:"context,omitempty"`
	Service   string `yaml:"service,omitempty"`
	Port      int    `yaml:"port,omitempty"`
}

// Limits are what each instance may use; zero fields are no limit.
type Limits struct {
	CPUs   float64 `yaml:"cpus,omitempty"` // cores
	CPUSet Cores   `yaml:"cpuset,omitempty"`
	Memory Size    `yaml:"memory,omitempty"`
	PIDs   int     `yaml:"pids,omitempty"`
	// StartupCPUs takes the place of CPUs until the warm-up has ended, if it is
	// more.
	StartupCPUs float64 `yaml:"startup_cpus,omitempty"`
}

// Ready is when an instance counts as started.
type Ready struct {
	Path   string   `yaml:"path,omitempty"`
	Status int      `yaml:"status,omitempty"`
	Within Duration `yaml:"within,omitempty"`
	TCP    bool     `yaml:"tcp,omitempty"`
	Log    string   `yaml:"log,omitempty"` // a regular expression
}

// Repeat is how often each variant is measured: Times, or until a difference
// can be told.
type Repeat struct {
	Times int    `yaml:"times,omitempty"`
	Until *Until `yaml:"until,omitempty"`
}

// Until ends the repeats when a relative difference of Detect could be told,
// at Most repeats at the latest.
type Until struct {
	Detect float64 `yaml:"detect"`
	Most   int     `yaml:"most,omitempty"`
}

// MarshalYAML writes the services as a mapping, in their order.
func (s Services) MarshalYAML() (any, error) {
	m := &yaml.Node{Kind: yaml.MappingNode}
	for _, one := range s {
		var key, value yaml.Node
		if err := key.Encode(one.Name); err != nil {
			return nil, err
		}
		if err := value.Encode(one); err != nil {
			return nil, err
		}
		m.Content = append(m.Content, &key, &value)
	}
	return m, nil
}

// MarshalYAML writes a plain number of repeats as such.
func (r Repeat) MarshalYAML() (any, error) {
	if r.Until == nil {
		return r.Times, nil
	}
	detect := formatPercent(r.Until.Detect)
	until := map[string]any{"detect": detect}
	if r.Until.Most > 0 {
		until["most"] = r.Until.Most
	}
	return map[string]any{"until": until}, nil
}

// IsZero reports whether nothing was said about repeats.
func (r Repeat) IsZero() bool { return r == Repeat{} }

// Write encodes an experiment as a file: one that was loaded as it was written,
// with the changes of the flags but without its comments.
func Write(w io.Writer, e Experiment) error {
	var value any = e
	if e.tree != nil {
		value = e.tree.yaml()
	}
	b, err := yaml.Marshal(value)
	if err != nil {
		return fmt.Errorf("write experiment: %w", err)
	}
	if _, err = w.Write(b); err != nil {
		return fmt.Errorf("write experiment: %w", err)
	}
	return nil
}

// yaml is the tree as the YAML package writes it.
func (n *node) yaml() *yaml.Node {
	switch n.shape {
	case mapping:
		y := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for i, k := range n.keys {
			y.Content = append(y.Content, k.yaml(), n.items[i].yaml())
		}
		return y
	case sequence:
		y := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
		for _, item := range n.items {
			y.Content = append(y.Content, item.yaml())
			if item.shape != scalar {
				y.Style = 0
			}
		}
		return y
	case scalar:
		y := &yaml.Node{Kind: yaml.ScalarNode, Value: n.text}
		if n.quoted {
			y.Tag, y.Style = "!!str", yaml.SingleQuotedStyle
		}
		return y
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
}
