package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	api "prony/internal/serve"
	"prony/internal/spec"
	"prony/internal/web"
)

const serveLong = `Serve the history of runs as pages and as a JSON API (docs/api.md): list, compare
and mark runs, follow metrics, look at reports, hand in bundles and the printed
results of other tools, and draft experiments. With --allow-run experiments can
be started from the pages, one at a time: each is carried out by this program as
prony run would, with your rights, and ends with the server.

It listens on this machine alone. Any other address demands a token; so does a
machine whose other users are not to see your runs, or to start any. The token
is sent as it is: put a tunnel or a proxy with TLS around it on a network that
others share.`

type serveFlags struct {
	storeFlags
	addr, token, tokenFile, open string
	hosts                        []string
	allowRun                     bool
	keep                         string
}

func serveCommand(std streams) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{Use: "serve", Short: "Serve the history of runs as pages and as a JSON API", Long: serveLong, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), std) }}
	s := cmd.Flags()
	f.register(s)
	s.StringVar(&f.addr, "addr", "127.0.0.1:7676", "address to listen on")
	s.StringVar(&f.tokenFile, "token-file", "", "file with the token that every request has to bring")
	s.StringVar(&f.token, "token", "", "the token itself, which other users of this machine can see in the list of processes")
	s.StringArrayVar(&f.hosts, "host", nil, "further NAME by which requests may call this server, e.g. that of a proxy (repeatable)")
	s.BoolVar(&f.allowRun, "allow-run", false, "let experiments be started: whoever reaches the server can run programs as you")
	s.StringVar(&f.keep, "keep", "", "folder for the campaigns (default: runs in the user's data folder)")
	s.StringVar(&f.open, "open", "no", "open the page in a browser: yes or no")
	return cmd
}

func (f *serveFlags) run(ctx context.Context, std streams) error {
	c, err := f.config()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if c.Store, err = openStore(ctx, f.store, std); err != nil {
		return storeError(err)
	}
	defer func() { _ = c.Store.Close() }() // everything was committed
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.addr)
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	if f.allowRun {
		c.Run = (&starter{f.keep, absolute(f.store), c.Store}).run
	}
	s, err := api.New(c)
	if err != nil {
		return &exitError{exitUsage, errors.Join(err, l.Close())}
	}
	f.announce(l, std)
	if err := s.Serve(ctx, l); err != nil {
		return &exitError{exitEnvironment, err}
	}
	return nil
}

// absolute makes a file of the history mean the same in another folder.
func absolute(address string) string {
	if address == "" || strings.Contains(address, ":") {
		return address
	}
	if file, err := filepath.Abs(address); err == nil {
		return file
	}
	return address
}

// announce says where the server is.
func (f *serveFlags) announce(l net.Listener, std streams) {
	address := "http://" + l.Addr().String() + "/"
	if f.allowRun && f.token == "" {
		fmt.Fprintln(std.err, "prony: --allow-run without a token: every user of this machine can run programs as you")
	}
	fmt.Fprintf(std.out, "listening on %s\n", address)
	if f.open == "yes" {
		if err := openBrowser(address); err != nil {
			fmt.Fprintf(std.err, "prony: open a browser: %v\n", err)
		}
	}
}

// openBrowser asks the system to show a page; it does not wait for it to be
// closed.
func openBrowser(address string) error {
	cmd := exec.Command("xdg-open", address)
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("open", address)
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", address)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// config checks the flags.
func (f *serveFlags) config() (api.Config, error) {
	c := api.Config{Version: version, Hosts: f.hosts, Pages: web.Pages(), Plan: draft, Complete: complete}
	if f.open != "yes" && f.open != "no" {
		return c, fmt.Errorf("--open %q: want yes or no", f.open)
	}
	host, _, err := net.SplitHostPort(f.addr)
	if err != nil {
		return c, fmt.Errorf("--addr %q: want HOST:PORT, e.g. 127.0.0.1:7676", f.addr)
	}
	if f.tokenFile != "" {
		b, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return c, fmt.Errorf("--token-file: %w", err)
		}
		f.token = strings.TrimSpace(string(b))
	}
	c.Token, c.Public = f.token, !loopback(host)
	if (c.Public || f.token != "" || f.tokenFile != "") && len(f.token) < api.TokenLeast {
		return c, fmt.Errorf("%w for --addr %s: write one into a file, e.g. openssl rand -hex 16 > token, and give --token-file token", api.ErrToken, f.addr)
	}
	if c.Public {
		c.Hosts = append(c.Hosts, ownNames(host)...)
	}
	c.Schema, err = spec.Schema()
	return c, err
}

// loopback reports whether only this machine reaches a host. A name other than
// localhost may mean anything.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// ownNames are what this machine is called.
func ownNames(host string) (names []string) {
	if host != "" {
		names = append(names, host)
	}
	if name, err := os.Hostname(); err == nil {
		names = append(names, name)
	}
	return names
}
