package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"prony/internal/serve"
	"prony/internal/store"
)

// patience bounds every wait of a test.
const patience = 20 * time.Second

const goodFile = `{"experiment": "prony: 1\nname: scaling\n"}`

// play is an experiment that a test conducts.
type play struct {
	begun chan func([]byte) // gets what it tells events with
	end   chan error
	runs  []store.RunID
}

func newPlay() *play { return &play{begun: make(chan func([]byte), 1), end: make(chan error, 1)} }

func (p *play) run(ctx context.Context, _ string, tell func([]byte)) ([]store.RunID, error) {
	p.begun <- tell
	select {
	case err := <-p.end:
		return p.runs, err
	case <-ctx.Done():
		return p.runs, errors.New("interrupted")
	}
}

// allowed is a server that may run a play.
func allowed(t testing.TB, p *play, change func(*serve.Config)) *fixture {
	t.Helper()
	c := config()
	c.Run = p.run
	if change != nil {
		change(&c)
	}
	return start(t, c)
}

// live is what the API says of an experiment that was started.
type live struct {
	ID, State, Events, Error, Name string
	Runs                           []store.RunID
}

func (f *fixture) begin(t testing.TB, p *play) (live, func([]byte)) {
	t.Helper()
	var l live
	f.call(t, "POST", "/api/runs", goodFile, 202, &l)
	select {
	case tell := <-p.begun:
		return l, tell
	case <-time.After(patience):
		t.Fatal("the experiment did not begin")
	}
	return l, nil
}

// event is one of a stream.
type event struct{ id, name, data string }

// follow opens a stream behind an event; the channel is closed with the stream.
func (f *fixture) follow(t testing.TB, l live, after string) <-chan event {
	t.Helper()
	r := f.request(t, "GET", l.Events, "")
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || kind != "text/event-stream" {
		t.Fatalf("status %d, type %q", resp.StatusCode, kind)
	}
	events := make(chan event)
	t.Cleanup(func() { resp.Body.Close() })
	go func() {
		defer close(events)
		var e event
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			key, value, _ := strings.Cut(lines.Text(), ": ")
			switch key {
			case "id":
				e.id = value
			case "event":
				e.name = value
			case "data":
				e.data = value
				select {
				case events <- e:
				case <-t.Context().Done():
					return
				}
			}
		}
	}()
	return events
}

func next(t testing.TB, events <-chan event) (event, bool) {
	t.Helper()
	select {
	case e, ok := <-events:
		return e, ok
	case <-time.After(patience):
		t.Fatal("no event came")
	}
	return event{}, false
}

func TestLive(t *testing.T) {
	p := newPlay()
	f := allowed(t, p, nil)
	p.runs = []store.RunID{f.put(t, trial(1))}
	l, tell := f.begin(t, p)
	if l.State != "running" || l.Name != "scaling" || l.Events != "/api/live/"+l.ID {
		t.Errorf("got %+v", l)
	}
	events := f.follow(t, l, "")
	tell([]byte(`{"event": "phase", "text": "<script>\u2028"}`))
	tell([]byte("{\"event\": \"phase\",\n \"text\": \"over two lines\"}"))
	for _, bad := range []string{"no json", `{"event": ""}`, `{"event": "a\ndata: b"}`, `[]`, `{"event": "phase", "text": "` + strings.Repeat("x", 1<<20) + `"}`} {
		tell([]byte(bad))
	}
	for i, want := range []string{`{"event":"phase","text":"<script>\u2028"}`, `{"event":"phase","text":"over two lines"}`} {
		if e, _ := next(t, events); e != (event{fmt.Sprint(i + 1), "phase", want}) {
			t.Errorf("got %+v, want %s", e, want)
		}
	}
	f.refused(t, "POST", "/api/runs", goodFile, 409, "is running")
	p.end <- nil
	if e, _ := next(t, events); e.id != "3" || e.name != "ended" || !strings.Contains(e.data, string(p.runs[0])) {
		t.Errorf("got %+v, want the end with its runs", e)
	}
	if _, more := next(t, events); more {
		t.Error("the stream goes on after the end")
	}
	// Who comes again gets what is new, and then is told not to.
	if e, _ := next(t, f.follow(t, l, "2")); e.id != "3" {
		t.Errorf("got %+v behind 2, want 3", e)
	}
	r := f.request(t, "GET", l.Events, "")
	r.Header.Set("Last-Event-ID", "3")
	if a := f.send(t, r); a.StatusCode != 204 {
		t.Errorf("status %d behind the last, want 204", a.StatusCode)
	}
	var all struct{ Live []live }
	f.call(t, "GET", "/api/live", "", 200, &all)
	if len(all.Live) != 1 || all.Live[0].State != "ended" || len(all.Live[0].Runs) != 1 {
		t.Errorf("got %+v", all)
	}
}

