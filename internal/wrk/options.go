package wrk

import "time"

// Options are what was typed.
type Options struct {
	Threads     int // -t
	Connections int // -c
	Duration    time.Duration
	Timeout     time.Duration
	Script      string
	// ScriptArgs are the arguments behind the URL. The script's init receives
	// the URL first and then these.
	ScriptArgs []string
	// Headers are the -H arguments as typed, "Name: value".
	Headers []string
	Latency bool
	Version bool
	Help    bool
	URL     string // as typed

	// Quirks asks for wrk's own figures and bytes on the wire, mistakes
	// included; Plain for nothing that wrk would not print; Strict for Prony's
	// exit status in place of wrk's.
	Quirks, Plain, Strict bool
	JSON                  string // file for the result
	Engine                string // a plan.Engine; "" chooses
	PrintSpec             bool
}

// wrk's defaults.
const (
	defaultThreads     = 2
	defaultConnections = 10
	defaultDuration    = 10 * time.Second
	defaultTimeout     = 2 * time.Second
)

// option is one line of the option table.
type option struct {
	long  string
	short byte // 0: none
	arg   bool
	// set applies the option; errUsage shows the usage and nothing else.
	set func(o *Options, value string) error
}

// wrkOptions are wrk's own in the order of its table, which its messages about
// ambiguous names keep. -r has no meaning but is no unknown letter.
func wrkOptions() []option {
	return []option{
		{"connections", 'c', true, func(o *Options, v string) error { return setCount(&o.Connections, v) }},
		{"duration", 'd', true, func(o *Options, v string) error { return setTime(&o.Duration, v) }},
		{"threads", 't', true, func(o *Options, v string) error { return setCount(&o.Threads, v) }},
		{"script", 's', true, func(o *Options, v string) error { o.Script = v; return nil }},
		{"header", 'H', true, func(o *Options, v string) error { o.Headers = append(o.Headers, v); return nil }},
		{"latency", 'L', false, func(o *Options, _ string) error { o.Latency = true; return nil }},
		{"timeout", 'T', true, func(o *Options, v string) error { return setTime(&o.Timeout, v) }},
		{"help", '?', false, func(o *Options, _ string) error { o.Help = true; return errUsage }},
		{"version", 'v', false, func(o *Options, _ string) error { o.Version = true; return nil }},
		{"", 'r', false, func(*Options, string) error { return errUsage }},
	}
}

// ownOptions are Prony's. They have long names only, and a beginning that fits
// one of wrk's names means wrk's.
func ownOptions() []option {
	return []option{
		{"quirks", 0, false, func(o *Options, _ string) error { o.Quirks = true; return nil }},
		{"plain", 0, false, func(o *Options, _ string) error { o.Plain = true; return nil }},
		{"strict", 0, false, func(o *Options, _ string) error { o.Strict = true; return nil }},
		{"json", 0, true, func(o *Options, v string) error { o.JSON = v; return nil }},
		{"engine", 0, true, setEngine},
		{"print-spec", 0, false, func(o *Options, _ string) error { o.PrintSpec = true; return nil }},
	}
}
