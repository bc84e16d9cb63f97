package script

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	lua "github.com/yuin/gopher-lua"

	"prony/internal/httpwire"
	"prony/internal/scenario"
)

var _ scenario.Script = (*thread)(nil)

// thread is the script in the state of one worker. It implements
// [scenario.Script] and is used from that worker's thread only.
type thread struct {
	*state
	addr    lua.LValue // the address object, LNil if none is known
	wants   scenario.Wants
	out     []byte // the last request, or the only one
	stopped atomic.Bool
}

// Wants says which functions the script has defined.
func (t *thread) Wants() scenario.Wants { return t.wants }

// prepare is called once after init: it finds out what the script wants and,
// if the requests never change, builds the one there is. The first thread
// makes a trial call of request() for the batch size, which is why its
// counters are one ahead, as in wrk; the others take over batch.
func (t *thread) prepare(batch int) error {
	t.wants = scenario.Wants{
		Request:  t.function("request") != nil,
		Response: t.function("response") != nil,
		Delay:    t.function("delay") != nil,
		Batch:    batch,
		Stopped:  t.stopped.Load,
	}
	if a, ok := t.addr.(*lua.LUserData); ok {
		t.wants.Dial = string(a.Value.(address))
	}
	if t.wants.Request && batch > 0 {
		return nil
	}
	if err := t.build(); err != nil {
		return err
	}
	count, err := t.check()
	t.wants.Batch = count
	return err
}

// Request returns the bytes to send: what request() returns, or else the same
// bytes every time. They are valid until the next call. An error of the
// script, and bytes that are not Batch complete requests, end the load.
func (t *thread) Request() ([]byte, error) {
	if !t.wants.Request {
		return t.out, nil
	}
	if err := t.build(); err != nil {
		return nil, err
	}
	count, err := t.check()
	if err == nil && count != t.wants.Batch {
		err = fmt.Errorf("script %s: request() returned %d requests, the first time %d", t.config.name(), count, t.wants.Batch)
	}
	return t.out, err
}

// build lets the script make a request and keeps it in out.
func (t *thread) build() (err error) {
	defer t.guard("request()", &err)
	if fn := t.function("request"); fn != nil {
		t.Push(fn)
	} else {
		t.Push(t.wrk.RawGetString("request"))
	}
	switch v := t.finish(0).(type) {
	case lua.LString:
		t.out = append(t.out[:0], v...)
	case lua.LNumber:
		t.out = append(t.out[:0], numberText(float64(v))...)
	default: // wrk takes it for an empty text, which is no request
		t.out = t.out[:0]
	}
	return nil
}

// check counts the requests in out.
func (t *thread) check() (int, error) {
	count, _, err := httpwire.CheckRequest(t.out)
	if err != nil {
		return 0, fmt.Errorf("script %s: request(): %w", t.config.name(), err)
	}
	return count, nil
}

// Response calls response(status, headers, body), if the script has it. Header
// names are in the case received; of several with one name the last counts.
func (t *thread) Response(status int, headers []scenario.Header, body []byte) (err error) {
	fn := t.function("response")
	if fn == nil {
		return nil
	}
	defer t.guard("response()", &err)
	fields := t.CreateTable(0, len(headers))
	for i := range headers {
		fields.RawSetString(headers[i].Name, lua.LString(headers[i].Value))
	}
	t.Push(fn)
	t.Push(lua.LNumber(status))
	t.Push(fields)
	t.Push(lua.LString(body))
	t.Call(3, 0)
	return nil
}

// maxDelay keeps a delay in the range of a time.Duration: ten days are longer
// than any load.
const maxDelay = 10 * 24 * time.Hour

// Delay calls delay(), which returns milliseconds; fractions count, except
// with Quirks. Nothing, and less than 0, mean no delay.
func (t *thread) Delay() (d time.Duration, err error) {
	fn := t.function("delay")
	if fn == nil {
		return 0, nil
	}
	defer t.guard("delay()", &err)
	t.Push(fn)
	v := t.finish(0)
	if !lua.LVCanConvToString(v) && v != lua.LNil {
		return 0, t.failed("delay()", fmt.Sprintf("it returned a %s, want milliseconds", v.Type()))
	}
	return t.pause(float64(lua.LVAsNumber(v))), nil
}

// pause converts milliseconds as a script gives them.
func (t *thread) pause(ms float64) time.Duration {
	if t.config.Quirks {
		ms = math.Trunc(ms)
	}
	if !(ms > 0) {
		return 0
	}
	return time.Duration(min(ms*float64(time.Millisecond), float64(maxDelay)))
}
