// Package external is the driver for what runs already: a URL.
//
// It is for loads on a service that somebody else started. It decides nothing
// but the readiness: a connection is taken, or the path answers with its
// status. It refuses limits, several instances, and to stop what it did not
// start; there are no logs, and nobody learns when the service ends.
package external

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"prony/internal/driver"
	"prony/internal/host"
)

// Driver is for services that run already. The zero value is ready.
type Driver struct{}

var _ driver.Driver = Driver{}

// Features says that it can do nothing to the service.
func (Driver) Features() driver.Features { return driver.Features{} }

var (
	errURL  = errors.New("want http://HOST[:PORT] or https://HOST[:PORT]")
	errOnce = errors.New("it is one: another instance cannot be started")
	errLog  = errors.New("ready by a line of its log: its log is not ours to read")
)

// Check looks at the request alone; whether the service answers is for the
// readiness to say.
func (Driver) Check(_ context.Context, r driver.Request) error {
	u, err := url.Parse(r.Service.URL)
	switch {
	case err != nil:
	case u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		err = fmt.Errorf("address %q: %w", r.Service.URL, errURL)
	case r.Service.Instances > 1 || r.Index > 0:
		err = errOnce
	case r.Service.Ready.Log != "":
		err = errLog
	}
	if err != nil {
		return fmt.Errorf("check %s: %w", r.Name(), err)
	}
	return nil
}

// Start starts nothing and records nothing.
func (d Driver) Start(ctx context.Context, r driver.Request) (*driver.Started, error) {
	if err := d.Check(ctx, r); err != nil {
		return nil, err
	}
	return &driver.Started{Instance: &instance{r.Service.URL, r.Site, driver.NewLog("", nil)}, Ready: r.ReadyOf(driver.Program{})}, nil
}

// Find finds nothing: nothing was made.
func (Driver) Find(context.Context, driver.Site, driver.RunID) ([]driver.Leftover, error) {
	return nil, nil
}

type instance struct {
	url  string
	site driver.Site
	log  *driver.Log
}

func (i *instance) Endpoint() string  { return i.url }
func (i *instance) Logs() *driver.Log { return i.log }

// Place is known only as far as the experiment names the service's host.
func (i *instance) Place() host.Place {
	if i.site.Here() {
		return host.Place{}
	}
	return host.Place{Host: i.site.Host}
}

// Stop leaves it as it is.
func (i *instance) Stop(context.Context) error { return nil }