func TestLiveRefusals(t *testing.T) {
	p := newPlay()
	f := allowed(t, p, nil)
	f.refused(t, "POST", "/api/runs", `{"experiment": "lod: 1\n"}`, 422, "1 mistakes")
	f.refused(t, "GET", "/api/live/none", "", 404, "none")
	f.refused(t, "POST", "/api/runs/none/stop", "", 404, "none")
	l, _ := f.begin(t, p)
	r := f.request(t, "GET", l.Events, "")
	r.Header.Set("Last-Event-ID", "-1")
	if a := f.send(t, r); a.StatusCode != 422 {
		t.Errorf("status %d, want 422", a.StatusCode)
	}
}

func TestStop(t *testing.T) {
	p := newPlay()
	f := allowed(t, p, nil)
	l, _ := f.begin(t, p)
	events := f.follow(t, l, "")
	f.call(t, "POST", "/api/runs/"+l.ID+"/stop", "", 202, nil)
	e, _ := next(t, events)
	if e.name != "ended" || !strings.Contains(e.data, "interrupted") {
		t.Errorf("got %+v", e)
	}
	// Another may begin now, and one that panics is its own misfortune.
	l, tell := f.begin(t, p)
	tell([]byte(`{"event":"phase"}`))
	p.end <- nil
	for e := range f.follow(t, l, "") {
		if e.name == "ended" && strings.Contains(e.data, "interrupted") {
			t.Errorf("got %+v", e)
		}
	}
}

func TestPanicIsTheEndOfItsExperiment(t *testing.T) {
	c := config()
	c.Run = func(context.Context, string, func([]byte)) ([]store.RunID, error) { panic("a mistake of ours") }
	f := start(t, c)
	var l live
	f.call(t, "POST", "/api/runs", goodFile, 202, &l)
	if e, _ := next(t, f.follow(t, l, "")); e.name != "ended" || !strings.Contains(e.data, "a mistake of ours") {
		t.Errorf("got %+v", e)
	}
}

// TestManyReaders: fifty of them, each of whom gets every event in its order.
func TestManyReaders(t *testing.T) {
	const readers, count = 50, 200
	p := newPlay()
	f := allowed(t, p, nil)
	l, tell := f.begin(t, p)
	var wait sync.WaitGroup
	for range readers {
		events := f.follow(t, l, "")
		wait.Go(func() {
			n := 0
			for e := range events {
				if n++; e.id != fmt.Sprint(n) {
					t.Errorf("got the event %s, want %d", e.id, n)
					return
				}
			}
			if n != count+1 {
				t.Errorf("got %d events, want %d", n, count+1)
			}
		})
	}
	for i := range count {
		tell(fmt.Appendf(nil, `{"event":"progress","completed":%d}`, i))
	}
	p.end <- nil
	wait.Wait()
}

func TestTooManyReaders(t *testing.T) {
	p := newPlay()
	f := allowed(t, p, func(c *serve.Config) { c.Limits.Streams = 2 })
	l, tell := f.begin(t, p)
	tell([]byte(`{"event":"phase"}`))
	for range 2 {
		next(t, f.follow(t, l, "")) // has begun
	}
	f.refused(t, "GET", l.Events, "", 503, "2 readers")
}

