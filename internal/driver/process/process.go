package process

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"

	"prony/internal/driver"
)

// Config is where the driver keeps things.
type Config struct {
	// Cache is the folder for builds.
	Cache string
}

// Driver starts programs; see New.
type Driver struct {
	cache string

	mu    sync.Mutex        // guards what was built; held while a build runs: one at a time
	built map[string]string // folders of results, "" for none, by what the build is
}

var _ driver.Driver = (*Driver)(nil)

// Kind names the driver in records.
const Kind = "process"

// New makes a driver. It starts and makes nothing.
func New(c Config) (*Driver, error) {
	if c.Cache == "" {
		return nil, errCache
	}
	return &Driver{cache: c.Cache, built: map[string]string{}}, nil
}

var errCache = errors.New("no folder for what is built")

// Features says what a program can have.
func (d *Driver) Features() driver.Features {
	return driver.Features{CPUs: true, Cores: true, Memory: true, PIDs: true,
		Builds: true, Logs: true, Scale: true, Ports: true, Remote: true, Ends: true}
}

var errProgram = errors.New("no such program")

// Check makes a group with the limits and removes it again, and looks for the
// programs that the request names.
func (d *Driver) Check(ctx context.Context, r driver.Request) error {
	var errs []error
	if !r.Advisory && !r.Service.Limits.None() {
		errs = append(errs, probe(ctx, r))
	}
	if p := r.Service.Process; p != nil {
		if len(p.Build) > 0 && !strings.Contains(p.Build[0], "/") {
			_, err := exec.LookPath(p.Build[0])
			errs = append(errs, err)
		}
		if len(p.Command) > 0 && !strings.ContainsAny(p.Command[0], "/$") {
			errs = append(errs, there(ctx, r.Site, p.Command[0]))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("check %s: %w", r.Name(), err)
	}
	return nil
}

// probe tries whether the limits can be set.
func probe(ctx context.Context, r driver.Request) error {
	name := r.Label() + ".check"
	_, err := ask(ctx, r.Site, Order{Do: create, Name: name, Limits: groupLimits(r.Service.Limits)})
	if err != nil && !interrupted(ctx) {
		return remedy(err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonPatience)
	defer cancel()
	_, e := ask(ctx, r.Site, Order{Do: discard, Name: name})
	return errors.Join(err, e)
}

// remedy says how to go on without limits.
func remedy(err error) error {
	if powerless(err) {
		return fmt.Errorf("%w; or call the limits advisory, which the result will say", err)
	}
	return err
}

// there looks for a program in the path of a host.
func there(ctx context.Context, s driver.Site, name string) error {
	if err := s.Host.Command("sh", "-c", `command -v "$1"`, "sh", name).Run(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return fmt.Errorf("%w: %s", errProgram, name)
	}
	return nil
}
