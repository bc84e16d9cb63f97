package script

import (
	"io"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
)

// sharedWriter lets the states of a program, which run in several threads,
// print to one place.
type sharedWriter struct {
	mu sync.Mutex // guards to
	to io.Writer
}

func (w *sharedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}

// openOutput sends print, io.write, io.stdout and io.stderr to the writers of
// the program. A file that the script opens, or makes the default output with
// io.output, stays a matter of the io library.
func (s *state) openOutput() {
	lib := s.GetGlobal("io").(*lua.LTable)
	out := s.newStream(s.config.Stdout)
	lib.RawSetString("stdout", out)
	lib.RawSetString("stderr", s.newStream(s.config.Stderr))
	s.SetGlobal("print", s.NewFunction(s.print))
	s.redirect(lib, out)
}

// print is print(...): one line, one write.
func (s *state) print(l *lua.LState) int {
	parts := make([]string, l.GetTop())
	for i := range parts {
		parts[i] = display(l, l.Get(i+1))
	}
	io.WriteString(s.config.Stdout, strings.Join(parts, "\t")+"\n")
	return 0
}

// redirect replaces io.write, io.output and io.type as far as they concern
// the standard output.
func (s *state) redirect(lib *lua.LTable, out *lua.LUserData) {
	standard := true // until the script sets another default output
	library := func(name string) lua.LValue { return lib.RawGetString(name) }
	write, output, kind := library("write"), library("output"), library("type")
	s.SetFuncs(lib, map[string]lua.LGFunction{
		"write": func(l *lua.LState) int {
			if standard {
				return writeStream(l, out, 1)
			}
			return forward(l, write)
		},
		"output": func(l *lua.LState) int {
			if standard = standard && l.GetTop() == 0 || l.Get(1) == out; standard {
				l.Push(out)
				return 1
			}
			return forward(l, output)
		},
		"type": func(l *lua.LState) int {
			if u, ok := l.Get(1).(*lua.LUserData); ok && isStream(u) {
				l.Push(lua.LString("file"))
				return 1
			}
			return forward(l, kind)
		},
	})
}

// forward calls fn with the arguments of the running function.
func forward(l *lua.LState, fn lua.LValue) int {
	n := l.GetTop()
	l.Push(fn)
	for i := 1; i <= n; i++ {
		l.Push(l.Get(i))
	}
	l.Call(n, lua.MultRet)
	return l.GetTop() - n
}

// stream is one of the program's two outputs.
type stream struct{ io.Writer }

func isStream(u *lua.LUserData) bool {
	_, ok := u.Value.(stream)
	return ok
}

// newStream is a file object that can be written to. It is never closed and
// has nothing to flush.
func (s *state) newStream(w io.Writer) *lua.LUserData {
	meta := s.NewTable()
	succeed := func(l *lua.LState) int {
		l.Push(lua.LTrue)
		return 1
	}
	s.SetFuncs(meta, map[string]lua.LGFunction{
		"write": func(l *lua.LState) int { return writeStream(l, l.CheckUserData(1), 2) },
		"flush": succeed, "close": succeed, "setvbuf": succeed,
	})
	meta.RawSetString("__index", meta)
	return s.newObject(stream{w}, meta)
}

// writeStream writes the arguments from first on, which must be strings or
// numbers.
func writeStream(l *lua.LState, u *lua.LUserData, first int) int {
	w, ok := u.Value.(stream)
	if !ok {
		l.ArgError(1, "file expected")
	}
	var b strings.Builder
	for i := first; i <= l.GetTop(); i++ {
		l.CheckTypes(i, lua.LTString, lua.LTNumber)
		b.WriteString(display(l, l.Get(i)))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		l.Push(lua.LNil)
		l.Push(lua.LString(err.Error()))
		return 2
	}
	l.Push(lua.LTrue)
	return 1
}
