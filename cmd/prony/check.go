package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"prony/internal/plan"
	"prony/internal/scenario"
	"prony/internal/unit"
)

// noZeros refuses a zero that was typed where zero stands for the default: who
// types -n 0 or --timeout 0 means something else.
func noZeros(s *pflag.FlagSet) error {
	names := []string{"connections", "duration", "requests", "threads", "pipeline", "timeout", "connect-timeout", "tls-timeout"}
	var first error
	s.Visit(func(f *pflag.Flag) {
		d, err := unit.ParseDuration(f.Value.String())
		if first == nil && err == nil && d == 0 && slices.Contains(names, f.Name) {
			first = fmt.Errorf("--%s: %s: want more than 0", f.Name, f.Value)
		}
	})
	return first
}

// words checks the flags that choose among words, name addresses or files: a
// mistake in one of them is told before anything runs.
func (f *loadFlags) words(r *reader) {
	r.oneOf("engine", f.engine, string(plan.Auto), string(plan.IOURing), string(plan.Epoll), string(plan.Goroutines))
	r.oneOf("timestamps", f.timestamps, string(plan.AppTimestamps), string(plan.KernelTimestamps))
	r.oneOf("arrivals", f.arrivals, "poisson", "constant")
	r.oneOf("tls-min", f.tlsMin, "", "1.2", "1.3")
	r.oneOf("tls-max", f.tlsMax, "", "1.2", "1.3")
	for _, s := range f.sources {
		if _, err := netip.ParseAddr(s); err != nil {
			r.bad("source", fmt.Errorf("%q: want an IP address of this machine", s))
		}
	}
	if f.dial != "" && !strings.HasPrefix(f.dial, "unix:/") {
		if _, port, err := net.SplitHostPort(f.dial); err != nil || !isPort(port) {
			r.bad("dial", fmt.Errorf("%q: want host:port or unix:/path", f.dial))
		}
	}
	r.readable("cacert", f.ca)
	r.readable("cert", f.cert)
	r.readable("key", f.key)
}

// oneOf refuses a word that is not among those allowed.
func (r *reader) oneOf(flag, got string, allowed ...string) {
	if !slices.Contains(allowed, got) {
		allowed = slices.DeleteFunc(allowed, func(s string) bool { return s == "" })
		last := len(allowed) - 1
		r.bad(flag, fmt.Errorf("%q: want %s or %s", got, strings.Join(allowed[:last], ", "), allowed[last]))
	}
}

// readable refuses a file that cannot be opened.
func (r *reader) readable(flag, file string) {
	if file == "" {
		return
	}
	f, err := os.Open(file)
	r.bad(flag, err)
	if err == nil {
		_ = f.Close() // nothing was written
	}
}

// foldersExist refuses output files whose folder does not exist: better before
// the load than behind it.
func foldersExist(files ...string) error {
	var errs []error
	for _, file := range files {
		if file == "" || file == "-" {
			continue
		}
		if _, err := os.Stat(filepath.Dir(file)); err != nil {
			errs = append(errs, &os.PathError{Op: "open", Path: file, Err: errors.Unwrap(err)})
		}
	}
	return errors.Join(errs...)
}

// isPort reports whether s is a port that can be dialled.
func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// encodable refuses requests that cannot be written as HTTP: a method that is
// no token, a header with a line break, a Content-Length that is not the
// body's.
func encodable(l plan.Load) error {
	_, err := scenario.NewMix(l.Requests, l.NoKeepAlive, 1)
	return err
}
