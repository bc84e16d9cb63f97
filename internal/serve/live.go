package serve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"prony/internal/store"
)

// Bounds of what is kept of experiments that were started here.
const (
	eventsMost     = 5000      // of one experiment
	bytesMost      = 16 << 20  // of all its events
	eventBytesMost = 256 << 10 // of one event, longer ones are left out
	livesMost      = 8         // that are remembered
)

// event is one thing that happened, as its readers get it.
type event struct {
	id   int64 // from 1
	name string
	data []byte // one line of JSON
}

// live is an experiment that was started here.
type live struct {
	id      string
	started time.Time
	name    string
	stop    context.CancelFunc

	mu     sync.Mutex // guards what follows
	events []event    // by id, with gaps where some are gone
	bytes  int        // of all of them
	last   int64      // id of the newest
	ended  bool
	runs   []store.RunID
	err    string
	// changed is closed and replaced with every event.
	changed chan struct{}
}

// state is a live as JSON.
type state struct {
	ID      string        `json:"id"`
	Name    string        `json:"name,omitempty"`
	Started time.Time     `json:"started"`
	State   string        `json:"state"` // running, ended
	Events  string        `json:"events"`
	Runs    []store.RunID `json:"runs"`
	Error   string        `json:"error,omitempty"`
}

func (l *live) state() state {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := state{ID: l.id, Name: l.name, Started: l.started, State: "running", Events: "/api/live/" + l.id, Runs: append([]store.RunID{}, l.runs...), Error: l.err}
	if l.ended {
		s.State = "ended"
	}
	return s
}

// tell adds an event, which is a JSON object with a key "event". Others and those
// that are too long are left out; it never waits for a reader.
func (l *live) tell(text []byte) {
	var head struct {
		Event string `json:"event"`
	}
	var line bytes.Buffer
	if len(text) > eventBytesMost || json.Unmarshal(text, &head) != nil || !isWord(head.Event) || json.Compact(&line, text) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(head.Event, line.Bytes())
}

// add wants the lock.
func (l *live) add(name string, data []byte) {
	l.last++
	l.events, l.bytes = append(l.events, event{l.last, name, data}), l.bytes+len(data)
	l.trim()
	close(l.changed)
	l.changed = make(chan struct{})
}

// trim makes room when there are too many: of the older half the readings go
// first, which tell the least later, and then the oldest events.
func (l *live) trim() {
	tooMany := func() bool { return len(l.events) > eventsMost || l.bytes > bytesMost }
	if !tooMany() {
		return
	}
	middle := l.events[len(l.events)/2].id
	l.drop(func(e event) bool { return e.id < middle && (e.name == "progress" || e.name == "observed") })
	for tooMany() {
		oldest := l.events[len(l.events)/4].id
		l.drop(func(e event) bool { return e.id < oldest })
	}
}

func (l *live) drop(which func(event) bool) {
	l.events = slices.DeleteFunc(l.events, which)
	l.bytes = 0
	for _, e := range l.events {
		l.bytes += len(e.data)
	}
}

// isWord keeps line ends out of the field of a stream.
func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// end is the last event.
func (l *live) end(runs []store.RunID, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended, l.runs = true, runs
	if err != nil {
		l.err = err.Error()
	}
	data, _ := json.Marshal(map[string]any{"event": "ended", "runs": append([]store.RunID{}, runs...), "error": l.err}) // texts only
	l.add("ended", data)
}

// after are the events behind one, whether they are all, and what is closed when
// there are more.
func (l *live) after(id int64) (events []event, ended bool, more <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from, _ := slices.BinarySearchFunc(l.events, id+1, func(e event, id int64) int { return cmp.Compare(e.id, id) })
	return slices.Clone(l.events[from:]), l.ended, l.changed
}

// lives are those that were started here, the newest last.
type lives struct {
	mu    sync.Mutex // guards what follows
	all   []*live
	ended sync.WaitGroup
	over  bool // the server is closing: nothing begins
}

func (s *lives) find(id string) (*live, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.all {
		if l.id == id {
			return l, nil
		}
	}
	return nil, notFound("no experiment %q was started here", id)
}

// begin adds one, unless another runs.
func (s *lives) begin(l *live) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return trouble(http.StatusServiceUnavailable, "the server is about to end")
	}
	if n := len(s.all); n > 0 {
		if before := s.all[n-1].state(); before.State == "running" {
			return trouble(http.StatusConflict, "the experiment %s is running, and two at once would disturb each other", before.ID)
		}
	}
	s.all = append(s.all, l)
	if len(s.all) > livesMost {
		s.all = s.all[1:]
	}
	s.ended.Add(1)
	return nil
}

// wait ends what can begin, and waits for the rest.
func (s *lives) wait() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.ended.Wait()
}

// experimentText is an experiment file as a request brings it.
type experimentText struct {
	Experiment string `json:"experiment"`
}

// plan drafts an experiment: what it would do, or what is wrong with it.
func (s *Server) plan(w http.ResponseWriter, r *http.Request) error {
	d, _, err := s.draft(r)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, d)
}

func (s *Server) draft(r *http.Request) (Draft, string, error) {
	if s.c.Plan == nil {
		return Draft{}, "", notFound("no experiments are planned here")
	}
	var body experimentText
	if err := readJSON(r, &body); err != nil {
		return Draft{}, "", err
	}
	d, err := s.c.Plan(r.Context(), body.Experiment)
	if d.Mistakes == nil {
		d.Mistakes = []Mistake{}
	}
	return d, body.Experiment, err
}

// start begins an experiment.
func (s *Server) start(w http.ResponseWriter, r *http.Request) error {
	if s.c.Run == nil {
		return trouble(http.StatusForbidden, "experiments are not started from here; prony serve --allow-run allows it")
	}
	d, text, err := s.draft(r)
	if err != nil {
		return err
	}
	if len(d.Mistakes) > 0 {
		p := unfit("the experiment has %d mistakes", len(d.Mistakes))
		p.Mistakes = d.Mistakes
		return p
	}
	ctx, stop := context.WithCancel(s.ctx)
	l := &live{id: strings.ToLower(rand.Text()[:10]), started: s.c.Now(), name: d.Name, stop: stop, changed: make(chan struct{})}
	if err := s.lives.begin(l); err != nil {
		stop()
		return err
	}
	go func() {
		defer s.lives.ended.Done()
		defer stop()
		l.end(s.conduct(ctx, text, l.tell))
	}()
	w.Header().Set("Location", "/api/live/"+l.id)
	return writeJSON(w, http.StatusAccepted, l.state())
}

// conduct runs an experiment; a panic of it is its error, and not the end of the
// server.
func (s *Server) conduct(ctx context.Context, text string, tell func([]byte)) (runs []store.RunID, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("run the experiment: %v", p)
		}
	}()
	return s.c.Run(ctx, text, tell)
}

// end asks an experiment to end; its last event says when it has.
func (s *Server) end(w http.ResponseWriter, r *http.Request) error {
	l, err := s.lives.find(r.PathValue("id"))
	if err != nil {
		return err
	}
	l.stop()
	return writeJSON(w, http.StatusAccepted, l.state())
}

// running are the experiments that were started here, the newest first.
func (s *Server) running(w http.ResponseWriter, _ *http.Request) error {
	s.lives.mu.Lock()
	all := []state{}
	for _, l := range s.lives.all {
		all = append([]state{l.state()}, all...)
	}
	s.lives.mu.Unlock()
	return writeJSON(w, http.StatusOK, map[string]any{"live": all})
}
