package process

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"prony/internal/driver"
	"prony/internal/plan"
)

// launch is a start that is under way.
type launch struct {
	driver  *Driver
	request driver.Request
	setting driver.Setting
	program driver.Program
	root    string // the run's folder on the host; ${work} is below it
	log     *driver.Log
	group   string   // name of the control group; "" is none
	enter   []string // words in front of the command
	applied plan.Limits
	notes   []string
	undo    *driver.Undo
}

// Start starts a program. See driver.Driver.
func (d *Driver) Start(ctx context.Context, r driver.Request) (*driver.Started, error) {
	l := &launch{driver: d, request: r, undo: &driver.Undo{}}
	for _, step := range []func(context.Context) error{l.prepare, l.record, l.settle, l.confine} {
		if err := step(ctx); err != nil {
			return nil, l.abandon(ctx, err)
		}
	}
	i, err := l.run(ctx)
	if err != nil {
		return nil, l.abandon(ctx, err)
	}
	if err := l.confirm(ctx, i); err != nil {
		return nil, l.abandon(ctx, err)
	}
	ready := r.ReadyOf(l.program)
	started := &driver.Started{Instance: i, Ready: ready, Applied: l.applied, Notes: l.notes, Ended: i.ended, Exit: i.exit, OOMKills: i.oomKills}
	if i.group != "" {
		started.Usage, started.Limit = i.usage, i.limit
	}
	return started, nil
}

// abandon takes back what was done until now.
func (l *launch) abandon(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonPatience)
	defer cancel()
	return errors.Join(err, l.undo.Run(ctx))
}

// prepare decides where everything will be.
func (l *launch) prepare(ctx context.Context) error {
	site := l.request.Site
	dir, err := folder(ctx, site)
	if err != nil {
		return err
	}
	port, err := l.request.Ports.Take(ctx, site, l.request.Service.Port)
	if err != nil {
		return err
	}
	l.undo.Add("give the port back", func(context.Context) error { l.request.Ports.Give(site, port); return nil })
	l.root = path.Join(dir, rootName(l.request.Run))
	work := path.Join(l.root, strings.TrimPrefix(l.request.Label(), driver.Prefix(l.request.Run)))
	l.setting = driver.Setting{Host: site.Reach(), Port: port, Work: work, Site: site}
	l.group = l.request.Label()
	l.program, err = l.request.Program(l.setting)
	return err
}

// rootName is the name of a run's folder.
func rootName(run driver.RunID) string { return strings.TrimSuffix(driver.Prefix(run), ".") + ".run" }

// folder is where the folders of runs are.
func folder(ctx context.Context, s driver.Site) (string, error) {
	switch {
	case s.Dir != "":
		return s.Dir, nil
	case s.Here():
		return filepath.Abs(os.TempDir())
	}
	facts, err := s.Host.Facts(ctx)
	return facts.TempDir, err
}

// record has the journal know what will exist. It is the last step before
// anything does.
func (l *launch) record(context.Context) error { return l.keep(nil) }

func (l *launch) keep(pids []int) error {
	return l.request.Keep(driver.Record{Run: l.request.Run, Name: l.request.Name(), Host: l.request.Site.Name, Kind: Kind,
		PIDs: pids, CGroup: l.group, Files: []string{l.setting.Work}, Ports: []int{l.setting.Port}})
}

// nest makes the run's folder, which must be ours alone where everybody may
// write, and the instance's, which must be new.
const nest = `umask 077
for i in 1 2 3; do
  mkdir -p -- "$1" || exit 1
  if [ -L "$1" ] || ! [ -O "$1" ]; then echo "$1 belongs to somebody else" >&2; exit 1; fi
  if [ -e "$2" ]; then echo "$2 is there already: was something left by a crash? prony cleanup removes it" >&2; exit 1; fi
  mkdir -- "$2" 2>/dev/null && exit 0
done
echo "cannot make $2" >&2; exit 1`

