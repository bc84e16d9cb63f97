package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"prony/internal/driver"
	"prony/internal/plan"
)

// launch is a start that is under way.
type launch struct {
	driver   *Driver
	engine   *engine
	request  driver.Request
	port     int // on this machine
	inside   int // where it listens in a network of its own; 0 on the host's
	endpoint string
	config   container.Config
	host     container.HostConfig
	program  *driver.Program // in an image made for it; nil for an image that is there
	ready    plan.Ready
	notes    []string
	undo     *driver.Undo
}

// Patience of steps that an interrupt does not cut short: if they were cut
// short, nobody would know whether the engine did them.
const (
	makePatience    = time.Minute
	abandonPatience = 30 * time.Second
)

// Start starts a container. See driver.Driver.
func (d *Driver) Start(ctx context.Context, r driver.Request) (*driver.Started, error) {
	l := &launch{driver: d, request: r, undo: &driver.Undo{}}
	started, err := l.start(ctx)
	if err == nil {
		return started, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonPatience)
	defer cancel()
	return nil, errors.Join(err, l.undo.Run(ctx))
}

func (l *launch) start(ctx context.Context) (*driver.Started, error) {
	for _, step := range []func(context.Context) error{l.prepare, l.limit, l.record, l.pack} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	id, err := l.create(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.deliver(ctx, id); err != nil {
		return nil, err
	}
	return l.driver.Take(ctx, Created{Request: l.request, ID: id, Endpoint: l.endpoint, Inside: l.inside, Ready: l.ready, Ports: []int{l.port}, Notes: l.notes, Undo: l.undo})
}

// prepare decides what will be made.
func (l *launch) prepare(ctx context.Context) error {
	if !l.request.Site.Here() {
		return fmt.Errorf("host %q: %w", l.request.Site.Name, errRemote)
	}
	var err error
	if l.engine, err = l.driver.connect(ctx); err != nil {
		return err
	}
	l.config.Labels = Labels(l.request)
	l.host.LogConfig = container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "1m"}} // for docker logs; ours is apart
	if l.request.Service.Docker != nil {
		return l.prepareImage(ctx)
	}
	return l.prepareProgram(ctx)
}

// take takes the port on this machine.
func (l *launch) take(ctx context.Context, want int) error {
	site, ports := l.request.Site, l.request.Ports
	port, err := ports.Take(ctx, site, want)
	if err != nil {
		return err
	}
	l.undo.Add("give the port back", func(context.Context) error { ports.Give(site, port); return nil })
	l.port = port
	l.endpoint = driver.Setting{Host: site.Reach(), Port: port}.URL()
	return nil
}

// hostNetwork is the network of this machine.
const hostNetwork = "host"

// prepareImage is about a container of an image that is there.
func (l *launch) prepareImage(ctx context.Context) error {
	c := l.request.Service.Docker
	image, err := l.engine.image(ctx, c.Image)
	if err != nil {
		return err
	}
	if err := l.engine.checkVolumes(ctx, l.request); err != nil {
		return err
	}
	setting := driver.Setting{}
	if c.Network == hostNetwork {
		want := c.Port
		if want == 0 {
			want = l.request.Service.Port
		}
		err = l.take(ctx, want)
		setting = driver.Setting{Host: l.request.Site.Reach(), Port: l.port}
	} else {
		var exposed []string
		if image.Config != nil {
			exposed = slices.Collect(maps.Keys(image.Config.ExposedPorts))
		}
		err = l.publish(ctx, exposed)
		setting = driver.Setting{Host: "0.0.0.0", Port: l.inside}
	}
	if err != nil {
		return err
	}
	l.config.Image, l.config.User = c.Image, c.User
	l.host.Binds, l.host.NetworkMode = binds(l.request), container.NetworkMode(c.Network)
	l.ready = l.request.ReadyOf(driver.Program{})
	return l.fill(setting)
}

// publish takes a port and publishes the one inside on it.
func (l *launch) publish(ctx context.Context, exposed []string) error {
	inside, err := insidePort(l.request.Service.Docker.Port, exposed)
	if err != nil {
		return err
	}
	if err := l.take(ctx, l.request.Service.Port); err != nil {
		return err
	}
	if l.inside = inside; inside == 0 {
		l.inside = l.port
	}
	port, _ := network.PortFrom(uint16(l.inside), network.TCP)
	address, err := netip.ParseAddr(l.request.Site.Reach())
	if err != nil {
		return fmt.Errorf("publish port %d: %w", l.inside, err)
	}
	l.config.ExposedPorts = network.PortSet{port: {}}
	l.host.PortBindings = network.PortMap{port: {{HostIP: address, HostPort: strconv.Itoa(l.port)}}}
	return nil
}

