package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"prony/internal/cgroup"
	"prony/internal/driver"
)

// Order is something to be done with control groups on the host where it is
// obeyed.
type Order struct {
	Do     string        `json:"do"`   // create, change, read, remove, find
	Name   string        `json:"name"` // of the group, or a prefix of names
	Limits cgroup.Limits `json:"limits"`
}

// What an order can be.
const (
	create  = "create" // a group with limits
	change  = "change" // those of its limits that are not zero
	read    = "read"   // its limits and counters
	discard = "remove" // kills what is in it, and removes it
	find    = "find"   // groups by a prefix of their names
)

// Answer is what came of an order.
type Answer struct {
	Enter  []string      `json:"enter,omitempty"` // words in front of a command that make it start in the group
	Limits cgroup.Limits `json:"limits"`
	Stat   cgroup.Stat   `json:"stat"`
	Names  []string      `json:"names,omitempty"`
	// Error is why it was not done; Cause is the kind of reason, if it matters.
	Error string `json:"error,omitempty"`
	Cause string `json:"cause,omitempty"`
}

// causes are the reasons that somebody branches on, by their names in an answer.
func causes() map[string]error {
	return map[string]error{"permission": fs.ErrPermission, "unsupported": errors.ErrUnsupported,
		"absent": fs.ErrNotExist, "exists": fs.ErrExist}
}

var errOrder = errors.New("unknown order")

// Obey carries out an order on this machine.
func Obey(o Order) (Answer, error) {
	switch o.Do {
	case create:
		return establish(o)
	case change:
		return adjust(o)
	case read:
		return look(o.Name)
	case discard:
		return Answer{}, destroy(o.Name)
	case find:
		return list(o.Name)
	}
	return Answer{}, fmt.Errorf("%w %q", errOrder, o.Do)
}

func establish(o Order) (Answer, error) {
	g, err := cgroup.Create("", o.Name, o.Limits)
	if err != nil {
		return Answer{}, err
	}
	limits, err := g.Limits()
	if err != nil {
		return Answer{}, errors.Join(err, g.Remove())
	}
	enter := g.Enter("program")
	return Answer{Enter: enter[:len(enter)-1], Limits: limits}, nil
}

// named finds a group by its whole name.
func named(name string) (*cgroup.Owned, error) {
	all, err := cgroup.Find("", name)
	if err != nil {
		return nil, err
	}
	for _, g := range all {
		if g.Name() == name {
			return g, nil
		}
	}
	return nil, fmt.Errorf("control group %q: %w", name, fs.ErrNotExist)
}

func adjust(o Order) (Answer, error) {
	g, err := named(o.Name)
	if err != nil {
		return Answer{}, err
	}
	if err := g.Change(o.Limits); err != nil {
		return Answer{}, err
	}
	return look(o.Name)
}

func look(name string) (Answer, error) {
	g, err := named(name)
	if err != nil {
		return Answer{}, err
	}
	limits, err := g.Limits()
	if err != nil {
		return Answer{}, err
	}
	stat, err := g.Stat()
	return Answer{Limits: limits, Stat: stat}, err
}

// destroy removes every group of that name: after a crash there may be one at
// the top and one below our own group.
func destroy(name string) error {
	all, err := cgroup.Find("", name)
	if err != nil {
		return err
	}
	var errs []error
	for _, g := range all {
		if g.Name() == name {
			errs = append(errs, g.Kill(), g.Remove())
		}
	}
	return errors.Join(errs...)
}

func list(start string) (Answer, error) {
	var a Answer
	all, err := cgroup.Find("", start)
	for _, g := range all {
		a.Names = append(a.Names, g.Name())
	}
	return a, err
}

// orderBytes bounds an order.
const orderBytes = 64 << 10

// Serve obeys the order in the input and writes the answer. It is the other end
// of a Site's Self; the error is one of input or output, for an order that
// could not be obeyed is an answer.
func Serve(in io.Reader, out io.Writer) error {
	text, err := io.ReadAll(io.LimitReader(in, orderBytes))
	if err != nil {
		return fmt.Errorf("read an order: %w", err)
	}
	answer := reply(text)
	if err := json.NewEncoder(out).Encode(answer); err != nil {
		return fmt.Errorf("answer an order: %w", err)
	}
	return nil
}

func reply(text []byte) Answer {
	var o Order
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // an older or newer copy of ourselves must say so
	if err := d.Decode(&o); err != nil {
		return Answer{Error: fmt.Sprintf("read an order: %v", err)}
	}
	a, err := Obey(o)
	if err != nil {
		a.Error = err.Error()
		for name, cause := range causes() {
			if errors.Is(err, cause) {
				a.Cause = name
			}
		}
	}
	return a
}

// refusal is an error that came as text.
type refusal struct {
	text  string
	cause error
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.cause }

var errSelf = fmt.Errorf("there is no copy of Prony on the host: %w", errors.ErrUnsupported)

// ask has an order obeyed on a site.
func ask(ctx context.Context, s driver.Site, o Order) (Answer, error) {
	switch {
	case s.Here() && len(s.Self) == 0:
		return Obey(o)
	case len(s.Self) == 0:
		return Answer{}, fmt.Errorf("use control groups on %s: %w", s.Name, errSelf)
	}
	text, err := json.Marshal(o)
	if err != nil {
		return Answer{}, fmt.Errorf("write an order: %w", err)
	}
	c := s.Host.Command(s.Self[0], s.Self[1:]...)
	c.Stdin = bytes.NewReader(text)
	out, err := c.Output(ctx)
	if err != nil {
		return Answer{}, fmt.Errorf("use control groups: %w", err)
	}
	var a Answer
	if err := json.Unmarshal(out, &a); err != nil {
		return Answer{}, fmt.Errorf("use control groups: read the answer of %s: %w", s.Self[0], err)
	}
	if a.Error != "" {
		return a, &refusal{a.Error, causes()[a.Cause]}
	}
	return a, nil
}

// powerless reports whether an error means that control groups cannot be used
// here, rather than that something broke.
func powerless(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrNotExist)
}
