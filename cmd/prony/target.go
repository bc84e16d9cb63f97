package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"prony/internal/demo"
	"prony/internal/testserver"
	"prony/internal/unit"
)

const targetLong = `Serve a target whose behaviour is known, to try Prony or any other load
generator on. It listens until it is interrupted. Paths choose a behaviour:
/delay/20ms /status/503 /bytes/100000 /chunked/5x1000 /close /until-close
/silent /reset /garbage /truncated-body /slow-body/1s /close-after/10
/work/200us /lock/2ms /pool/20x5ms /aging/1ms+100us /hold/64kB and more;
see docs/target.md. --fast serves one fixed answer as fast as one thread can.`

func targetCommand(std streams) *cobra.Command {
	var c targetFlags
	cmd := &cobra.Command{Use: "target", Short: "Serve a target whose behaviour is known, to try a load on", Long: targetLong, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serveTarget(cmd.Context(), c, std) }}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&c.addr, "addr", "127.0.0.1:8080", "address to listen on")
	f.BoolVar(&c.fast, "fast", false, "one fixed answer, as fast as possible (Linux)")
	f.IntVar(&c.threads, "threads", 1, "threads of --fast")
	f.StringVar(&c.delay, "delay", "0s", "time before each answer")
	f.StringVar(&c.body, "body-size", "12B", "bytes of the answer's body")
	f.StringVar(&c.stall, "stall", "", "answer nothing AFTER:FOR, e.g. 5s:1s, once")
	f.StringVar(&c.errors, "errors", "0%", "share of answers that are errors")
	f.IntVar(&c.status, "error-status", 500, "status of those errors")
	f.IntVar(&c.backlog, "backlog", 0, "length of the accept queue; 0 leaves it to the system")
	f.StringVar(&c.accept, "accept-every", "0s", "accept one connection in that time, at most")
	f.BoolVar(&c.tls, "tls", false, "serve https with a certificate made for the occasion")
	return cmd
}

type targetFlags struct {
	addr, delay, body, stall, errors, accept string
	fast, tls                                bool
	threads, status, backlog                 int
}

func serveTarget(ctx context.Context, c targetFlags, std streams) error {
	cfg, err := c.config()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	var s demo.Target
	if c.fast {
		s, err = demo.Fast(c.addr, c.threads, cfg.BodySize)
	} else {
		s, err = demo.Known(cfg)
	}
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	fmt.Fprintf(std.out, "listening on %s\n", s.URL())
	<-ctx.Done()
	return s.Close()
}

func (c targetFlags) config() (testserver.Config, error) {
	r := &reader{}
	cfg := testserver.Config{Address: c.addr, Delay: r.duration("delay", c.delay), BodySize: int(r.size("body-size", c.body)),
		ErrorStatus: c.status, Backlog: c.backlog, AcceptEvery: r.duration("accept-every", c.accept)}
	share, err := unit.ParsePercent(c.errors)
	r.bad("errors", err)
	cfg.ErrorShare = share
	if c.stall != "" {
		cfg.Stall, err = parseStall(c.stall)
		r.bad("stall", err)
	}
	if c.tls {
		cfg.TLS, _ = testserver.SelfSigned("localhost", "127.0.0.1", "::1")
	}
	if len(r.errs) > 0 {
		return cfg, r.errs[0]
	}
	return cfg, nil
}

func parseStall(s string) (testserver.Stall, error) {
	var after, long time.Duration
	for i := range s {
		if s[i] != ':' {
			continue
		}
		var err error
		if after, err = unit.ParseDuration(s[:i]); err != nil {
			return testserver.Stall{}, err
		}
		long, err = unit.ParseDuration(s[i+1:])
		return testserver.Stall{After: after, For: long}, err
	}
	return testserver.Stall{}, fmt.Errorf("%q: want AFTER:FOR, e.g. 5s:1s", s)
}
