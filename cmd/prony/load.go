package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"prony/internal/analyse"
	"prony/internal/plan"
	"prony/internal/report"
	"prony/internal/result"
	"prony/internal/store"
)

const loadLong = `Load one or several URLs and report the rate, the latency from the intended
start, the books of all requests, and whether the number can be trusted.

Without -r the model is closed: each of -c connections sends its next request
when the last is answered. With -r it is open: requests leave by a timetable
that does not wait for answers, and latency counts from the planned time.

Exit status: 0 good, 1 an expectation failed or the result is invalid, 2 wrong
usage, 3 the target cannot be reached, 130 interrupted (what was measured is
reported).`

const loadExamples = `  prony load http://127.0.0.1:8080/ -c 64 -d 10s
  prony load http://127.0.0.1:8080/ -r 5000/s --arrivals poisson -d 30s -w 5s --expect 'p99 < 50ms'
  prony load https://127.0.0.1:8443/ -k -c 100 -n 50000 --json result.json
  prony load http://127.0.0.1:8080/a http://127.0.0.1:8080/b --weight 3 --weight 1 -r 100..2000/s -d 1m`

func loadCommand(std streams) *cobra.Command {
	var f loadFlags
	cmd := &cobra.Command{
		Use: "load URL [URL...]", Short: "Load a URL and say whether the number can be trusted",
		Long: loadLong, Example: loadExamples,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := noZeros(cmd.Flags()); err != nil {
				return err
			}
			return load(cmd.Context(), f, args, std)
		},
	}
	f.register(cmd.Flags())
	return cmd
}

func load(ctx context.Context, f loadFlags, urls []string, std streams) error {
	p, err := f.plan(urls)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if f.printSpec {
		return printSpec(std.out, p)
	}
	if err := foldersExist(f.json, f.hlog); err != nil {
		return &exitError{exitEnvironment, err}
	}
	if err := f.share.check(); err != nil {
		return err
	}
	people := std.out
	if f.json == "-" {
		people = std.err
	}
	run, err := f.drive(ctx, p, std)
	if run == nil || run.Load.Model == "" {
		return err
	}
	// Each is tried whatever became of the other: what was measured must not be
	// lost because a disk is full or a reader went away.
	files := writeFiles(run, f.json, f.hlog, std.out)
	history := f.keeping.remember(ctx, std)
	history.keep(ctx, store.Record{Trial: result.Trial{Run: *run}})
	history.close()
	if e := errors.Join(report.Text(people, run, analyse.Suggestions(run), style(people)), files); e != nil {
		return &exitError{exitEnvironment, e}
	}
	if err != nil {
		return err
	}
	return f.judge(run, std)
}

// judge writes the reports that were asked for and gives the verdict; the
// gravest status counts.
func (f loadFlags) judge(run *result.Run, std streams) error {
	root, err := runFlags{}.folder()
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	shared := f.share.finish(run, nil, nil, root, std)
	if err := verdict(run); statusOf(err) > statusOf(shared) {
		return err
	}
	return shared
}

// drive drives the load and shows how it goes.
func (f loadFlags) drive(ctx context.Context, p plan.Plan, std streams) (*result.Run, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d := driver{kind: "load", allow: f.allow}
	if w := watchHere(ctx); w != nil {
		defer w.Stop()
		d.watch = w
	}
	stage := f.looks.open(std, nil, p.Load, stop, d.live)
	defer stage.close(std.err)
	d.std, d.progress = stage.std, stage.events.Progress
	return d.drive(ctx, p)
}

// verdict turns a result into the error of its exit status.
func verdict(run *result.Run) error {
	if run.Load.EndedBy == "interrupt" {
		return &exitError{code: exitInterrupted}
	}
	for _, e := range run.Expect {
		if !e.Met {
			return &exitError{code: exitVerdict}
		}
	}
	if run.Validity.Verdict == result.Invalid {
		return &exitError{code: exitVerdict}
	}
	return nil
}

// loadFlags are the flags of prony load.
type loadFlags struct {
	connections int
	duration    string
	count       string
	rate        string
	threads     int
	warmup      string
	method      string
	headers     []string
	body        string
	insecure    bool

	arrivals, think, timeout, connectTimeout, tlsTimeout, drain string
	noKeepAlive                                                 bool
	pipeline                                                    int
	weights                                                     []float64
	sources                                                     []string
	dial, engine, timestamps                                    string
	connectRate                                                 string
	serverName, ca, cert, key, tlsMin, tlsMax                   string
	noResume                                                    bool
	maxHeader, maxBody                                          string
	seed                                                        uint64
	abortAfter                                                  int64
	expect                                                      []string
	json, hlog                                                  string
	printSpec                                                   bool
	looks                                                       looks
	allow                                                       []string
	keeping                                                     keeping
	share                                                       shareFlags
}