// TestReaderThatDoesNotRead: it is let go, and nobody else waits for it.
func TestReaderThatDoesNotRead(t *testing.T) {
	p := newPlay()
	f := allowed(t, p, func(c *serve.Config) { c.Limits.Stall, c.Limits.Streams = 50*time.Millisecond, 2 })
	l, tell := f.begin(t, p)
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.http.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", l.Events)
	events := f.follow(t, l, "") // the second, and last that is allowed
	// More than the buffers of a connection hold.
	text := strings.Repeat("x", 200<<10)
	begun := time.Now()
	var slowest time.Duration
	for range 60 {
		before := time.Now()
		tell(fmt.Appendf(nil, `{"event":"phase","text":%q}`, text))
		slowest = max(slowest, time.Since(before))
		next(t, events)
	}
	if slowest > time.Second {
		t.Errorf("an event took %v to tell: somebody waited for a reader", slowest)
	}
	// Its place becomes free.
	for f.send(t, f.headRequest(t, l)).StatusCode != 200 {
		if time.Since(begun) > patience {
			t.Fatal("the reader that takes nothing is still there")
		}
		tell([]byte(`{"event":"phase"}`))
		next(t, events)
	}
}

// headRequest asks for a stream without its events.
func (f *fixture) headRequest(t testing.TB, l live) *http.Request {
	return f.request(t, "HEAD", l.Events, "")
}

// TestEventsAreBounded: of too many, readings go before what happened.
func TestEventsAreBounded(t *testing.T) {
	p := newPlay()
	f := allowed(t, p, nil)
	l, tell := f.begin(t, p)
	tell([]byte(`{"event":"trial","number":1}`))
	for i := range 3 * serve.EventsMost {
		tell(fmt.Appendf(nil, `{"event":"progress","completed":%d}`, i))
	}
	p.end <- nil
	var got []event
	for e := range f.follow(t, l, "") {
		got = append(got, e)
	}
	last := got[len(got)-1]
	if len(got) > serve.EventsMost || got[0].name != "trial" || last.name != "ended" || last.id != fmt.Sprint(3*serve.EventsMost+2) {
		t.Errorf("got %d events from %+v to %+v", len(got), got[0], last)
	}
}

// TestServeStops: with readers connected and an experiment under way, the server
// ends at once when it is told to, and the experiment with it.
func TestServeStops(t *testing.T) {
	p := newPlay()
	f := allowed(t, p, nil)
	c := config()
	c.Store, c.Run = f.store, p.run
	s, err := serve.New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	f.http.URL = "http://" + l.Addr().String()
	begun, tell := f.begin(t, p)
	events := f.follow(t, begun, "")
	tell([]byte(`{"event":"phase"}`))
	next(t, events)
	at := time.Now()
	stop()
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("it goes on")
	}
	if took := time.Since(at); took > 4*time.Second {
		t.Errorf("it took %v: it waited for a reader", took)
	}
	for range events { // until the stream is closed
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("it still listens")
	}
}

func TestServeTellsOfItsListener(t *testing.T) {
	f := start(t, config())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := f.Serve(t.Context(), l); err == nil || !strings.Contains(err.Error(), "serve on ") {
		t.Errorf("got %v", err)
	}
}

func TestEventsAreJSON(t *testing.T) {
	p := newPlay()
	f := allowed(t, p, nil)
	l, tell := f.begin(t, p)
	tell([]byte(`{"event":"finding","number":1,"message":"</script>"}`))
	p.end <- errors.New("app[0] <b>ended</b>")
	schema := described(t).schema(t, []string{"components", "schemas", "Event"})
	for e := range f.follow(t, l, "") {
		var v any
		if err := json.Unmarshal([]byte(e.data), &v); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Error(err)
		}
	}
}
