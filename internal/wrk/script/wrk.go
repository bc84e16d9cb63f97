package script

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// openWrk creates the wrk table, which holds the request and the functions
// that scripts call or replace.
func (s *state) openWrk() {
	c := s.config
	s.wrk = s.NewTable()
	headers := s.NewTable()
	for _, h := range c.Headers {
		headers.RawSetString(h.Name, lua.LString(h.Value))
	}
	s.wrk.RawSetString("scheme", lua.LString(c.Scheme))
	s.wrk.RawSetString("host", lua.LString(c.Host))
	if c.Port != "" {
		s.wrk.RawSetString("port", lua.LString(c.Port))
	}
	s.wrk.RawSetString("method", lua.LString("GET"))
	s.wrk.RawSetString("path", lua.LString(c.Path))
	s.wrk.RawSetString("headers", headers)
	s.SetFuncs(s.wrk, map[string]lua.LGFunction{
		"format": s.format, "lookup": s.lookup, "connect": s.connect,
		"resolve": s.resolve, "setup": s.setup, "init": s.init,
	})
	s.SetGlobal("wrk", s.wrk)
}

// lookup is wrk.lookup(host, service): a list of addresses.
func (s *state) lookup(l *lua.LState) int {
	host, service := l.CheckString(1), l.CheckString(2)
	addrs, err := s.config.Lookup(host, service)
	if err != nil {
		l.RaiseError("unable to resolve %s:%s %s", host, service, err)
	}
	l.Push(s.newAddrs(addrs))
	return 1
}

// connect is wrk.connect(addr): whether the address accepts a connection.
func (s *state) connect(l *lua.LState) int {
	l.Push(lua.LBool(s.config.Connect(checkAddr(l, 1))))
	return 1
}

// resolve is wrk.resolve(host, service), which leaves the addresses that
// accept connections in wrk.addrs.
func (s *state) resolve(l *lua.LState) int {
	host, service := l.CheckString(1), l.CheckString(2)
	addrs, err := s.config.Lookup(host, service)
	if err != nil {
		l.RaiseError("unable to resolve %s:%s %s", host, service, err)
	}
	var open []string
	for _, a := range addrs {
		if s.config.Connect(a) {
			open = append(open, a)
		}
	}
	s.wrk.RawSetString("addrs", s.newAddrs(open))
	return 0
}

// setup is wrk.setup(thread): it gives the thread the first address and the
// script's setup its turn.
func (s *state) setup(l *lua.LState) int {
	t := checkThread(l, 1)
	if addrs, ok := s.wrk.RawGetString("addrs").(*lua.LTable); ok && addrs.Len() > 0 {
		t.addr = addrs.RawGetInt(1)
	}
	if fn := s.function("setup"); fn != nil {
		l.Push(fn)
		l.Push(l.Get(1))
		l.Call(1, 0)
	}
	return 0
}

// init is wrk.init(args): it completes the headers, gives the script's init
// its turn and then builds the request that is sent if the script makes none.
func (s *state) init(l *lua.LState) int {
	if headers, ok := s.wrk.RawGetString("headers").(*lua.LTable); ok {
		if headers.RawGetString("Host") == lua.LNil && !findFold(headers, "Host") {
			headers.RawSetString("Host", lua.LString(s.hostHeader(l)))
		}
	}
	if fn := s.function("init"); fn != nil {
		l.Push(fn)
		l.Push(l.Get(1))
		l.Call(1, 0)
	}
	l.Push(s.wrk.RawGetString("format"))
	l.Call(0, 1)
	static := l.Get(-1)
	s.wrk.RawSetString("request", l.NewFunction(func(l *lua.LState) int {
		l.Push(static)
		return 1
	}))
	return 0
}

// hostHeader is the Host field for wrk.host and wrk.port.
func (s *state) hostHeader(l *lua.LState) string {
	host := s.text(l, "host", s.wrk.RawGetString("host"))
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := s.wrk.RawGetString("port"); lua.LVAsBool(port) {
		host += ":" + s.text(l, "port", port)
	}
	return host
}
