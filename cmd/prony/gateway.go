package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"prony/internal/gateway"
)

const gatewayLong = `Serve a small HTTP/1.1 reverse proxy in front of one or several upstreams, until
it is interrupted. Connections to the upstreams are kept and used again; nothing
is retried, so that what an upstream does can be seen.`

const gatewayExample = `  prony gateway --upstream 127.0.0.1:8081 --upstream 127.0.0.1:8082
  prony gateway --upstream 127.0.0.1:8081 --keepalive 0     # a connection for each request`

func gatewayCommand(std streams) *cobra.Command {
	var c gateway.Config
	var timeout, policy string
	cmd := &cobra.Command{Use: "gateway", Short: "Serve a small reverse proxy, to measure what is behind a gateway",
		Long: gatewayLong, Example: gatewayExample, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := &reader{}
			c.Timeout = r.duration("timeout", timeout)
			if len(r.errs) > 0 {
				return &exitError{exitUsage, r.errs[0]}
			}
			c.Policy = gateway.Policy(policy)
			return serveGateway(cmd.Context(), c, std)
		}}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&c.Address, "addr", "127.0.0.1:8080", "address to listen on")
	f.StringArrayVar(&c.Upstreams, "upstream", nil, "host:port of an upstream; may be repeated")
	f.StringVar(&policy, "policy", string(gateway.RoundRobin), "which upstream is next: roundrobin or leastconn")
	f.IntVar(&c.KeepAlive, "keepalive", gateway.DefaultKeepAlive, "idle connections kept to each upstream; 0: one connection a request")
	f.StringVar(&timeout, "timeout", gateway.DefaultTimeout.String(), "time an upstream has until its answer begins")
	f.IntVar(&c.MaxConns, "max-conns", 0, "most connections to one upstream; 0: no limit")
	f.BoolVar(&c.Status, "status", false, "count requests by upstream at "+gateway.StatusPath)
	return cmd
}

func serveGateway(ctx context.Context, c gateway.Config, std streams) error {
	if c.KeepAlive == 0 {
		c.KeepAlive = -1 // a zero was typed: keep none
	}
	if err := c.Validate(); err != nil {
		return &exitError{exitUsage, err}
	}
	raiseFileLimit(gateway.DefaultKeepAlive)
	g, err := gateway.Start(c)
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	fmt.Fprintf(std.out, "listening on %s\n", g.URL())
	<-ctx.Done()
	return g.Close()
}
