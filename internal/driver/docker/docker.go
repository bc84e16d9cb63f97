package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"prony/internal/driver"
	"prony/internal/plan"
)

// Kind names the driver in records.
const Kind = "docker"

// The labels of what the driver makes.
const (
	LabelRun      = "prony.run"      // id of the run
	LabelInstance = "prony.instance" // app[0]
	labelProgram  = "prony.program"  // marks an image that was made from scratch
)

// Labels are the labels of what belongs to a request.
func Labels(r driver.Request) map[string]string {
	return map[string]string{LabelRun: string(r.Run), LabelInstance: r.Name()}
}

// Config says where the engine is.
type Config struct {
	// Host is the address of the engine, such as unix:///var/run/docker.sock;
	// "" is DOCKER_HOST, else the first of the usual sockets that is there.
	Host string
}

// Driver starts containers; see New.
type Driver struct {
	config Config

	mu     sync.Mutex // guards the engine
	engine *engine    // nil until it was needed and answered

	making sync.Mutex        // guards the images; held while one is made: one at a time
	images map[string]string // made from scratch in the life of this driver, by what they are for
}

var _ driver.Driver = (*Driver)(nil)

// New makes a driver. It connects to nothing yet.
func New(c Config) *Driver { return &Driver{config: c, images: map[string]string{}} }

// Features says what a container can have.
func (d *Driver) Features() driver.Features {
	return driver.Features{CPUs: true, Cores: true, Memory: true, PIDs: true,
		Builds: true, Logs: true, Scale: true, Ports: true, Ends: true}
}

var (
	errRemote = errors.New("containers can be started on this machine only")
	errKind   = errors.New("it is neither a container nor a program")
)

// Check asks whether the engine is there and can set the limits, and looks for
// the image or the program that the request names. What is missing is an error
// with the command that brings it: fs.ErrNotExist, fs.ErrPermission or
// errors.ErrUnsupported.
func (d *Driver) Check(ctx context.Context, r driver.Request) error {
	if err := d.check(ctx, r); err != nil {
		return fmt.Errorf("check %s: %w", r.Name(), err)
	}
	return nil
}

func (d *Driver) check(ctx context.Context, r driver.Request) error {
	if !r.Site.Here() {
		return fmt.Errorf("host %q: %w", r.Site.Name, errRemote)
	}
	e, err := d.connect(ctx)
	if err != nil {
		return err
	}
	var errs []error
	if !r.Advisory {
		errs = append(errs, e.able(ctx, r.Service.Limits))
	}
	switch {
	case r.Service.Docker != nil:
		_, err := e.image(ctx, r.Service.Docker.Image)
		errs = append(errs, err, e.checkVolumes(ctx, r))
	case r.Service.Process != nil:
		errs = append(errs, checkProgram(r))
	case r.Render == nil && r.Service.Kind != plan.Catalog:
		errs = append(errs, errKind)
	}
	return errors.Join(errs...)
}

// able reports which limits asked for the engine cannot set.
func (e *engine) able(ctx context.Context, asked plan.Limits) error {
	if asked.None() {
		return nil
	}
	info, err := e.api.Info(ctx, client.InfoOptions{})
	if err != nil {
		return fmt.Errorf("ask the engine what it can do: %w", err)
	}
	return held(info.Info, asked)
}

// held holds what an engine can set against what is asked for.
func held(can system.Info, asked plan.Limits) error {
	missing := driver.Features{CPUs: can.CPUCfsQuota && can.CPUCfsPeriod, Cores: can.CPUSet, Memory: can.MemoryLimit, PIDs: can.PidsLimit}.Missing(asked)
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("the Docker engine cannot limit %v here: %w; or call the limits advisory, which the result will say", missing, errors.ErrUnsupported)
}

// Able reports which limits the engine cannot set: errors.ErrUnsupported.
func (d *Driver) Able(ctx context.Context, asked plan.Limits) error {
	e, err := d.connect(ctx)
	if err != nil {
		return err
	}
	return e.able(ctx, asked)
}

// Version is that of the engine that answers.
func (d *Driver) Version(ctx context.Context) (string, error) {
	api, err := d.Engine(ctx)
	if err != nil {
		return "", err
	}
	v, err := api.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return "", fmt.Errorf("ask the engine for its version: %w", err)
	}
	return v.Version, nil
}

// Engine is the client of the driver's engine, for other drivers of containers.
// It fails like Check where there is none.
func (d *Driver) Engine(ctx context.Context) (*client.Client, error) {
	e, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	return e.api, nil
}