var errPorts = errors.New("the image exposes several ports: say which one serves (port)")

// insidePort is where a container listens: as the service says, else the only
// port that its image exposes; 0 if it exposes none, and is told by ${port}.
func insidePort(want int, exposed []string) (int, error) {
	if want != 0 {
		return want, nil
	}
	var found []int
	for _, text := range exposed {
		if p, err := network.ParsePort(text); err == nil && p.Proto() == network.TCP {
			found = append(found, int(p.Num()))
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 0:
		return 0, nil
	case 1:
		return found[0], nil
	}
	return 0, fmt.Errorf("%w: %v", errPorts, found)
}

// fill puts the values into the command and the environment.
func (l *launch) fill(s driver.Setting) error {
	values := map[string]string{"host": s.Host, "port": strconv.Itoa(s.Port)}
	words, err := driver.Words(l.request.Service.Docker.Command, values)
	if err != nil {
		return fmt.Errorf("prepare the command: %w", err)
	}
	l.config.Cmd = words
	for _, name := range slices.Sorted(maps.Keys(l.request.Service.Env)) {
		value, err := plan.Fill(l.request.Service.Env[name], values)
		if err != nil {
			return fmt.Errorf("environment %s: %w", name, err)
		}
		l.config.Env = append(l.config.Env, name+"="+value)
	}
	return nil
}

// limit sets the limits that the engine can set.
func (l *launch) limit(ctx context.Context) error {
	asked := l.request.Service.Limits
	l.config.Env = append(l.config.Env, l.request.Labels()...)
	err := l.engine.able(ctx, asked)
	if err == nil {
		l.host.Resources = Resources(asked)
		return nil
	}
	if l.request.Advisory && errors.Is(err, errors.ErrUnsupported) {
		l.notes = append(l.notes, driver.Unlimited(asked, err))
		return nil
	}
	return err
}

// record has the journal know what will exist. It is the last step before
// anything does.
func (l *launch) record(context.Context) error {
	r := l.request
	return r.Keep(driver.Record{Run: r.Run, Name: r.Name(), Host: r.Site.Name, Kind: Kind, Files: []string{LogFolder(r)}, Ports: []int{l.port}})
}

// create makes the container.
func (l *launch) create(ctx context.Context) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), makePatience)
	defer cancel()
	made, err := l.engine.api.ContainerCreate(whole, client.ContainerCreateOptions{Config: &l.config, HostConfig: &l.host, Name: l.request.Label()})
	switch {
	case errdefs.IsConflict(err):
		return "", fmt.Errorf("container %s is there already: was something left by a crash? prony cleanup removes it: %w", l.request.Label(), err)
	case err != nil:
		return "", fmt.Errorf("make the container: %w", err)
	}
	l.undo.Add("remove the container", func(ctx context.Context) error { return Remove(ctx, l.engine.api, made.ID) })
	return made.ID, context.Cause(ctx)
}

// removePause is between two looks whether a container is gone.
const removePause = 20 * time.Millisecond

// Remove kills a container and removes it with what only it had; that
// it is gone already is no error, and one that is being removed is waited for.
func Remove(ctx context.Context, api *client.Client, id string) error {
	for {
		_, err := api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		switch {
		case err == nil || errdefs.IsNotFound(err):
			return nil
		case !errdefs.IsConflict(err):
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(removePause):
		}
	}
}

// deliver puts the files of a program into its container.
func (l *launch) deliver(ctx context.Context, id string) error {
	if l.program == nil || len(l.program.Files) == 0 {
		return nil
	}
	archive, err := archiveOf(l.program.Files)
	if err != nil {
		return err
	}
	_, err = l.engine.api.CopyToContainer(ctx, id, client.CopyToContainerOptions{DestinationPath: "/", Content: archive})
	if err != nil {
		return fmt.Errorf("put the files into the container: %w", err)
	}
	return nil
}

// archiveOf packs files for a container's root.
func archiveOf(files []driver.File) (*bytes.Buffer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		name, perm := f.Name, f.Perm
		if !path.IsAbs(name) {
			name = path.Join(work, name)
		}
		if !strings.HasPrefix(path.Clean(name), work+"/") {
			return nil, fmt.Errorf("file %s: %w", f.Name, errOutside)
		}
		if perm == 0 {
			perm = 0o644
		}
		header := &tar.Header{Name: strings.TrimPrefix(path.Clean(name), "/"), Mode: int64(perm.Perm()), Size: int64(len(f.Text)), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Text); err != nil {
			return nil, err
		}
	}
	return &b, w.Close()
}

var errOutside = errors.New("it is outside ${work}")
