package monitor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Request says what to watch on one machine. It is JSON, because the far side
// of [Follow] gets it, too. The zero Request watches this machine alone.
type Request struct {
	// Host is the machine's name in the results; "" is this one.
	Host string `json:"host,omitempty"`
	// Every is the time between samples; default 1 s, at least 100 ms.
	Every time.Duration `json:"every_ns,omitempty"`
	// Services are watched besides the machine itself.
	Services []Target `json:"services,omitempty"`
	// Interfaces are the network interfaces to watch; none means all that are
	// up.
	Interfaces []string `json:"interfaces,omitempty"`
	// Root is the root of the file system; default /. Tests give a tree of
	// files. It is not sent to a far side.
	Root string `json:"-"`
}

// Target is an instance of a service. What is empty is not looked for.
type Target struct {
	Name     string `json:"name"`
	Instance int    `json:"instance,omitempty"`
	// PIDs are the roots of the process trees.
	PIDs []int `json:"pids,omitempty"`
	// Cgroup says that the instance has a control group to itself: any name.
	// The group is that of its processes; what starts in it later belongs to
	// the instance.
	Cgroup string `json:"cgroup,omitempty"`
	// Container is the id of a container, at least 12 digits of it.
	Container string `json:"container,omitempty"`
	// Stats are URLs of nginx's stub_status.
	Stats []string `json:"stats,omitempty"`
	// Metrics are URLs of metrics in the text format of Prometheus.
	Metrics []string `json:"metrics,omitempty"`
	// JVM is "" or "auto" to look whether a process is a Java virtual machine,
	// "no" not to look.
	JVM string `json:"jvm,omitempty"`
	// ThreadDumps is how often the states of the machine's threads are read,
	// at most once a second; 0 is never. A dump stops the machine, so that they
	// come less often where one takes more than a hundredth of that time. They
	// need a watch on the machine itself, by this program.
	ThreadDumps time.Duration `json:"thread_dumps_ns,omitempty"`
}

// Limits of a request.
const (
	everyMin    = 100 * time.Millisecond
	servicesMax = 1000
	dumpsMin    = time.Second
)

var (
	errEvery    = fmt.Errorf("samples may be %v apart or more", everyMin)
	errServices = fmt.Errorf("at most %d services", servicesMax)
	errNoName   = errors.New("a service without a name")
	errJVM      = errors.New(`jvm is "", "auto" or "no"`)
	errDumps    = fmt.Errorf("thread dumps may be %v apart or more", dumpsMin)
	errPlatform = fmt.Errorf("hosts and services are watched on Linux only: %w", errors.ErrUnsupported)
)

// every is the time between samples with its default.
func (r Request) every() time.Duration {
	if r.Every == 0 {
		return time.Second
	}
	return r.Every
}

// check says what is wrong with a request.
func (r Request) check() error {
	var errs []error
	if r.every() < everyMin {
		errs = append(errs, errEvery)
	}
	if len(r.Services) > servicesMax {
		errs = append(errs, errServices)
	}
	for _, t := range r.Services {
		if t.Name == "" {
			errs = append(errs, errNoName)
		}
		if t.JVM != "" && t.JVM != "auto" && t.JVM != "no" {
			errs = append(errs, fmt.Errorf("service %s: %w", t.Name, errJVM))
		}
		if t.ThreadDumps != 0 && t.ThreadDumps < dumpsMin {
			errs = append(errs, fmt.Errorf("service %s: %w", t.Name, errDumps))
		}
	}
	return errors.Join(errs...)
}

// Watcher watches a machine and services on it. Its methods are safe for
// concurrent use.
type Watcher struct {
	recorder *recorder
	every    time.Duration
	halt     func() // ends the watch and waits for it
	once     sync.Once
}

// Watch starts to watch this machine, takes a first sample, and returns. The
// watch ends with ctx, or with [Watcher.Stop], which must be called in any
// case to wait for it. What cannot be read is no error, and missing in the
// results. It fails on a request that makes no sense and where there is no
// Linux.
func Watch(ctx context.Context, r Request) (*Watcher, error) {
	if err := ready(r); err != nil {
		return nil, fmt.Errorf("watch host %q: %w", r.Host, err)
	}
	rec := newRecorder(time.Now())
	c := newCollector(r, newLocalFiles(r.Root), rec, rec.epoch)
	rec.environment(environmentOf(c.src, true))
	return &Watcher{recorder: rec, every: r.every(), halt: c.start(ctx)}, nil
}

func ready(r Request) error {
	if runtime.GOOS != "linux" {
		return errPlatform
	}
	return r.check()
}

// Live is the last sample of everything, for a live screen.
func (w *Watcher) Live() Snapshot { return w.recorder.live(5 * w.every / 2) }

// Stop takes a last sample, ends the watch and returns all of it. Further calls
// return the same.
func (w *Watcher) Stop() Recording {
	w.once.Do(w.halt)
	return w.recorder.recording()
}
