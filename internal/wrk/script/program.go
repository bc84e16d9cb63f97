package script

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"prony/internal/scenario"
)

// Program is a loaded script: the main state and one for each thread.
type Program struct {
	config  Config
	proto   *lua.FunctionProto // nil without a script
	broken  error              // why there is none although one was asked for
	main    *state
	threads []*thread
}

// Load runs the script in the main state and then, for each thread in turn, in
// a state of its own, followed by setup(thread) and init(args). It fails if
// the script is missing, does not parse, raises an error in any of these, or
// does not make a complete request.
func Load(c Config) (*Program, error) {
	c = c.withDefaults()
	c.Stdout, c.Stderr = &sharedWriter{to: c.Stdout}, &sharedWriter{to: c.Stderr}
	p := &Program{config: c}
	p.proto, p.broken = compile(&p.config)
	main, err := p.start(0)
	if err != nil {
		return nil, err
	}
	p.main = main
	if len(c.Addrs) > 0 {
		main.wrk.RawSetString("addrs", main.newAddrs(c.Addrs))
	}
	for i := range c.Threads {
		if err := p.addThread(i); err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

// start makes a state and runs the script in it. With quirks an error is
// printed, by every state anew, and what was defined until then counts.
func (p *Program) start(index int) (*state, error) {
	s := newState(&p.config, index)
	err := p.broken
	if err == nil && p.proto != nil {
		err = s.invoke("load", s.NewFunctionFromProto(p.proto))
	}
	if err == nil {
		return s, nil
	}
	if !p.config.Quirks {
		s.Close()
		return nil, err
	}
	fmt.Fprintln(p.config.Stderr, err)
	return s, nil
}

// addThread makes the state of a thread and lets both sides prepare it.
func (p *Program) addThread(i int) error {
	s, err := p.start(i + 1)
	if err != nil {
		return err
	}
	t := &thread{state: s, addr: lua.LNil}
	p.threads = append(p.threads, t)
	s.wrk.RawSetString("thread", s.newObject(t, s.thread))
	m := p.main
	if err := m.invoke("setup()", m.wrk.RawGetString("setup"), m.newObject(t, m.thread)); err != nil {
		return err
	}
	if err := s.invoke("init()", s.wrk.RawGetString("init"), s.arguments()); err != nil {
		return err
	}
	t.stopped.Store(false) // there is nothing to stop before the load runs
	return t.prepare(p.threads[0].wants.Batch)
}

// arguments is the table that init receives: the URL at 0, then the rest.
func (s *state) arguments() *lua.LTable {
	args := s.NewTable()
	for i, a := range s.config.Args {
		args.RawSetInt(i, lua.LString(a))
	}
	return args
}

// Thread returns the script of worker i, from 0.
func (p *Program) Thread(i int) scenario.Script { return p.threads[i] }

// Warnings are remarks that the user should see before the load starts.
func (p *Program) Warnings() []string { return p.config.warnings() }

// Close frees the states. The program cannot be used afterwards.
func (p *Program) Close() {
	p.main.Close()
	for _, t := range p.threads {
		t.state.Close()
	}
}