// settle makes the folder with all that belongs into it.
func (l *launch) settle(ctx context.Context) error {
	site, work := l.request.Site, l.setting.Work
	err := site.Host.Command("sh", "-c", nest, "sh", l.root, work).Run(ctx)
	if err == nil || interrupted(ctx) {
		l.undo.Add("remove the folder", func(ctx context.Context) error {
			err := site.Host.FS().Remove(work)
			// The run's folder goes with its last instance.
			_ = site.Host.Command("rmdir", "--", l.root).Run(ctx)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("make the folder of the instance: %w", err)
	}
	if err := l.openLog(); err != nil {
		return err
	}
	if err := l.build(ctx); err != nil {
		return err
	}
	for _, f := range l.program.Files {
		if err := l.write(f); err != nil {
			return err
		}
	}
	return nil
}

// interrupted reports whether a command may have done its work and not been
// able to say so.
func interrupted(ctx context.Context) bool { return ctx.Err() != nil }

// logName is the ring file of an instance in its ${work}.
const logName = ".prony.log"

func (l *launch) openLog() error {
	pattern, err := driver.Pattern(l.request.ReadyOf(l.program))
	if err != nil {
		return err
	}
	name := ""
	if l.request.Site.Here() {
		name = filepath.Join(l.setting.Work, logName)
	} else if name, err = l.logFolder(); err != nil {
		return err
	}
	l.log = driver.NewLog(name, pattern)
	l.undo.Add("close the log", func(context.Context) error { return l.log.Close() })
	return nil
}

// logFolder is where the output of a program on another host is kept here.
func (l *launch) logFolder() (string, error) {
	dir, err := os.MkdirTemp("", rootName(l.request.Run)+"-log-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the log: %w", err)
	}
	l.undo.Add("remove the folder of the log", func(context.Context) error { return os.RemoveAll(dir) })
	return filepath.Join(dir, "log"), nil
}

// build makes what the program needs and puts it into the folder.
func (l *launch) build(ctx context.Context) error {
	if l.program.Build == nil {
		return nil
	}
	b := *l.program.Build
	made, err := l.driver.build(ctx, l.request, b)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	return l.bring(ctx, made)
}

// write writes one file of the program.
func (l *launch) write(f driver.File) error {
	name, perm := f.Name, f.Perm
	if !path.IsAbs(name) {
		name = path.Join(l.setting.Work, name)
	}
	if perm == 0 {
		perm = 0o644
	}
	inside := strings.HasPrefix(path.Clean(name), l.setting.Work+"/")
	if !inside {
		return fmt.Errorf("file %s: %w", f.Name, errOutside)
	}
	files := l.request.Site.Host.FS()
	if err := files.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	return files.WriteFile(name, f.Text, perm)
}

var errOutside = errors.New("it is outside ${work}, where it would be left behind")

// confine makes the control group.
func (l *launch) confine(ctx context.Context) error {
	asked := l.request.Service.Limits
	answer, err := l.establish(ctx, asked)
	switch {
	case err == nil:
		l.enter, l.applied = answer.Enter, planLimits(answer.Limits)
		return nil
	case !asked.None() && !l.request.Advisory:
		return fmt.Errorf("limit it to %s: %w", asked, remedy(err))
	case !asked.None():
		l.notes = append(l.notes, driver.Unlimited(asked, err))
		if answer, err = l.establish(ctx, plan.Limits{}); err == nil {
			l.enter, l.applied = answer.Enter, planLimits(answer.Limits)
			return nil
		}
	}
	if !powerless(err) {
		return err
	}
	l.group = ""
	l.notes = append(l.notes, fmt.Sprintf("%s has no control group of its own: what it used is not counted there: %v", l.request.Name(), err))
	return nil
}

// establish makes the group with limits, and sees to its end.
func (l *launch) establish(ctx context.Context, limits plan.Limits) (Answer, error) {
	name, site := l.group, l.request.Site
	answer, err := ask(ctx, site, Order{Do: create, Name: name, Limits: groupLimits(limits)})
	if err == nil || interrupted(ctx) {
		l.undo.Add("remove the control group", func(ctx context.Context) error {
			_, err := ask(ctx, site, Order{Do: discard, Name: name})
			return err
		})
	}
	return answer, err
}

// run starts the program.
func (l *launch) run(ctx context.Context) (*instance, error) {
	words := slices.Concat(l.enter, l.program.Command)
	c := l.request.Site.Host.Command(words[0], words[1:]...)
	for _, name := range slices.Sorted(maps.Keys(l.program.Env)) {
		c.Env = append(c.Env, name+"="+l.program.Env[name])
	}
	c.Env = append(c.Env, l.request.Labels()...)
	if c.Dir = l.program.Dir; c.Dir == "" {
		c.Dir = l.setting.Work
	}
	c.Stdout, c.Stderr, c.Grace = l.log, l.log, l.request.Grace
	i, err := l.watch(ctx, c)
	if err != nil {
		return nil, err
	}
	l.undo.Add("stop it", i.end)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return i, l.keep([]int{c.PID()})
}

// confirm reads the limits back from the host now that the program runs.
func (l *launch) confirm(ctx context.Context, i *instance) error {
	if i.group == "" {
		return nil
	}
	answer, err := ask(ctx, l.request.Site, Order{Do: read, Name: i.group})
	if err != nil {
		return fmt.Errorf("read the limits back: %w", err)
	}
	l.applied = planLimits(answer.Limits)
	err = driver.Took(l.request.Service.Limits, l.applied)
	if err != nil && l.request.Advisory {
		if len(l.notes) == 0 { // else it was said
			l.notes = append(l.notes, driver.Unlimited(l.request.Service.Limits, err))
		}
		return nil
	}
	return err
}
