package engine

import (
	"prony/internal/result"
	"prony/internal/scenario"
)

// capture collects one answer for a script that wants to read it.
type capture struct {
	headers []scenario.Header
	body    []byte
}

// Header implements httpwire.Capture.
func (c *capture) Header(name, value []byte) {
	c.headers = append(c.headers, scenario.Header{Name: string(name), Value: string(value)})
}

// Body implements httpwire.Capture.
func (c *capture) Body(chunk []byte) { c.body = append(c.body, chunk...) }

// captureFor empties the slot's capture for a new answer.
func (w *worker) captureFor(slot int32) {
	c := w.captures[slot]
	if c == nil {
		c = &capture{}
		w.captures[slot] = c
	}
	c.headers, c.body = c.headers[:0], c.body[:0]
}

// parse feeds the parser, with the slot's capture when a script reads answers.
func (w *worker) parse(slot int32, c *conn, p []byte) (int, bool, error) {
	if w.captures == nil {
		return w.parser.Parse(&c.parse, p)
	}
	w.parser.Capture = w.captures[slot]
	n, done, err := w.parser.Parse(&c.parse, p)
	w.parser.Capture = nil
	return n, done, err
}

func (w *worker) tellScript(slot int32, status int) {
	c := w.captures[slot]
	if c == nil {
		return
	}
	if err := w.script.Response(status, c.headers, c.body); err != nil {
		w.scriptError(err)
	}
	if w.wants.Stopped != nil && w.wants.Stopped() {
		w.stop(w.loop.Now())
	}
}

// scriptError ends the load: what the script would do next is unknown.
func (w *worker) scriptError(err error) {
	w.note(result.ScriptFailed, "script", err, "script")
	w.story.kinds[result.ScriptFailed]++
	w.r.end("script", w.loop.Now())
}

// scriptFailed ends a request that the script could not build.
func (w *worker) scriptFailed(slot int32, c *conn, err error, now int64) {
	for c.n > 0 {
		w.failHead(slot, c, result.ScriptFailed, "script", err, now)
	}
	w.r.end("script", now)
}
