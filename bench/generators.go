package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// generator is one way to call one load generator. The templates are
// arguments; {c}, {s}, {rate}, {url} and so on are filled in by command.
type generator struct {
	name    string // as the page calls it
	program string
	closed  string // as fast as it goes over {c} connections
	open    string // a constant {rate}; empty if it has no such mode
	model   string // what the open template really is
	after   string // a second call, not measured, that prints the result
	http10  bool   // speaks HTTP/1.0 only, which the fast responder ignores: it would wait for a close
	parse   func([]byte) (reading, error)
}

// Names that the sections and the goals refer to.
const (
	wrk       = "wrk"
	uring     = "prony io_uring"
	epoll     = "prony epoll"
	epollRecv = "prony epoll, kernel timestamps"
)

// reference is the generator that ratios are taken to.
const reference = wrk

// openModel is what prony -r is.
const openModel = "open, latency from the planned time"

const pronyTail = " -t 1 {k} {sources} -q --json -"

// generators lists all of them in the order of the tables.
//
//house:long a flat table of command lines
func generators() []generator {
	return []generator{
		{name: wrk, program: "wrk", parse: parseWrk,
			closed: "-t 1 -c {c} -d {s}s --latency {url}"},
		{name: uring, program: "prony", parse: parseProny,
			closed: "load {url} -c {c} -d {s}s --engine io_uring" + pronyTail,
			open:   "load {url} -r {rate}/s --arrivals constant -d {s}s --engine io_uring" + pronyTail, model: openModel},
		{name: epoll, program: "prony", parse: parseProny,
			closed: "load {url} -c {c} -d {s}s --engine epoll" + pronyTail,
			open:   "load {url} -r {rate}/s --arrivals constant -d {s}s --engine epoll" + pronyTail, model: openModel},
		{name: epollRecv, program: "prony", parse: parseProny,
			closed: "load {url} -c {c} -d {s}s --engine epoll --timestamps kernel" + pronyTail},
		{name: "h2load", program: "h2load", parse: parseH2load,
			closed: "--h1 -t 1 -c {c} -D {s} {url}"},
		{name: "ab", program: "ab", parse: parseAB, http10: true,
			closed: "-k -q -c {c} -t {s} -n 5000000 {url}"},
		{name: "bombardier", program: "bombardier", parse: parseBombardier,
			closed: "-c {c} -d {s}s -l -p r -o json {url}",
			open:   "-c 200 -r {rate} -d {s}s -l -p r -o json {url}", model: "200 connections under a rate limit"},
		{name: "vegeta", program: "vegeta", parse: parseVegeta,
			closed: "attack -targets {targets} -output {file} -duration {s}s -rate 0 -workers {c} -max-workers {c} -connections {c}",
			open:   "attack -targets {targets} -output {file} -duration {s}s -rate {rate}", model: "open, workers without limit",
			after: "report -type json {file}"},
		{name: "fortio", program: "fortio", parse: parseFortio,
			closed: "load -qps 0 -c {c} -t {s}s -p 50,90,95,99 -quiet -json - {url}",
			open:   "load -qps {rate} -c 10 -t {s}s -p 50,90,95,99 -quiet -json - {url}", model: "10 connections under a rate limit"},
		{name: "hey", program: "hey", parse: parseHey,
			closed: "-z {s}s -c {c} {url}",
			open:   "-z {s}s -c 10 -q {tenth} {url}", model: "10 connections under a rate limit"},
	}
}

// load says how to load.
type load struct {
	url         string
	connections int
	duration    time.Duration
	rate        int // per second; 0 is a closed load
	sources     []string
}

// command fills in a generator's template. Program is the path of its binary,
// scratch a folder for what it writes.
func (g generator) command(program, scratch string, l load) []string {
	template := g.closed
	if l.rate > 0 {
		template = g.open
	}
	return append([]string{program}, fill(template, scratch, l)...)
}

// fill replaces the placeholders of a template, field by field; a field that
// becomes empty is left out.
func fill(template, scratch string, l load) []string {
	insecure := ""
	if strings.HasPrefix(l.url, "https:") {
		insecure = "-k"
	}
	values := strings.NewReplacer("{c}", strconv.Itoa(l.connections), "{url}", l.url, "{k}", insecure,
		"{s}", strconv.Itoa(int(l.duration/time.Second)), "{rate}", strconv.Itoa(l.rate), "{tenth}", strconv.Itoa(l.rate/10),
		"{file}", filepath.Join(scratch, "results.bin"), "{targets}", filepath.Join(scratch, "targets.txt"))
	var args []string
	for _, field := range strings.Fields(template) {
		if field == "{sources}" {
			for _, s := range l.sources {
				args = append(args, "--source", s)
			}
		} else if field = values.Replace(field); field != "" {
			args = append(args, field)
		}
	}
	return args
}

// shown writes a command for people: programs without their folders.
func shown(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = w
		if filepath.IsAbs(w) {
			words[i] = filepath.Base(w)
		}
	}
	return strings.Join(words, " ")
}

// pinned puts a command on a core.
func pinned(core int, argv []string) []string {
	return append([]string{"taskset", "-c", strconv.Itoa(core)}, argv...)
}

// pick returns the generators of these names that can be run.
func (b *bench) pick(names ...string) []generator {
	var all []generator
	for _, g := range b.available() {
		for _, name := range names {
			if g.name == name {
				all = append(all, g)
			}
		}
	}
	return all
}

// available returns the generators whose program is there.
func (b *bench) available() []generator {
	var all []generator
	for _, g := range generators() {
		if b.tools.path(g.program) != "" {
			all = append(all, g)
		}
	}
	return all
}

// modern leaves out those that speak HTTP/1.0 only.
func modern(all []generator) []generator {
	return slices.DeleteFunc(slices.Clone(all), func(g generator) bool { return g.http10 })
}

// named is a generator's word for a message.
func (g generator) named(err error) error {
	return fmt.Errorf("run %s: %w", cmp.Or(g.name, g.program), err)
}
