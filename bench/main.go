package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

// run is the program. Called by itself as a server, it is that.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == holdCommand {
		return serveHold(ctx, args[1:], stdout)
	}
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if runtime.GOOS != "linux" {
		return errors.New("check system: the comparison needs Linux (taskset, /proc, io_uring)")
	}
	dir, err := os.MkdirTemp("", "prony-bench-")
	if err != nil {
		return fmt.Errorf("make scratch folder: %w", err)
	}
	defer os.RemoveAll(dir)
	b := &bench{settings: s, dir: dir, log: stderr, report: &report{}}
	if err := b.all(ctx); err != nil {
		return err
	}
	if s.again {
		if err := b.report.adopt(dataFile(s.out)); err != nil {
			return err
		}
	}
	return b.write(stdout)
}

// settings are the flags.
type settings struct {
	quick                     bool
	only                      *regexp.Regexp
	duration                  time.Duration // of one run, whole seconds: wrk takes no other
	rounds                    int
	out                       string // the page; the JSON lies beside it
	again                     bool   // keep the sections of the page that are not measured now
	prony                     string // a binary to measure instead of building one
	serverCore, generatorCore int
}

// parse reads the flags. -quick changes what they default to, and writes
// nothing but to a page that was named.
func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	only := f.String("only", "", "measure the sections that match `REGEXP`, e.g. throughput/fast, latency, memory")
	f.BoolVar(&s.quick, "quick", false, "one round of 1 s each, a part of the matrix: a smoke test, no measurement; prints the page unless -out is given")
	f.DurationVar(&s.duration, "duration", 3*time.Second, "length of one run, whole seconds")
	f.IntVar(&s.rounds, "rounds", 5, "alternations")
	f.StringVar(&s.out, "out", "docs/benchmarks.md", "page to write; a .json is written beside it; - is standard output")
	f.BoolVar(&s.again, "again", false, "measure the sections of -only again and keep the others of the page that is there")
	f.StringVar(&s.prony, "prony", "", "measure this `FILE` instead of building it")
	f.IntVar(&s.serverCore, "server-core", 0, "core of the servers")
	f.IntVar(&s.generatorCore, "generator-core", 1, "core of the generators")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	s.quicken(given)
	var err error
	if s.only, err = regexp.Compile(*only); err != nil {
		return s, fmt.Errorf("read -only: %w", err)
	}
	return s, s.check(f.Args())
}

// command is what to type for the same again.
func (s settings) command() string {
	line := fmt.Sprintf("go run ./bench -duration %v -rounds %d", s.duration, s.rounds)
	if s.quick {
		line += " -quick"
	}
	if s.only.String() != "" {
		line += " -only '" + s.only.String() + "'"
	}
	if s.again {
		line += " -again"
	}
	if s.prony != "" {
		line += " -prony " + filepath.Base(s.prony)
	}
	return line
}

func (s *settings) quicken(given map[string]bool) {
	if !s.quick {
		return
	}
	if !given["duration"] {
		s.duration = time.Second
	}
	if !given["rounds"] {
		s.rounds = 1
	}
	if !given["out"] {
		s.out = "-"
	}
}

func (s settings) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("read arguments: %q is none", rest[0])
	case s.duration < time.Second || s.duration%time.Second != 0:
		return fmt.Errorf("read -duration: %v is not a whole number of seconds, which wrk needs", s.duration)
	case s.rounds < 1:
		return fmt.Errorf("read -rounds: %d is not above 0", s.rounds)
	case s.serverCore == s.generatorCore:
		return fmt.Errorf("read cores: servers and generators share core %d", s.serverCore)
	case max(s.serverCore, s.generatorCore) >= hostCores():
		return fmt.Errorf("read cores: core %d asked for, the machine has %d", max(s.serverCore, s.generatorCore), hostCores())
	}
	return nil
}

// bench is one execution of this program.
type bench struct {
	settings
	dir    string // scratch
	log    io.Writer
	tools  tools
	report *report
	files  int // descriptors that a process may have
}

// sections lists what can be measured, in the order of the page.
func (b *bench) sections() []func(context.Context) error {
	return []func(context.Context) error{
		b.throughput, b.latency, b.stall, b.memory, b.manyConnections, b.systemCalls, b.allocations, b.profile,
	}
}

// all measures everything asked for. Only what makes the rest pointless is an
// error; a generator that does not run is a line in the report.
func (b *bench) all(ctx context.Context) error {
	var err error
	if b.files, err = raiseFiles(110_000); err != nil {
		b.skip("more open files", err)
	}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	for _, section := range b.sections() {
		if err := section(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	b.report.Goals = goals(b.report)
	return nil
}

// wanted reports whether a section was asked for.
func (b *bench) wanted(section string) bool { return b.only.MatchString(section) }

// say tells the person at the terminal.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.log, format+"\n", args...)
}

// skip notes what was not measured, and why.
func (b *bench) skip(what string, why error) {
	line := what + ": " + strings.ReplaceAll(strings.TrimSpace(why.Error()), "\n", "; ")
	b.say("bench: skipped: %s", line)
	b.report.Skipped = append(b.report.Skipped, line)
}

// write writes the page and the JSON, or prints the page.
func (b *bench) write(stdout io.Writer) error {
	if b.out == "-" {
		return page(stdout, b.report)
	}
	if err := os.MkdirAll(filepath.Dir(b.out), 0o755); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	if err := writeFile(b.out, func(w io.Writer) error { return page(w, b.report) }); err != nil {
		return err
	}
	return writeFile(dataFile(b.out), b.report.writeJSON)
}

// dataFile is the JSON beside a page.
func dataFile(page string) string { return strings.TrimSuffix(page, filepath.Ext(page)) + ".json" }

func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write report %s: %w", name, err)
	}
	return nil
}
