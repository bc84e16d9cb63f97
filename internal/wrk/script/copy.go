package script

import lua "github.com/yuin/gopher-lua"

// maxDepth bounds how deep tables may nest that go from one state to another.
const maxDepth = 32

// copied returns a copy of v that lives in s. Functions, threads
// and objects cannot be copied, nor tables that contain themselves; the error
// is raised in l, which asked for it.
func (s *state) copied(l *lua.LState, v lua.LValue) lua.LValue {
	c := copier{l: l, to: s.LState}
	return c.value(v, 0)
}

// copier copies one value; open are the tables it is inside of.
type copier struct {
	l    *lua.LState
	to   *lua.LState
	open map[*lua.LTable]bool
}

func (c *copier) value(v lua.LValue, depth int) lua.LValue {
	switch v := v.(type) {
	case *lua.LNilType, lua.LBool, lua.LNumber, lua.LString:
		return v
	case *lua.LTable:
		return c.table(v, depth+1)
	}
	c.l.RaiseError("cannot transfer '%s' to thread", v.Type())
	return nil
}

func (c *copier) table(t *lua.LTable, depth int) lua.LValue {
	switch {
	case c.open[t]:
		c.l.RaiseError("cannot transfer a table that contains itself to thread")
	case depth > maxDepth:
		c.l.RaiseError("cannot transfer a table nested more than %d deep to thread", maxDepth)
	case c.open == nil:
		c.open = map[*lua.LTable]bool{}
	}
	c.open[t] = true
	defer delete(c.open, t)
	to := c.to.CreateTable(t.Len(), 0)
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		to.RawSet(c.value(k, depth), c.value(v, depth))
	}
	return to
}
