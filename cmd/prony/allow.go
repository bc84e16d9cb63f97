package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"prony/internal/plan"
)

// mayLoad refuses targets that are neither loopback nor private unless the
// user said, once per host, that they may be loaded. The answer is kept in the
// user's data folder.
func mayLoad(ctx context.Context, l plan.Load, allow []string) error {
	if strings.HasPrefix(l.Dial, "unix:") {
		return nil
	}
	known := allowedHosts()
	for _, host := range hosts(l) {
		if slices.Contains(known, host) || !public(ctx, host) {
			continue
		}
		if !slices.Contains(allow, host) {
			return &exitError{exitUsage, fmt.Errorf("%s is neither loopback nor private: if you may load it, say so once with --yes-i-may-load %s", host, host)}
		}
		if err := rememberHost(host); err != nil {
			return &exitError{exitEnvironment, fmt.Errorf("remember that %s may be loaded: %w", host, err)}
		}
	}
	return nil
}

// hosts are the names that connections go to.
func hosts(l plan.Load) []string {
	if l.Dial != "" {
		if host, _, err := net.SplitHostPort(l.Dial); err == nil {
			return []string{host}
		}
	}
	var all []string
	for _, q := range l.Requests {
		if u, err := url.Parse(q.URL); err == nil && !slices.Contains(all, u.Hostname()) {
			all = append(all, u.Hostname())
		}
	}
	return all
}

// public reports whether any address of the host is on the open internet. A
// name that does not resolve is left to the load, which reports it.
func public(ctx context.Context, host string) bool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	return err == nil && slices.ContainsFunc(ips, isPublic)
}

func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap()
	shared := netip.MustParsePrefix("100.64.0.0/10") // RFC 6598
	return !ip.IsLoopback() && !ip.IsPrivate() && !ip.IsLinkLocalUnicast() && !shared.Contains(ip)
}

// dataHome is where Prony keeps what it must remember.
func dataHome() (string, error) {
	if dir := os.Getenv("PRONY_HOME"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "prony"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "share", "prony"), nil
}

func allowedHosts() []string {
	dir, err := dataHome()
	if err != nil {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(dir, "may-load"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(b))
}

func rememberHost(host string) error {
	dir, err := dataHome()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "may-load"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, host)
	return errors.Join(err, f.Close())
}
