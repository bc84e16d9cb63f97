package script

import lua "github.com/yuin/gopher-lua"

// address is an "ip:port" in the hands of a script.
type address string

// openObjects creates the metatables of threads, addresses and statistics.
func (s *state) openObjects() {
	s.thread = s.NewTypeMetatable("wrk.thread")
	s.SetFuncs(s.thread, map[string]lua.LGFunction{"__index": s.threadIndex, "__newindex": threadNewIndex})
	s.thread.RawSetString("get", s.NewFunction(s.threadGet))
	s.thread.RawSetString("set", s.NewFunction(s.threadSet))
	s.thread.RawSetString("stop", s.NewFunction(threadStop))
	s.addr = s.NewTypeMetatable("wrk.addr")
	s.SetFuncs(s.addr, map[string]lua.LGFunction{"__tostring": addrText})
	s.stats = s.NewTypeMetatable("wrk.stats")
	s.SetFuncs(s.stats, map[string]lua.LGFunction{
		"__index": s.statsIndex, "__len": statsLen, "__call": statsCall, "percentile": statsPercentile,
	})
}

// newObject wraps a Go value.
func (s *state) newObject(value any, meta *lua.LTable) *lua.LUserData {
	u := s.NewUserData()
	u.Value = value
	u.Metatable = meta
	return u
}

// newAddrs is a list of addresses.
func (s *state) newAddrs(addrs []string) *lua.LTable {
	list := s.CreateTable(len(addrs), 0)
	for _, a := range addrs {
		list.Append(s.newObject(address(a), s.addr))
	}
	return list
}

// checkAddr returns argument n, which must be an address.
func checkAddr(l *lua.LState, n int) string {
	if u, ok := l.Get(n).(*lua.LUserData); ok {
		if a, ok := u.Value.(address); ok {
			return string(a)
		}
	}
	l.ArgError(n, "wrk.addr expected, got "+l.Get(n).Type().String())
	return ""
}

func addrText(l *lua.LState) int {
	l.Push(lua.LString(checkAddr(l, 1)))
	return 1
}

// checkThread returns argument n, which must be a thread.
func checkThread(l *lua.LState, n int) *thread {
	if u, ok := l.Get(n).(*lua.LUserData); ok {
		if t, ok := u.Value.(*thread); ok {
			return t
		}
	}
	l.ArgError(n, "wrk.thread expected, got "+l.Get(n).Type().String())
	return nil
}

// threadIndex is thread.NAME: the address or a method.
func (s *state) threadIndex(l *lua.LState) int {
	t := checkThread(l, 1)
	switch name := l.CheckString(2); name {
	case "addr":
		l.Push(s.ownAddr(t.addr))
	case "get", "set", "stop":
		l.Push(s.thread.RawGetString(name))
	default:
		l.Push(lua.LNil)
	}
	return 1
}

// ownAddr is an address object of this state: they hang on a metatable of the
// state that made them.
func (s *state) ownAddr(v lua.LValue) lua.LValue {
	if u, ok := v.(*lua.LUserData); ok && u.Metatable != s.addr {
		return s.newObject(u.Value, s.addr)
	}
	return v
}

// threadNewIndex is thread.addr = value; there is nothing else to set.
func threadNewIndex(l *lua.LState) int {
	t := checkThread(l, 1)
	if name := l.CheckString(2); name != "addr" {
		l.RaiseError("cannot set '%s' on thread", name)
	}
	checkAddr(l, 3)
	t.addr = l.Get(3)
	return 0
}

// threadGet is thread:get(name): a global of the thread.
func (s *state) threadGet(l *lua.LState) int {
	t, name := checkThread(l, 1), l.CheckString(2)
	l.Push(s.copied(l, t.state.G.Global.RawGetString(name)))
	return 1
}

// threadSet is thread:set(name, value).
func (s *state) threadSet(l *lua.LState) int {
	t, name := checkThread(l, 1), l.CheckString(2)
	t.state.G.Global.RawSetString(name, t.state.copied(l, l.Get(3)))
	return 0
}

// threadStop is thread:stop(). The engine sees the mark at the next send.
func threadStop(l *lua.LState) int {
	checkThread(l, 1).stopped.Store(true)
	return 0
}
