package generator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"prony/internal/audit"
	"prony/internal/plan"
	"prony/internal/result"
)

// Options of a run. The zero value is useful; every function may be nil.
type Options struct {
	// Started hears the number of the process that makes the load. A warm-up
	// that is a run of its own is not reported.
	Started func(pid int)
	// Window hears when the measured window begins and, unless zero, will end.
	Window func(start, end time.Time)
	// Output gets all that the program prints, as it comes.
	Output io.Writer
	// Warn hears of doubts about the figures, for the warnings of the result.
	Warn func(text string)
	// Cost hears what the program cost, once it has ended.
	Cost func(Cost)
	// Find gives the file of a program; default exec.LookPath.
	Find func(name string) (string, error)
	// Home is where what has to be built is kept, for Gatling; default a folder
	// in the user's cache.
	Home string
	// Patience is how long a program may go on beyond its time before it is
	// interrupted, and after an interrupt before it is killed. Default 10 s.
	Patience time.Duration
}

// Cost is what a program cost from its start to its end, without a warm-up that
// was a run of its own. Gatling's report, which is one too, is not in it.
type Cost struct {
	CPU    time.Duration // user and system time
	MaxRSS int64         // bytes; 0 where it is unknown
	Wall   time.Duration
}

// ErrNoReport says that a program ended without a report.
var ErrNoReport = errors.New("no report")

func (o Options) withDefaults() (Options, error) {
	if o.Find == nil {
		o.Find = exec.LookPath
	}
	if o.Patience == 0 {
		o.Patience = 10 * time.Second
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if o.Window == nil {
		o.Window = func(time.Time, time.Time) {}
	}
	if o.Home == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return o, fmt.Errorf("find a place for what is built: %w", err)
		}
		o.Home = filepath.Join(cache, "prony", "generator")
	}
	return o, nil
}

// Run makes a load with the program that it names and returns what that printed.
// When the context ends, the program is interrupted, and what it printed then is
// returned together with the context's error; h2load prints nothing then. The
// error wraps ErrNoReport when the program ended without a report.
func Run(ctx context.Context, l plan.Load, o Options) (*result.Load, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := check(l, o.Find); err != nil {
		return nil, err
	}
	p, _ := Lookup(l.With)
	dir, err := os.MkdirTemp("", "prony-generator-")
	if err != nil {
		return nil, fmt.Errorf("load with %s: %w", p.Name, err)
	}
	defer os.RemoveAll(dir)
	w, err := newWork(ctx, l, dir, o)
	if err != nil {
		return nil, err
	}
	r := runner{Program: p, o: o}
	load, err := r.run(ctx, w)
	if err != nil {
		err = fmt.Errorf("load with %s: %w", p.Name, err)
	}
	return load, err
}

// runner is one run under way.
type runner struct {
	Program
	o Options
}

// run warms up, loads, and reads the report.
func (r runner) run(ctx context.Context, w work) (*result.Load, error) {
	if w.l.Warmup > 0 && !r.Can.OwnWarmup {
		if err := r.warm(ctx, w); err != nil {
			return nil, fmt.Errorf("warm up: %w", err)
		}
	}
	version := r.says(ctx, w)
	j, err := r.job(w)
	if err != nil {
		return nil, err
	}
	e, err := r.child(w.l, j, true).run(ctx)
	if err != nil {
		return nil, err
	}
	if r.o.Cost != nil {
		r.o.Cost(e.cost)
	}
	text := transcript(w, j.load, e)
	if j.report != nil {
		made := r.report(ctx, w, j)
		text += made
		e.stderr += made // where there is no report, this says why
	}
	b, ok := r.read(text)
	if !ok {
		return nil, r.silent(ctx, e)
	}
	m := measured{Program: r.Program, l: w.l, b: b, e: e, text: text, version: version}
	load := m.load()
	for _, doubt := range m.doubts() {
		r.o.Warn(doubt)
	}
	if e.interrupted {
		return load, context.Cause(ctx)
	}
	return load, nil
}

// job is what is started, on its cores.
func (r runner) job(w work) (job, error) {
	j, err := r.build(w)
	if err == nil {
		j.load, err = w.pinned(j.load)
	}
	return j, err
}

// warm makes the load for the time of the warm-up and drops what is printed.
func (r runner) warm(ctx context.Context, w work) error {
	l := w.l
	l.Duration, l.Warmup, l.Count = l.Warmup, 0, 0
	w.l = l
	inner := filepath.Join(w.dir, "warmup")
	if err := os.Mkdir(inner, 0o700); err != nil {
		return err
	}
	w.dir = inner
	j, err := r.job(w)
	if err != nil {
		return err
	}
	e, err := r.child(l, j, false).run(ctx)
	switch {
	case err != nil:
		return err
	case e.interrupted:
		return context.Cause(ctx)
	case e.code != 0:
		return r.silent(ctx, e)
	}
	return nil
}

