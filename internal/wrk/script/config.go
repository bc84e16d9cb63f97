package script

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"prony/internal/plan"
)

// Config is a script with what it may know and do. The zero value of a field
// is its default.
type Config struct {
	// File is the path of the script; Source, when not nil, is used in its
	// place and File only names it in messages. Neither: the default request.
	File   string
	Source []byte
	// Args are what init receives: Args[0] is the URL as typed.
	Args []string
	// Scheme, Host, Port and Path are the parts of the URL, for the wrk table.
	// Host is without brackets, Port empty when the URL has none, Path holds
	// the query. Defaults: "http", "localhost", none, "/".
	Scheme, Host, Port, Path string
	// Headers are put into wrk.headers before the script is loaded.
	Headers []plan.Header
	// Threads is the number of worker states. Default 1.
	Threads int
	// Addrs are the addresses of the host, "ip:port", that accept connections.
	Addrs []string
	// Lookup resolves a host and a service name or port to "ip:port";
	// default: the system's resolver. Connect tries one; default: a TCP connect.
	Lookup  func(host, service string) ([]string, error)
	Connect func(addr string) bool
	// Stdout and Stderr receive what the script prints. Default: the process's.
	Stdout, Stderr io.Writer
	// Quirks runs on with what there is when the script cannot be loaded.
	Quirks bool
}

// networkTimeout bounds a lookup or a trial connect that a script asks for.
const networkTimeout = 10 * time.Second

// withDefaults returns c with every field filled in.
func (c Config) withDefaults() Config {
	setDefault(&c.Scheme, "http")
	setDefault(&c.Host, "localhost")
	setDefault(&c.Path, "/")
	c.Threads = max(c.Threads, 1)
	if c.Lookup == nil {
		c.Lookup = lookup
	}
	if c.Connect == nil {
		c.Connect = connect
	}
	if c.Stdout == nil {
		c.Stdout = os.Stdout
	}
	if c.Stderr == nil {
		c.Stderr = os.Stderr
	}
	return c
}

func setDefault(s *string, value string) {
	if *s == "" {
		*s = value
	}
}

// name is how messages call the script.
func (c *Config) name() string {
	if c.File == "" {
		return "script"
	}
	return c.File
}

// source returns the text of the script, nil if there is none, without the
// first line if that is for a Unix kernel ("#!").
func (c *Config) source() ([]byte, error) {
	text := c.Source
	if text == nil && c.File != "" {
		var err error
		if text, err = os.ReadFile(c.File); err != nil {
			return nil, fmt.Errorf("read script: %w", err)
		}
	}
	if len(text) > 0 && text[0] == '#' {
		text = append([]byte("--"), text...)
	}
	return text, nil
}

// warnings are remarks on the arguments. An option behind "--" goes to the
// script, which surprises most people who put one there.
func (c *Config) warnings() []string {
	var all []string
	for i, arg := range c.Args {
		if i > 0 && len(arg) > 1 && arg[0] == '-' && strings.Trim(arg, "-0123456789.") != "" {
			all = append(all, fmt.Sprintf("%q looks like an option, but stands behind \"--\" and goes to the script", arg))
		}
	}
	return all
}

// lookup resolves through the system's resolver.
func lookup(host, service string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), networkTimeout)
	defer cancel()
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", service)
	if err != nil {
		return nil, err
	}
	hosts, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return nil, err
	}
	addrs := make([]string, len(hosts))
	for i, h := range hosts {
		addrs[i] = net.JoinHostPort(h, fmt.Sprint(port))
	}
	return addrs, nil
}

// connect tries an address.
func connect(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, networkTimeout)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
