package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"prony/internal/driver"
)

// engine is a connection to an engine that answered.
type engine struct {
	api  *client.Client
	host string
}

// pingPatience bounds the wait for the first answer of an engine.
const pingPatience = 10 * time.Second

// connect finds the engine once in the life of the driver.
func (d *Driver) connect(ctx context.Context) (*engine, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.engine != nil {
		return d.engine, nil
	}
	var err error
	d.engine, err = dial(ctx, d.config.candidates())
	return d.engine, err
}

// candidates are the addresses where an engine may be.
func (c Config) candidates() []string {
	if c.Host != "" {
		return []string{c.Host}
	}
	if named := os.Getenv(client.EnvOverrideHost); named != "" {
		return []string{named}
	}
	sockets := []string{"/var/run/docker.sock"}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" { // where an engine without root listens
		sockets = append(sockets, filepath.Join(dir, "docker.sock"))
	}
	if home, err := os.UserHomeDir(); err == nil { // Docker Desktop
		sockets = append(sockets, filepath.Join(home, ".docker", "run", "docker.sock"))
	}
	for i := range sockets {
		sockets[i] = "unix://" + sockets[i]
	}
	return sockets
}

var errElsewhere = errors.New("the engine has to be on this machine: its containers' ports are published on the loopback address")

// local refuses engines on other machines.
func local(host string) error {
	u, err := url.Parse(host)
	if err != nil {
		return fmt.Errorf("address of the Docker engine: %w", err)
	}
	switch name := u.Hostname(); {
	case u.Scheme == "unix", u.Scheme == "npipe":
		return nil
	case (u.Scheme == "tcp" || u.Scheme == "http" || u.Scheme == "https") && (name == "localhost" || name == "127.0.0.1" || name == "::1"):
		return nil
	}
	return fmt.Errorf("use the Docker engine at %s: %w", host, errElsewhere)
}

// dial takes the first engine that answers.
func dial(ctx context.Context, hosts []string) (*engine, error) {
	var errs []error
	for _, host := range hosts {
		if err := local(host); err != nil {
			return nil, err
		}
		e, err := try(ctx, host)
		if err == nil {
			return e, nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		errs = append(errs, err)
	}
	return nil, silence(hosts, errors.Join(errs...))
}

// try connects to one address; the version of the API is negotiated.
func try(ctx context.Context, host string) (*engine, error) {
	api, err := client.New(client.WithTLSClientConfigFromEnv(), client.WithHost(host), client.WithAPIVersionFromEnv())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pingPatience)
	defer cancel()
	if _, err := api.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true}); err != nil {
		return nil, errors.Join(err, api.Close())
	}
	return &engine{api: api, host: host}, nil
}

// absence is an engine that nobody found. It is a thing that is missing
// (fs.ErrNotExist), or a missing right (fs.ErrPermission).
type absence struct {
	text string
	kind error
	why  error
}

func (a *absence) Error() string   { return a.text }
func (a *absence) Unwrap() []error { return []error{a.kind, a.why} }

// silence says where no engine answered, and what to do.
func silence(hosts []string, why error) error {
	where := strings.Join(hosts, ", ")
	if denied(hosts, why) {
		return &absence{fmt.Sprintf("no right to use the Docker engine at %s: run as root, or join its group (usermod -aG docker $USER, then log in again)", where),
			fs.ErrPermission, why}
	}
	for _, host := range hosts {
		if _, err := os.Stat(strings.TrimPrefix(host, "unix://")); err == nil {
			return &absence{fmt.Sprintf("the Docker engine at %s does not answer: start it (systemctl start docker): %v", host, why), fs.ErrNotExist, why}
		}
	}
	return &absence{fmt.Sprintf("no Docker engine at %s: install one (apt-get install -y docker.io) and start it (systemctl start docker), or set DOCKER_HOST", where),
		fs.ErrNotExist, why}
}

// denied also looks at the text: the client does not wrap every cause.
func denied(hosts []string, why error) bool {
	if errors.Is(why, fs.ErrPermission) || errdefs.IsPermissionDenied(why) {
		return true
	}
	return len(hosts) > 0 && why != nil && strings.Contains(why.Error(), "permission denied")
}

// missingImage is an image that is not on the machine.
type missingImage struct{ name string }

func (m *missingImage) Error() string {
	return fmt.Sprintf("image %s is not on this machine, and nothing is pulled unasked: docker pull %s brings it", m.name, m.name)
}

func (m *missingImage) Unwrap() error { return fs.ErrNotExist }

// image looks for an image of the machine.
func (e *engine) image(ctx context.Context, name string) (client.ImageInspectResult, error) {
	found, err := e.api.ImageInspect(ctx, name)
	if errdefs.IsNotFound(err) {
		return found, &missingImage{name}
	}
	if err != nil {
		return found, fmt.Errorf("look for image %s: %w", name, err)
	}
	return found, nil
}

var errVolume = fmt.Errorf("no such volume: docker volume create makes it: %w", fs.ErrNotExist)

// checkVolumes looks for what a container is to be given. The engine would make
// a folder or a volume that is not there, and leave it behind.
func (e *engine) checkVolumes(ctx context.Context, r driver.Request) error {
	var errs []error
	for _, text := range binds(r) {
		from, _, _ := strings.Cut(text, ":")
		if filepath.IsAbs(from) {
			if _, err := os.Stat(from); err != nil {
				errs = append(errs, fmt.Errorf("volume %s: %w", text, err))
			}
			continue
		}
		_, err := e.api.VolumeInspect(ctx, from, client.VolumeInspectOptions{})
		if errdefs.IsNotFound(err) {
			err = errVolume
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("volume %s: %w", from, err))
		}
	}
	return errors.Join(errs...)
}

// binds are a service's volumes, with absolute folders of this machine.
func binds(r driver.Request) []string {
	var all []string
	for _, text := range r.Service.Docker.Volumes {
		if from, rest, ok := strings.Cut(text, ":"); ok && strings.HasPrefix(from, ".") {
			text = filepath.Join(r.Base, from) + ":" + rest
		}
		all = append(all, text)
	}
	return all
}
