package script

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// Sizes of a Lua state: calls nest up to callDepth, values on the stack grow
// up to maxRegistry. gopher-lua's own limits, 256 calls and 5,120 values, are
// below what ordinary recursive scripts need.
const (
	callDepth   = 4096
	maxRegistry = 1 << 20
)

// state is one Lua state with the wrk table in it. A state is used by one
// goroutine at a time.
type state struct {
	*lua.LState
	config *Config
	wrk    *lua.LTable
	thread *lua.LTable // metatables of the three kinds of object
	addr   *lua.LTable
	stats  *lua.LTable
	random *rand.Rand
	buf    []byte // where format builds a request
}

// newState makes a state; index tells the states of a program apart.
func newState(c *Config, index int) *state {
	s := &state{
		LState: lua.NewState(lua.Options{CallStackSize: callDepth, RegistryMaxSize: maxRegistry}),
		config: c,
		random: newRandom(uint64(index)),
	}
	s.openLibraries()
	s.openObjects()
	s.openWrk()
	return s
}

// openLibraries completes and corrects the standard libraries.
func (s *state) openLibraries() {
	s.openOutput()
	s.openRandom()
	s.openText()
	s.openBit()
	preload := s.GetField(s.GetGlobal("package"), "preload").(*lua.LTable)
	preload.RawSetString("ffi", s.NewFunction(func(l *lua.LState) int {
		l.RaiseError("the ffi library of LuaJIT is not available: scripts run in a Lua 5.1 interpreter without C calls")
		return 0
	}))
}

// function returns the global function of that name, nil if there is none. It
// is asked anew for every call, since scripts replace their functions.
func (s *state) function(name string) *lua.LFunction {
	fn, _ := s.G.Global.RawGetString(name).(*lua.LFunction)
	return fn
}

// invoke calls fn and drops its results; what names the call in the error. The
// state stays usable after an error.
func (s *state) invoke(what string, fn lua.LValue, args ...lua.LValue) error {
	s.Push(fn)
	for _, a := range args {
		s.Push(a)
	}
	if err := s.PCall(len(args), 0, nil); err != nil {
		return s.failed(what, err)
	}
	return nil
}

// finish makes a call, without protection, whose function and arguments have
// been pushed, and returns its first result.
func (s *state) finish(args int) lua.LValue {
	s.Call(args, 1)
	result := s.Get(-1)
	s.Pop(1)
	return result
}

// failed is the error of a call.
func (s *state) failed(what string, r any) error {
	return fmt.Errorf("script %s: %s: %s", s.config.name(), what, reason(r))
}

// guard turns a Lua error into err; to be deferred around an unprotected call,
// which costs less than a protected one. The state can be looked into
// afterwards, but not run: one error ends a load.
func (s *state) guard(what string, err *error) {
	if r := recover(); r != nil {
		*err = s.failed(what, r)
	}
}

// reason is the text of a Lua error, without the stack trace.
func reason(r any) string {
	if e, ok := r.(*lua.ApiError); ok {
		return strings.TrimSpace(e.Object.String())
	}
	return fmt.Sprint(r)
}

// compile parses the script once for all states.
func compile(c *Config) (*lua.FunctionProto, error) {
	text, err := c.source()
	if err != nil || text == nil {
		return nil, err
	}
	chunk, err := parse.Parse(bytes.NewReader(text), c.name())
	if err != nil {
		return nil, fmt.Errorf("script %s: %s", c.name(), strings.TrimSpace(err.Error()))
	}
	proto, err := lua.Compile(chunk, c.name())
	if err != nil {
		return nil, fmt.Errorf("script %s: %s", c.name(), strings.TrimSpace(err.Error()))
	}
	return proto, nil
}
