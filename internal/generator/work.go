package generator

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"prony/internal/plan"
)

// work is what a program's command line is made of.
type work struct {
	ctx  context.Context
	l    plan.Load
	q    plan.Request
	url  string
	dir  string // for files that the program reads; removed when it has ended
	home string // where what was built once is kept
	find func(string) (string, error)
}

// job is what is started.
type job struct {
	load command
	// report is what makes a report of what load left behind, asked for when it
	// has ended; nil when load prints one itself.
	report func() (command, error)
	// began is text on standard output with which the load begins; "" is the
	// start of the program.
	began string
}

// command is one program to start.
type command struct {
	file  string
	args  []string
	stdin string
}

// newWork resolves the address. A URL without a path gets one: ab refuses it
// otherwise, and wrk loses the query.
func newWork(ctx context.Context, l plan.Load, dir string, o Options) (work, error) {
	q := l.Requests[0]
	u, err := url.Parse(q.URL)
	if err != nil {
		return work{}, fmt.Errorf("parse URL: %w", err)
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.Fragment = ""
	if q.Method == "" {
		q.Method = "GET"
	}
	return work{ctx: ctx, l: l, q: q, url: u.String(), dir: dir, home: o.Home, find: o.Find}, nil
}

// command names a program that check has found.
func (w work) command(name string, args ...string) (command, error) {
	file, err := w.find(name)
	if err != nil {
		return command{}, fmt.Errorf("find %s: %w", name, err)
	}
	return command{file: file, args: args}, nil
}

// job is the usual one: a program that prints its report itself.
func (w work) job(name string, args []string) (job, error) {
	c, err := w.command(name, args...)
	return job{load: c}, err
}

// file writes what the program reads and returns its path.
func (w work) file(name string, content []byte) (string, error) {
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return "", fmt.Errorf("write for %s: %w", w.l.With, err)
	}
	return path, nil
}

// headers are the fields as "Name: value" behind a flag each. A host of its own
// is one of them, unless the program has a flag for it.
func (w work) headers(flag string, more ...plan.Header) []string {
	var args []string
	all := w.q.Headers
	if w.q.Host != "" {
		all = append([]plan.Header{{Name: "Host", Value: w.q.Host}}, all...)
	}
	for _, h := range append(all[:len(all):len(all)], more...) {
		args = append(args, flag, h.Name+": "+h.Value)
	}
	return args
}

// closing is the header that asks for a connection per request.
func (w work) closing() []plan.Header {
	if w.l.NoKeepAlive {
		return []plan.Header{{Name: "Connection", Value: "close"}}
	}
	return nil
}

// contentType is the header of that name, and the others.
func (w work) contentType() (value string, others work) {
	others = w
	others.q.Headers = nil
	for _, h := range w.q.Headers {
		if strings.EqualFold(h.Name, "Content-Type") {
			value = h.Value
			continue
		}
		others.q.Headers = append(others.q.Headers, h)
	}
	return value, others
}

// timeout is the one of a request.
func (w work) timeout() time.Duration {
	if t := w.l.Timeouts.Request; t > 0 {
		return t
	}
	return usualTimeout
}

// seconds are whole ones, as C programs take them.
func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

// pinned puts a command on the cores of the load, as its users would.
func (w work) pinned(c command) (command, error) {
	if len(w.l.Cores) == 0 {
		return c, nil
	}
	file, err := w.find("taskset")
	if err != nil {
		return c, fmt.Errorf("keep %s to its cores: find taskset: not installed; install it with: apt-get install util-linux", w.l.With)
	}
	var list []string
	for _, n := range w.l.Cores {
		list = append(list, strconv.Itoa(n))
	}
	c.args = append([]string{"-c", strings.Join(list, ","), c.file}, c.args...)
	c.file = file
	return c, nil
}
