package monitor

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// said is a connection on which the far side has said all.
type said struct {
	io.Reader
	io.Writer
}

func (said) Close() error { return nil }

// FuzzNews: whatever the far side says, the near side takes it or ends.
func FuzzNews(f *testing.F) {
	f.Add([]byte(`{"id":1,"head":{"kind":"host","name":"a"},"at_us":1000000,"length_us":1000000,"values":{"x_rate":1.5}}` + "\n" + `{"pong":5,"at_us":7}` + "\n" + `{"end":true}` + "\n"))
	f.Add([]byte(`{"id":1,"at_us":-1,"length_us":-1}` + "\n" + `{"id":2,"head":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		n := &nearSide{rw: said{bytes.NewReader(text), io.Discard}, news: newLines(bytes.NewReader(text)), recorder: newRecorder(time.Now()), heads: map[int]*Head{}}
		n.read()
		r := n.recorder.recording()
		for _, o := range r.Cut(r.Epoch, 0, time.Second) {
			for metric, values := range o.Series {
				if len(values) != len(o.AtUS) {
					t.Errorf("%s: got %d values at %d times", metric, len(values), len(o.AtUS))
				}
			}
		}
	})
}

// FuzzCalls: whatever the near side says, the far side answers or ends. A watch
// is not started, because that would look at this machine.
func FuzzCalls(f *testing.F) {
	f.Add(`{"schema":1,"request":{"host":"a","services":[{"name":"x"}]}}` + "\n" + `{"ping":5}` + "\n" + `{"stop":true}` + "\n")
	f.Add("{}\n\n{")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(strings.ToLower(text), "start") || strings.Contains(text, "\\u") {
			return
		}
		var out bytes.Buffer
		err := serve(t.Context(), strings.NewReader(text), &out, t.TempDir())
		if err == nil && !strings.Contains(out.String(), `"end":true`) {
			t.Errorf("got %q, want an end", out.String())
		}
	})
}