// child is the load as a process; a measured one is told of.
func (r runner) child(l plan.Load, j job, measured bool) child {
	c := child{command: j.load, began: j.began, grace: r.o.Patience}
	warmup := time.Duration(0)
	if r.Can.OwnWarmup {
		warmup = l.Warmup
	}
	if l.Duration > 0 {
		c.bound = warmup + l.Duration + cmp.Or(l.Timeouts.Request, usualTimeout) + r.o.Patience
		if j.began != "" {
			c.bound += startPatience
		}
	}
	if !measured {
		return c
	}
	c.tee, c.started = r.o.Output, r.o.Started
	c.begin = func(at time.Time) {
		at = at.Add(warmup)
		end := time.Time{}
		if l.Count == 0 {
			end = at.Add(l.Duration)
		}
		r.o.Window(at, end)
	}
	return c
}

// startPatience is how long a program that says when it begins may take until
// then: a virtual machine on a busy host.
const startPatience = 30 * time.Second

// report makes the report of what the load left, also after an interrupt.
func (r runner) report(ctx context.Context, w work, j job) string {
	c, err := j.report()
	if err != nil {
		return err.Error() + "\n"
	}
	e, err := child{command: c, tee: r.o.Output, bound: reportPatience, grace: r.o.Patience}.run(context.WithoutCancel(ctx))
	if err != nil {
		return err.Error() + "\n"
	}
	return transcript(w, c, e)
}

// reportPatience bounds the making of a report.
const reportPatience = 5 * time.Minute

// read finds the last report of the program in a text.
func (r runner) read(text string) (audit.Block, bool) {
	all, err := audit.Read([]audit.Source{{File: r.Name, Text: text}}, audit.Limits{})
	if err != nil {
		return audit.Block{}, false
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Tool == r.Name {
			return all[i], true
		}
	}
	return audit.Block{}, false
}

// silent is the error of a program that printed no report.
func (r runner) silent(ctx context.Context, e ending) error {
	said := lastLines(e.stderr)
	if said == "" {
		said = lastLines(e.stdout)
	}
	if said == "" {
		said = "it said nothing"
	}
	switch {
	case e.interrupted && !r.Can.Interrupt:
		return fmt.Errorf("%w: it prints none when it is interrupted: %w", ErrNoReport, context.Cause(ctx))
	case e.interrupted:
		return fmt.Errorf("%w: %w: %s", ErrNoReport, context.Cause(ctx), said)
	case e.late:
		return fmt.Errorf("%w: it did not end in time and was stopped: %s", ErrNoReport, said)
	}
	return fmt.Errorf("%w, exit status %d: %s", ErrNoReport, e.code, said)
}

// says asks the program for its version; "" when it does not tell.
func (r runner) says(ctx context.Context, w work) string {
	if r.version == nil {
		return ""
	}
	c, err := w.command(r.needs[0], r.version...)
	if err != nil {
		return ""
	}
	e, err := child{command: c, bound: r.o.Patience, grace: time.Second}.run(ctx)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(e.stdout+e.stderr), "\n")
	return strings.ToValidUTF8(line[:min(len(line), 120)], "")
}

// What must not be in a result that people share.
var (
	userinfo = regexp.MustCompile(`://[^/@\s]+@`)
	secret   = regexp.MustCompile(`(?i)^((?:proxy-)?authorization|cookie|x-api-key)(\s*:\s*).*`)
)

// transcript is a command with what it printed, as a terminal would show it. The
// command is without secrets.
func transcript(w work, c command, e ending) string {
	line := "$ "
	if c.stdin != "" {
		line += "printf '%s\\n'"
		for in := range strings.Lines(c.stdin) {
			line += " " + w.shown(strings.TrimSuffix(in, "\n"))
		}
		line += " | "
	}
	line += filepath.Base(c.file)
	for _, a := range c.args {
		line += " " + w.shown(a)
	}
	text := line + "\n"
	for _, part := range []string{e.stdout, e.stderr} {
		if text += part; part != "" && !strings.HasSuffix(part, "\n") {
			text += "\n"
		}
	}
	return userinfo.ReplaceAllString(text, "://***@") // wrk repeats its URL
}

// shown is a word of a command as a shell would take it, without secrets and
// without the folder that is gone when it is read.
func (w work) shown(word string) string {
	word = userinfo.ReplaceAllString(word, "://***@")
	word = secret.ReplaceAllString(word, "${1}${2}***")
	word = strings.ReplaceAll(word, w.dir+string(filepath.Separator), "")
	if word == "" || strings.ContainsAny(word, " \t\n'\"\\$*?#&;|<>(){}") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}
