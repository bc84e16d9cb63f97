package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	back "prony/internal/driver"
	native "prony/internal/driver/process"
	"prony/internal/host"
	"prony/internal/host/ssh"
	"prony/internal/plan"
)

// sites are the machines of an experiment: this one and those reached over ssh.
type sites struct {
	all  map[string]back.Site
	open []*ssh.Host
}

// openSites connects to the hosts and puts a copy of this program on each. If
// one cannot be reached, none stays open.
func openSites(ctx context.Context, hosts []plan.Host) (*sites, error) {
	s := &sites{all: map[string]back.Site{"": {Host: host.Local()}}}
	for _, h := range hosts {
		if err := s.add(ctx, h); err != nil {
			return nil, errors.Join(fmt.Errorf("host %s: %w", h.Name, err), s.close())
		}
	}
	return s, nil
}

func (s *sites) add(ctx context.Context, h plan.Host) error {
	remote, err := ssh.Dial(ctx, h.URL, ssh.Config{})
	if err != nil {
		return err
	}
	s.open = append(s.open, remote)
	site := back.Site{Host: remote, Name: h.Name, Address: remote.Address()}
	// Where a copy of ours does not run, there are no limits, and the host is
	// watched by reading its files.
	if self, _, err := remote.CopySelf(ctx); err == nil {
		site.Self = []string{self, obeyName}
	} else if ctx.Err() != nil {
		return err
	}
	s.all[h.Name] = site
	return nil
}

func (s *sites) close() error {
	var errs []error
	for _, h := range s.open {
		errs = append(errs, h.Close())
	}
	s.open = nil
	return errors.Join(errs...)
}

// obeyName is the hidden command that does on another host what needs to be
// done there.
const obeyName = "obey"

func obeyCommand(std streams) *cobra.Command {
	return &cobra.Command{Use: obeyName, Hidden: true, Args: cobra.NoArgs, Short: "Carry out an order from standard input on this host",
		RunE: func(*cobra.Command, []string) error {
			if err := native.Serve(std.in, std.out); err != nil {
				return &exitError{exitEnvironment, err}
			}
			return nil
		}}
}

// ownProgram is this program's file on a site.
func ownProgram(s back.Site) (string, error) {
	if len(s.Self) > 0 {
		return s.Self[0], nil
	}
	return os.Executable()
}
