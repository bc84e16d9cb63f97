package spec

// Loads are the loads that run side by side; mostly there is one.
type Loads []Traffic

// Traffic is one load, in the file's own terms. Zero fields were not written.
type Traffic struct {
	Name        string     `yaml:"name,omitempty"`
	Target      string     `yaml:"target"`
	Path        string     `yaml:"path,omitempty"`
	Requests    []Request  `yaml:"requests,omitempty"`
	Connections int        `yaml:"connections,omitempty"`
	Threads     int        `yaml:"threads,omitempty"`
	Rate        Rate       `yaml:"rate,omitempty"`
	Arrivals    string     `yaml:"arrivals,omitempty"`
	Capacity    *Capacity  `yaml:"capacity,omitempty"`
	Duration    Duration   `yaml:"duration,omitempty"`
	Count       int64      `yaml:"count,omitempty"`
	Warmup      *Warmup    `yaml:"warmup,omitempty"`
	Think       Think      `yaml:"think,omitempty"`
	KeepAlive   *bool      `yaml:"keepalive,omitempty"`
	Pipeline    int        `yaml:"pipeline,omitempty"`
	Method      string     `yaml:"method,omitempty"`
	Headers     [][]string `yaml:"headers,omitempty,flow"` // name and value each
	Body        string     `yaml:"body,omitempty"`
	Script      string     `yaml:"script,omitempty"`
	ScriptArgs  []string   `yaml:"script-args,omitempty"`
	Timeout     Duration   `yaml:"timeout,omitempty"`
	ConnTimeout Duration   `yaml:"connect-timeout,omitempty"`
	TLSTimeout  Duration   `yaml:"tls-timeout,omitempty"`
	Drain       *Duration  `yaml:"drain,omitempty"`        // 0: none
	ConnectRate float64    `yaml:"connect-rate,omitempty"` // per second
	Dial        string     `yaml:"dial,omitempty"`
	Sources     []string   `yaml:"sources,omitempty"`
	MaxHeader   Size       `yaml:"max-header,omitempty"`
	MaxBody     Size       `yaml:"max-body,omitempty"`
	Insecure    bool       `yaml:"insecure,omitempty"`
	ServerName  string     `yaml:"server-name,omitempty"`
	CA          string     `yaml:"ca,omitempty"`
	Cert        string     `yaml:"cert,omitempty"`
	Key         string     `yaml:"key,omitempty"`
	TLSMin      string     `yaml:"tls-min,omitempty"`
	TLSMax      string     `yaml:"tls-max,omitempty"`
	NoResume    bool       `yaml:"no-resume,omitempty"`
	With        string     `yaml:"with,omitempty"`
	Engine      string     `yaml:"engine,omitempty"`
	Timestamps  string     `yaml:"timestamps,omitempty"`
	Seed        uint64     `yaml:"seed,omitempty"`
	AbortAfter  int64      `yaml:"abort-after,omitempty"`
	SameLength  bool       `yaml:"same-length,omitempty"`
}

// Request is one entry of the mix.
type Request struct {
	Path    string     `yaml:"path"`
	Name    string     `yaml:"name,omitempty"`
	Service string     `yaml:"service,omitempty"` // when it is not the load's target
	Method  string     `yaml:"method,omitempty"`
	Proto   string     `yaml:"protocol,omitempty"`
	Host    string     `yaml:"host,omitempty"`
	Headers [][]string `yaml:"headers,omitempty,flow"` // name and value each
	Body    string     `yaml:"body,omitempty"`
	Weight  float64    `yaml:"weight,omitempty"`
}

// Capacity asks for the highest rate at which the goals hold.
type Capacity struct {
	SLO    []string `yaml:"slo"`
	Within float64  `yaml:"within,omitempty"` // a ratio
}

// MarshalYAML writes a lone load as a mapping.
func (l Loads) MarshalYAML() (any, error) {
	if len(l) == 1 {
		return l[0], nil
	}
	return []Traffic(l), nil
}
