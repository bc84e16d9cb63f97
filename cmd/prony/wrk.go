package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"prony/internal/engine"
	"prony/internal/plan"
	"prony/internal/report"
	"prony/internal/result"
	"prony/internal/scenario"
	"prony/internal/wrk"
	"prony/internal/wrk/script"
)

// runWrk is the wrk command: wrk's arguments in, wrk's report and exit status
// out, Prony's verdict behind them.
func runWrk(ctx context.Context, args []string, std streams) int {
	args, allow := takeAllow(args)
	o, err := wrk.Parse(args)
	if o.Version {
		fmt.Fprintln(std.out, wrk.VersionLine(version, engineName(o.Engine)))
	}
	if err != nil {
		return wrkUsage(err, std)
	}
	p, err := o.Plan()
	if err != nil {
		fmt.Fprintln(std.err, err)
		return exitVerdict
	}
	p.Load = p.Load.WithDefaults(facts(p.Load))
	if err := p.Load.Validate(); err != nil {
		fmt.Fprintln(std.err, err)
		return exitVerdict
	}
	if o.PrintSpec {
		return status(printSpec(std.out, p), std)
	}
	session := wrkSession{o: o, std: std, allow: allow}
	return session.run(ctx, p)
}

// wrkUsage prints what wrk prints for arguments that start no test.
func wrkUsage(err error, std streams) int {
	var u *wrk.UsageError
	if !errors.As(err, &u) {
		fmt.Fprintln(std.err, err)
		return exitVerdict
	}
	fmt.Fprint(std.out, u.Stdout)
	fmt.Fprint(std.err, u.Stderr)
	return u.Code
}

type wrkSession struct {
	o     wrk.Options
	std   streams
	allow []string
	// started is the error of writing the first lines.
	started error
}

func (s *wrkSession) run(ctx context.Context, p plan.Plan) int {
	program, err := s.load(ctx, p)
	if err != nil {
		fmt.Fprintln(s.std.err, err)
		return exitVerdict
	}
	d := driver{kind: "wrk", std: s.std, allow: s.allow}
	if program != nil {
		for _, warning := range program.Warnings() {
			fmt.Fprintln(s.std.err, warning)
		}
		defer program.Close()
		if err := s.mayDial(ctx, program, p.Load.Threads); err != nil {
			return status(err, s.std)
		}
		d.script = func(i int) scenario.Script { return program.Thread(i) }
	}
	out := s.std.out
	if s.o.JSON == "-" {
		out = s.std.err
	}
	d.begun = func() { s.started = wrk.RenderStart(out, s.o) }
	run, err := d.drive(ctx, p)
	if s.started != nil {
		return exitEnvironment
	}
	if code, ended := s.failed(err); ended {
		return code
	}
	return s.report(out, run, program, err)
}

// failed prints wrk's line for a target that cannot be reached.
func (s *wrkSession) failed(err error) (code int, ended bool) {
	var e *engine.UnreachableError
	switch {
	case errors.As(err, &e):
		t, _ := s.o.Target()
		verb := "connect to"
		if e.Kind == result.DNSFailed {
			verb = "resolve"
		}
		fmt.Fprintf(s.std.err, "unable to %s %s:%s %s\n", verb, t.Host, t.Service(), lastWords(e.Failure.Example))
		return exitVerdict, true
	case err != nil:
		return status(err, s.std), true
	}
	return 0, false
}

// lastWords is the cause at the end of an error text, with a capital as C
// prints it.
func lastWords(text string) string {
	cause := strings.TrimSpace(text[strings.LastIndex(text, ": ")+1:])
	if cause == "" {
		return text
	}
	return strings.ToUpper(cause[:1]) + cause[1:]
}

func (s *wrkSession) report(out io.Writer, run *result.Run, program *script.Program, err error) int {
	if e := wrk.RenderResult(out, run, s.o); e != nil {
		return exitEnvironment
	}
	if program != nil {
		if err = program.Done(summary(wrk.Count(run)), wrk.Latency(run, s.o), wrk.Rates(run, s.o)); err != nil {
			fmt.Fprintln(s.std.err, err)
		}
	}
	for _, f := range run.Load.FailureDetails {
		if f.Kind == result.ScriptFailed.String() {
			fmt.Fprintln(s.std.err, f.Example)
		}
	}
	if e := writeFiles(run, s.o.JSON, "", s.std.out); e != nil {
		fmt.Fprintln(s.std.err, e)
		return exitEnvironment
	}
	if !s.o.Plain {
		if e := report.Verdict(out, run, style(out)); e != nil {
			return exitEnvironment
		}
	}
	switch {
	case s.o.Strict:
		return status(verdict(run), s.std)
	case err != nil || run.Load.EndedBy == "script" && run.Load.Failures[result.ScriptFailed.String()] > 0:
		return exitVerdict
	}
	return exitGood
}

func summary(t wrk.Totals) script.Summary {
	return script.Summary{Duration: t.DurationUS, Requests: t.Requests, Bytes: t.Bytes,
		Errors: script.Errors{Connect: t.Connect, Read: t.Read, Write: t.Write, Status: t.Status, Timeout: t.Timeout}}
}

// load runs the script, if there is one, up to the start of the load.
func (s *wrkSession) load(ctx context.Context, p plan.Plan) (*script.Program, error) {
	if s.o.Script == "" {
		return nil, nil
	}
	t, err := s.o.Target()
	if err != nil {
		return nil, err
	}
	c := script.Config{File: s.o.Script, Args: p.Load.Script.Args, Scheme: t.Scheme, Host: t.Host, Port: t.Port, Path: t.Path,
		Headers: s.o.Fields(), Threads: p.Load.Threads, Stdout: s.std.out, Stderr: s.std.err, Quirks: s.o.Quirks}
	if c.Addrs, err = net.DefaultResolver.LookupHost(ctx, t.Host); err != nil {
		return nil, fmt.Errorf("unable to resolve %s:%s %w", t.Host, t.Service(), err)
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", t.Service())
	if err != nil {
		return nil, fmt.Errorf("unable to resolve %s:%s %w", t.Host, t.Service(), err)
	}
	for i, host := range c.Addrs {
		c.Addrs[i] = net.JoinHostPort(host, fmt.Sprint(port))
	}
	return script.Load(c)
}

// takeAllow takes --yes-i-may-load HOST out of arguments of another program.
func takeAllow(args []string) (rest, hosts []string) {
	rest = slices.Clone(args)
	for i := 0; i+1 < len(rest); {
		if rest[i] == "--" {
			break
		}
		if rest[i] != "--yes-i-may-load" {
			i++
			continue
		}
		hosts = append(hosts, rest[i+1])
		rest = slices.Delete(rest, i, i+2)
	}
	return rest, hosts
}

// mayDial asks for the addresses that a script chose for its threads what
// mayLoad asks for the URL.
func (s *wrkSession) mayDial(ctx context.Context, program *script.Program, threads int) error {
	for i := range threads {
		if dial := program.Thread(i).Wants().Dial; dial != "" {
			if err := mayLoad(ctx, plan.Load{Dial: dial}, s.allow); err != nil {
				return err
			}
		}
	}
	return nil
}