func (f *loadFlags) register(s *pflag.FlagSet) {
	s.SortFlags = false
	s.IntVarP(&f.connections, "connections", "c", 0, "connections (default 10; with a rate: at most 1000)")
	s.StringVarP(&f.duration, "duration", "d", "", "how long to measure, e.g. 30s, 2m (default 10s)")
	s.StringVarP(&f.count, "requests", "n", "", "exact number of requests, e.g. 500000, 1M")
	s.StringVarP(&f.rate, "rate", "r", "", "open model: requests per second in total; 500/s, ramp 100..500/s, steps 100,200,400/s, or @FILE with planned times")
	s.IntVarP(&f.threads, "threads", "t", 0, "generator threads (default: what the target leaves)")
	s.StringVarP(&f.warmup, "warmup", "w", "", "load before measuring, left out of the result")
	s.StringVarP(&f.method, "method", "m", "", "request method (default GET, or POST with a body)")
	s.StringArrayVarP(&f.headers, "header", "H", nil, "request header 'Name: value' (repeatable)")
	s.StringVarP(&f.body, "body", "b", "", "request body, or @FILE")
	s.BoolVarP(&f.insecure, "insecure", "k", false, "do not verify the server's certificate")
	f.registerLoad(s)
	f.registerTLS(s)
	f.registerOutput(s)
}

func (f *loadFlags) registerLoad(s *pflag.FlagSet) {
	s.StringVar(&f.arrivals, "arrivals", "poisson", "open model: poisson or constant")
	s.StringVar(&f.think, "think", "", "closed model: pause between answer and next request, e.g. 100ms, '100ms exponential'")
	s.BoolVar(&f.noKeepAlive, "no-keepalive", false, "a new connection for every request")
	s.IntVar(&f.pipeline, "pipeline", 1, "requests in flight on one connection")
	s.Float64SliceVar(&f.weights, "weight", nil, "share of each URL in the mix, in their order (repeatable)")
	s.StringVar(&f.timeout, "timeout", "10s", "of a request: from its send, with a rate from its planned time")
	s.StringVar(&f.connectTimeout, "connect-timeout", "10s", "of a connect")
	s.StringVar(&f.tlsTimeout, "tls-timeout", "10s", "of a TLS handshake")
	s.StringVar(&f.drain, "drain", "", "longest wait for answers after the end (default: the timeout, at most 1s; with a rate 30s)")
	s.StringVar(&f.connectRate, "connect-rate", "", "open at most that many connections a second")
	s.StringArrayVar(&f.sources, "source", nil, "local address to connect from (repeatable: used in turn)")
	s.StringVar(&f.dial, "dial", "", "connect there whatever the URL says: host:port or unix:/path")
	s.Int64Var(&f.abortAfter, "abort-after", 0, "end after so many failures in a row")
	s.StringVar(&f.maxHeader, "max-header", "256KiB", "largest response header taken")
	s.StringVar(&f.maxBody, "max-body", "", "largest response body taken (default: any)")
	s.Uint64Var(&f.seed, "seed", 1, "of arrivals and choices")
	s.StringVar(&f.engine, "engine", "auto", "io_uring, epoll, goroutines or auto")
	s.StringVar(&f.timestamps, "timestamps", "app", "what ends a request: app (bytes parsed) or kernel (segment received)")
}

func (f *loadFlags) registerTLS(s *pflag.FlagSet) {
	s.StringVar(&f.serverName, "server-name", "", "TLS server name (default: the URL's host)")
	s.StringVar(&f.ca, "cacert", "", "PEM file with CA certificates to trust instead of the system's")
	s.StringVar(&f.cert, "cert", "", "PEM file with the client certificate")
	s.StringVar(&f.key, "key", "", "PEM file with its key (default: in the same file)")
	s.StringVar(&f.tlsMin, "tls-min", "", "lowest TLS version, 1.2 or 1.3")
	s.StringVar(&f.tlsMax, "tls-max", "", "highest TLS version, 1.2 or 1.3")
	s.BoolVar(&f.noResume, "no-resume", false, "a full TLS handshake for every connection")
}

func (f *loadFlags) registerOutput(s *pflag.FlagSet) {
	s.StringArrayVar(&f.expect, "expect", nil, "goal such as 'p99 < 50ms' or 'errors < 0.1%' (repeatable)")
	s.StringVar(&f.json, "json", "", "write the result as JSON to FILE; - is standard output")
	s.StringVar(&f.hlog, "hdr", "", "write an HdrHistogram log (.hlog) of the response times to FILE")
	s.BoolVar(&f.printSpec, "print-spec", false, "print the experiment file this command amounts to, and stop")
	f.looks.register(s)
	f.keeping.register(s)
	f.share.register(s)
	s.StringArrayVar(&f.allow, "yes-i-may-load", nil, "HOST that is neither loopback nor private and that you may load")
}
