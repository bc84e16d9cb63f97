package monitor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"
)

// Files reads files of a machine on which no program of ours runs. Names are
// absolute. Errors wrap fs.ErrNotExist where a file is not there.
type Files interface {
	ReadFile(ctx context.Context, name string) ([]byte, error)
}

// FileBatch is what Files may do besides: read many files by one command. Files
// that do not read are left out.
type FileBatch interface {
	ReadFiles(ctx context.Context, names []string) (map[string][]byte, error)
}

// FolderLister is what Files may do besides: list the names in a folder.
// Without it, the processes of a service are those that are named, those of its
// control group, and their children; and threads are not told apart.
type FolderLister interface {
	ReadDir(ctx context.Context, name string) ([]string, error)
}

// LinkReader is what Files may do besides: say where a link leads.
type LinkReader interface {
	ReadLink(ctx context.Context, name string) (string, error)
}

// Times between samples when files are read from afar: what one file costs is
// not known, but it is much.
const (
	everyFiles     = 5 * time.Second
	everyFileBatch = 2 * time.Second
)

// WatchFiles watches another machine by reading its files, for those on which
// [Serve] cannot run. It takes the same figures from the same files, less
// often: every 5 s by default, 2 s if files is a [FileBatch]. Endpoints of
// services are asked from here. The moment of a sample is known to half the
// time that the reading took: the fact clock_bound_us of the host. It fails on
// a request that makes no sense, and if the first sample could not be read.
func WatchFiles(ctx context.Context, r Request, files Files) (*Watcher, error) {
	if r.Every == 0 {
		r.Every = everyFiles
		if _, ok := files.(FileBatch); ok {
			r.Every = everyFileBatch
		}
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("watch the files of host %q: %w", r.Host, err)
	}
	rec := newRecorder(time.Now())
	src := newFarFiles(ctx, files, rec.epoch, r.Every)
	src.want(environmentFiles())
	if err := src.begin(); err != nil {
		return nil, fmt.Errorf("watch the files of host %q: %w", r.Host, err)
	}
	if _, err := src.read("/proc/stat"); err != nil {
		return nil, fmt.Errorf("watch the files of host %q: %w", r.Host, err)
	}
	rec.environment(environmentOf(src, false))
	src.end()
	src.worst = 0 // that was no sample
	c := newCollector(r, src, rec, rec.epoch)
	c.moment = src.moment
	c.host.far = true
	c.host.meter.head.Unknown[string(WatchCores)] = "what reading its files costs a host is not counted"
	src.bound = func(us int64) { c.host.meter.fact("clock_bound_us", strconv.FormatInt(us, 10)) }
	return &Watcher{recorder: rec, every: r.Every, halt: c.start(ctx)}, nil
}

// farFiles is the source of WatchFiles. It reads at once what the last sample
// needed, and one by one what it did not expect.
type farFiles struct {
	ctx     context.Context
	files   Files
	epoch   time.Time
	patient time.Duration // for the reading of one sample
	bound   func(us int64)

	tick    int
	needed  map[string]bool // by this sample
	texts   map[string][]byte
	missing map[string]int // when it was found missing
	at      time.Duration  // the moment of the batch
	worst   int64          // half of the longest batch, in microseconds
	broken  context.Context
	release context.CancelFunc
}

func newFarFiles(ctx context.Context, files Files, epoch time.Time, every time.Duration) *farFiles {
	return &farFiles{ctx: ctx, files: files, epoch: epoch, patient: max(every, 5*time.Second),
		needed: map[string]bool{}, texts: map[string][]byte{}, missing: map[string]int{}, release: func() {}}
}

// want notes files that will be needed.
func (f *farFiles) want(names []string) {
	for _, name := range names {
		f.needed[name] = true
	}
}

// missingFor is for how many samples a file that was not there is not asked for.
const missingFor = 15

func (f *farFiles) begin() error {
	f.tick++
	f.release()
	f.broken, f.release = context.WithTimeout(f.ctx, f.patient)
	clear(f.texts)
	started := time.Since(f.epoch)
	f.at = started
	batch, ok := f.files.(FileBatch)
	if !ok || len(f.needed) == 0 {
		clear(f.needed)
		return nil
	}
	var names []string
	for name := range f.needed {
		if !f.absent(name) {
			names = append(names, name)
		}
	}
	texts, err := batch.ReadFiles(f.broken, names)
	if err != nil {
		return fmt.Errorf("read %d files: %w", len(names), err)
	}
	for _, name := range names {
		if text, ok := texts[name]; ok {
			f.texts[name] = text
		} else {
			f.missing[name] = f.tick
		}
	}
	clear(f.needed)
	took := time.Since(f.epoch) - started
	f.at = started + took/2
	f.tell(took)
	return nil
}

// tell notes how far the moment may be off.
func (f *farFiles) tell(took time.Duration) {
	if us := (took / 2).Microseconds(); us > f.worst {
		f.worst = us
		if f.bound != nil {
			f.bound(us)
		}
	}
}

func (f *farFiles) absent(name string) bool {
	tick, ok := f.missing[name]
	return ok && f.tick-tick < missingFor
}

// moment is when the last file was read.
func (f *farFiles) moment() time.Duration { return f.at }

func (f *farFiles) read(name string) ([]byte, error) {
	f.needed[name] = true
	if text, ok := f.texts[name]; ok {
		return text, nil
	}
	if f.absent(name) {
		return nil, fmt.Errorf("read %s: %w", name, fs.ErrNotExist)
	}
	text, err := f.files.ReadFile(f.broken, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		f.missing[name] = f.tick
	}
	if err != nil {
		return nil, err
	}
	delete(f.missing, name)
	f.texts[name] = text
	if _, ok := f.files.(FileBatch); !ok {
		now := time.Since(f.epoch)
		f.tell(now - f.at)
		f.at = now
	}
	return text, nil
}

func (f *farFiles) head(name string) ([]byte, error) { return f.read(name) }

func (f *farFiles) list(name string) ([]string, error) {
	if l, ok := f.files.(FolderLister); ok {
		return l.ReadDir(f.broken, name)
	}
	return nil, errors.ErrUnsupported
}

func (f *farFiles) link(name string) (string, error) {
	if l, ok := f.files.(LinkReader); ok {
		return l.ReadLink(f.broken, name)
	}
	return "", errors.ErrUnsupported
}

func (f *farFiles) descriptors(pid int) (int64, error) {
	names, err := f.list("/proc/" + strconv.Itoa(pid) + "/fd")
	return int64(len(names)), err
}

// end forgets files that have been missing for long: processes end.
func (f *farFiles) end() {
	for name, tick := range f.missing {
		if f.tick-tick > 2*missingFor {
			delete(f.missing, name)
		}
	}
}

func (f *farFiles) close() { f.release() }
