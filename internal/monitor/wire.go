package monitor

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"sync"
	"time"

	"prony/internal/result"
)

// call is a line that the near side sends.
type call struct {
	Schema  int      `json:"schema,omitempty"` // with the request, which comes first
	Request *Request `json:"request,omitempty"`
	// Ping is the near side's time in microseconds; the far side gives it back.
	Ping  int64 `json:"ping,omitempty"`
	Start bool  `json:"start,omitempty"`
	Stop  bool  `json:"stop,omitempty"`
}

// news is a line that the far side sends. Times are microseconds from when it
// began to serve.
type news struct {
	Schema      int                 `json:"schema,omitempty"` // in the first answer
	Environment *result.Environment `json:"environment,omitempty"`
	Error       string              `json:"error,omitempty"` // instead of it
	Pong        int64               `json:"pong,omitempty"`  // the ping; AtUS is when it was heard
	AtUS        int64               `json:"at_us,omitempty"`
	// A sample: Head comes with the first of an id, and when it has changed.
	ID       int                       `json:"id,omitempty"`
	Head     *Head                     `json:"head,omitempty"`
	LengthUS int64                     `json:"length_us,omitempty"`
	Values   map[result.Metric]float32 `json:"values,omitempty"`
	End      bool                      `json:"end,omitempty"` // nothing comes after it
}

// lineMax bounds a line in both directions.
const lineMax = 4 << 20

// lines reads JSON values, one a line.
type lines struct{ scanner *bufio.Scanner }

func newLines(r io.Reader) lines {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 1<<16), lineMax)
	return lines{s}
}

// next reads one; io.EOF is the end. Blank lines are skipped.
func (l lines) next(into any) error {
	for l.scanner.Scan() {
		line := bytes.TrimSpace(l.scanner.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := json.Unmarshal(line, into); err != nil {
			return fmt.Errorf("line %.80q: %w", line, err)
		}
		return nil
	}
	if err := l.scanner.Err(); err != nil {
		return err
	}
	return io.EOF
}

// wireSink is the sink that sends. Samples wait until the moment is complete.
type wireSink struct {
	mu     sync.Mutex // guards all below
	out    *bufio.Writer
	coder  *json.Encoder
	told   map[int]Head // as it was sent
	err    error        // the first
	failed func()
}

func newWireSink(out io.Writer, failed func()) *wireSink {
	w := bufio.NewWriterSize(out, 1<<16)
	return &wireSink{out: w, coder: json.NewEncoder(w), told: map[int]Head{}, failed: failed}
}

func (w *wireSink) take(id int, h *Head, at, length time.Duration, points []point) {
	n := news{ID: id, AtUS: at.Microseconds(), LengthUS: length.Microseconds(), Values: make(map[result.Metric]float32, len(points))}
	for _, p := range points {
		if x := float32(p.value); !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0) {
			n.Values[p.metric] = x
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if told, ok := w.told[id]; !ok || !maps.Equal(told.Facts, h.Facts) || !maps.Equal(told.Unknown, h.Unknown) {
		now := *h
		now.Facts, now.Unknown = maps.Clone(h.Facts), maps.Clone(h.Unknown)
		w.told[id] = now
		n.Head = &now
	}
	w.encode(n)
}

func (w *wireSink) encode(n news) {
	if w.err == nil {
		w.fail(w.coder.Encode(n))
	}
}

func (w *wireSink) fail(err error) {
	if err != nil && w.err == nil {
		w.err = err
		w.failed()
	}
}

// send sends something at once, with what waits.
func (w *wireSink) send(n news) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.encode(n)
	w.fail(w.out.Flush())
	return w.err
}

func (w *wireSink) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail(w.out.Flush())
}

var (
	errSchema = errors.New("the two sides are of different versions of Prony")
	errCall   = errors.New("want a request first")
)
