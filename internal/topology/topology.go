// Package topology starts the services of a plan in their order, tells gateways
// where their upstreams are, verifies that instances answer alike, and takes
// everything down again, newest first.
//
// It knows drivers by their interface and catalog entries not at all: the
// program of a catalog service is made by a function it is given.
package topology

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prony/internal/driver"
	"prony/internal/host"
	"prony/internal/plan"
)

// Parts are what a topology is built with.
type Parts struct {
	Run     driver.RunID
	Drivers map[plan.Kind]driver.Driver
	// Site is where services run; "" is this machine.
	Sites map[string]driver.Site
	// Base is the absolute folder of the experiment file.
	Base string
	// Render makes the program of a catalog service in front of upstreams
	// ("host:port" each).
	Render func(s plan.Service, upstreams []string) func(driver.Setting) (driver.Program, error)
	// Advisory makes notes of limits that cannot be set.
	Advisory bool
	// Record writes the journal, before anything exists.
	Record func(driver.Record) error
	// Counters reads what a service counts of its upstreams; it may be nil.
	Counters CountersOf
	// Tell hears what is being done, for people; it may be nil.
	Tell func(text string)
}

// Topology is what is up.
type Topology struct {
	// Addresses are the base URLs of each service's instances.
	Addresses map[string][]string
	up        []instance
	ports     *driver.Ports
	read      CountersOf
}

// instance is one that runs.
type instance struct {
	service plan.Service
	index   int
	running *driver.Running
}

// downWithin bounds the taking down, whatever became of the run's context.
const downWithin = 90 * time.Second

// Up starts every service of the plan. If it fails, nothing is left.
func Up(ctx context.Context, p plan.Plan, parts Parts) (*Topology, error) {
	t := &Topology{Addresses: map[string][]string{}, ports: &driver.Ports{}, read: parts.Counters}
	for _, s := range p.Services {
		if err := t.start(ctx, s, p.CoresOf(s.Host, s.Name), parts); err != nil {
			return nil, errors.Join(err, t.Down(ctx))
		}
	}
	return t, nil
}

func (t *Topology) start(ctx context.Context, s plan.Service, cores []int, parts Parts) error {
	if !s.Started() {
		t.Addresses[s.Name] = []string{s.URL}
		return nil
	}
	d, ok := parts.Drivers[s.Kind]
	if !ok {
		return fmt.Errorf("start %s: services of kind %s cannot be started by this version", s.Name, s.Kind)
	}
	for i := range s.Instances {
		if parts.Tell != nil {
			parts.Tell(fmt.Sprintf("start %s[%d]", s.Name, i))
		}
		running, err := driver.Start(ctx, d, t.request(s, i, cores, parts))
		if err != nil {
			return err
		}
		t.up = append(t.up, instance{s, i, running})
		t.Addresses[s.Name] = append(t.Addresses[s.Name], running.Endpoint())
	}
	return nil
}

func (t *Topology) request(s plan.Service, i int, cores []int, parts Parts) driver.Request {
	r := driver.Request{Run: parts.Run, Service: s, Index: i, Site: parts.Sites[s.Host], Ports: t.ports, Base: parts.Base,
		Suggested: cores, Advisory: parts.Advisory, Record: parts.Record}
	if s.Kind == plan.Catalog {
		r.Render = parts.Render(s, t.upstreams(s))
	}
	return r
}

// EndStartup puts the limits in force that hold once the startup is over.
func (t *Topology) EndStartup(ctx context.Context) error {
	for _, u := range t.up {
		if err := u.running.EndStartup(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Died is closed when an instance ends by itself; it names the first.
func (t *Topology) Died(ctx context.Context) <-chan error {
	died := make(chan error, len(t.up))
	for _, u := range t.up {
		r := u.running
		go func() {
			select {
			case <-r.Ended():
				if err := r.Err(); err != nil {
					died <- err
				}
			case <-ctx.Done():
			}
		}()
	}
	return died
}

// Place is where an instance runs, for those who watch it.
type Place struct {
	Service  plan.Service
	Instance int
	Endpoint string
	Place    host.Place
}

// Places are where the instances run.
func (t *Topology) Places() []Place {
	var all []Place
	for _, u := range t.up {
		all = append(all, Place{u.service, u.index, u.running.Endpoint(), u.running.Place()})
	}
	return all
}

// Notes are the doubts that came up at the start.
func (t *Topology) Notes() []string {
	var notes []string
	for _, u := range t.up {
		for _, n := range u.running.Notes() {
			notes = append(notes, u.running.Name()+": "+n)
		}
	}
	return notes
}

// Logs are what the instances wrote, by their names.
func (t *Topology) Logs() map[string][]byte {
	logs := map[string][]byte{}
	for _, u := range t.up {
		if l := u.running.Logs(); l != nil {
			logs[u.running.Name()] = l.Text()
		}
	}
	return logs
}

// Down stops everything, newest first, also when ctx has ended.
func (t *Topology) Down(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), downWithin)
	defer cancel()
	var errs []error
	for i := len(t.up) - 1; i >= 0; i-- {
		errs = append(errs, t.up[i].running.Stop(ctx))
	}
	t.up = nil
	return errors.Join(errs...)
}
