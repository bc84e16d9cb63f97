package wrk

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"prony/internal/plan"
)

// UsageError says that the arguments start no test. The command prints Stdout
// and Stderr as they are and ends with Code; if Version is set, the line of
// [VersionLine] goes before Stdout.
type UsageError struct {
	Stdout, Stderr string
	Code           int
	Version        bool
}

// Error returns the message, or what wrk leaves to the usage text to say.
func (e *UsageError) Error() string {
	if e.Stderr == "" {
		return "wrong arguments; see the usage"
	}
	return strings.TrimSuffix(e.Stderr, "\n")
}

// errUsage stands for wrk's answer to most mistakes: the usage alone.
var errUsage = errors.New("usage")

// Parse reads the arguments, without the name of the program, as wrk reads
// them with GNU getopt_long: options before and behind the URL, long ones
// abbreviated, values attached or apart, and "--" before the script's
// arguments. The error is a [*UsageError].
func Parse(args []string) (Options, error) {
	p := parser{o: Options{
		Threads: defaultThreads, Connections: defaultConnections,
		Duration: defaultDuration, Timeout: defaultTimeout,
	}, rest: args, wrk: wrkOptions(), own: ownOptions()}
	err := p.all()
	if err == nil {
		err = p.check()
	}
	if err == nil {
		return p.o, nil
	}
	usage := &UsageError{Stdout: Usage(), Code: 1, Version: p.o.Version}
	if !errors.Is(err, errUsage) {
		usage.Stderr = err.Error() + "\n"
	}
	return p.o, usage
}

// parser walks through the arguments.
type parser struct {
	o        Options
	rest     []string // arguments not yet read
	plain    []string // those that are no options, in order
	wrk, own []option
}

// all reads every argument.
func (p *parser) all() error {
	for len(p.rest) > 0 {
		arg := p.rest[0]
		p.rest = p.rest[1:]
		var err error
		switch {
		case arg == "--":
			p.plain, p.rest = append(p.plain, p.rest...), nil
		case strings.HasPrefix(arg, "--"):
			err = p.long(arg[2:])
		case len(arg) > 1 && arg[0] == '-':
			err = p.short(arg[1:])
		default:
			p.plain = append(p.plain, arg)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// short reads letters: "-t8", "-t 8" or several, as in "-Lc8".
func (p *parser) short(letters string) error {
	for i := range len(letters) {
		at := slices.IndexFunc(p.wrk, func(o option) bool { return o.short == letters[i] })
		if at < 0 {
			return fmt.Errorf("wrk: invalid option -- '%c'", letters[i])
		}
		o, value := p.wrk[at], letters[i+1:]
		if o.arg && value == "" {
			if len(p.rest) == 0 {
				return fmt.Errorf("wrk: option requires an argument -- '%c'", letters[i])
			}
			value, p.rest = p.rest[0], p.rest[1:]
		}
		if err := o.set(&p.o, value); err != nil || o.arg {
			return err
		}
	}
	return nil
}

// long reads a long option: "--threads=8", "--threads 8", "--thr 8".
func (p *parser) long(text string) error {
	name, value, attached := strings.Cut(text, "=")
	o, err := p.find(name, text)
	switch {
	case err != nil:
		return err
	case !o.arg && attached:
		return fmt.Errorf("wrk: option '--%s' doesn't allow an argument", o.long)
	case o.arg && !attached && len(p.rest) == 0:
		return fmt.Errorf("wrk: option '--%s' requires an argument", o.long)
	case o.arg && !attached:
		value, p.rest = p.rest[0], p.rest[1:]
	}
	return o.set(&p.o, value)
}

// find looks a name up, first among wrk's options.
func (p *parser) find(name, text string) (option, error) {
	for _, options := range [][]option{p.wrk, p.own} {
		found := matches(options, name)
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			message := fmt.Sprintf("wrk: option '--%s' is ambiguous; possibilities:", text)
			for _, o := range found {
				message += " '--" + o.long + "'"
			}
			return option{}, errors.New(message)
		}
	}
	return option{}, fmt.Errorf("wrk: unrecognized option '--%s'", text)
}

// matches are the options whose names begin with name; one whose whole name it
// is stands alone.
func matches(options []option, name string) (found []option) {
	for _, o := range options {
		if o.long != "" && o.long == name {
			return []option{o}
		}
		if o.long != "" && strings.HasPrefix(o.long, name) {
			found = append(found, o)
		}
	}
	return found
}

// check looks at the arguments together, in wrk's order.
func (p *parser) check() error {
	o := &p.o
	if len(p.plain) == 0 || o.Threads == 0 || o.Duration == 0 {
		return errUsage
	}
	o.URL, o.ScriptArgs = p.plain[0], p.plain[1:]
	if _, err := o.Target(); err != nil {
		return err
	}
	if o.Connections == 0 || o.Connections < o.Threads {
		return errors.New("number of connections must be >= threads")
	}
	if o.Timeout == 0 {
		return errors.New("timeout must be at least 1s")
	}
	return nil
}

// setEngine accepts the name of an engine.
func setEngine(o *Options, v string) error {
	names := []plan.Engine{plan.Auto, plan.IOURing, plan.Epoll, plan.Goroutines}
	if !slices.Contains(names, plan.Engine(v)) {
		return fmt.Errorf("wrk: option '--engine': unknown engine %q, want one of %v", v, names)
	}
	o.Engine = v
	return nil
}
