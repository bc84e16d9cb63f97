package screen_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/screen"
)

// stuck is a terminal that takes nothing until it is released.
type stuck struct {
	once    sync.Once
	entered chan struct{}
	release chan struct{}
}

func newStuck() *stuck { return &stuck{entered: make(chan struct{}), release: make(chan struct{})} }

func (s *stuck) Write(b []byte) (int, error) {
	s.once.Do(func() { close(s.entered) })
	<-s.release
	return len(b), nil
}

// within fails if a channel stays open; the bound is for what would hang for ever.
func within(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("%s: still waiting after a minute", what)
	}
}

// everything is called n times, in turns.
func everything(s *screen.Screen, n int) {
	p, trial := interval(7), experiment().Trials[0]
	live, finding, done := samples(), result.Finding{Rule: "a", Message: "b"}, finished(1, "a", 5, result.Valid)
	done.Load.Latency.Response = result.Histogram{} // its percentiles would be all of the time
	for i := range n {
		switch i % 7 {
		case 0:
			s.Trial(i, n, trial)
		case 1:
			s.Phase("load")
		case 2:
			s.Observed(live)
		case 3:
			s.Finding(finding)
		case 4:
			s.Finished(done)
		default:
			s.Progress(p, 0.5)
		}
	}
}

// TestTerminalHangs: a million calls go through while the terminal takes nothing;
// Close says so, and works when the terminal does.
func TestTerminalHangs(t *testing.T) {
	out := newStuck()
	s, err := screen.Start(screen.Config{Out: out, Plan: experiment(), Env: []string{unicodeEnv, "TERM=xterm-256color"}})
	if err != nil {
		t.Fatal(err)
	}
	within(t, "the terminal is written to", out.entered)
	done := make(chan struct{})
	go func() {
		defer close(done)
		everything(s, 1_000_000)
	}()
	within(t, "a million calls", done)
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "takes no output") {
		t.Errorf("got error %v, want that the terminal takes no output", err)
	}
	close(out.release)
	if err := s.Close(); err != nil {
		t.Errorf("got error %v, want none when the terminal works again", err)
	}
	everything(s, 100)
}

// heard is a terminal that keeps what it was sent.
type heard struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// TestCloseRestores: the alternate screen is left, whatever many at once say and
// close.
func TestCloseRestores(t *testing.T) {
	var out heard
	s, err := screen.Start(screen.Config{Out: &out, Load: someLoad(), Env: []string{unicodeEnv, "TERM=xterm-256color"}})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { everything(s, 5000) })
	}
	wg.Wait()
	for range 3 {
		wg.Go(func() {
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	wg.Wait()
	text := out.String()
	on, off := strings.LastIndex(text, "\x1b[?1049h"), strings.LastIndex(text, "\x1b[?1049l")
	if on < 0 || off < on {
		t.Errorf("got the alternate screen on at %d, off at %d in %q", on, off, text)
	}
}

// broken is a terminal that is gone.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestTerminalGone(t *testing.T) {
	s, err := screen.Start(screen.Config{Out: broken{}, Load: someLoad()})
	if err != nil {
		t.Fatal(err)
	}
	everything(s, 100)
	if err := s.Close(); err != nil {
		t.Errorf("got error %v; nothing can be restored on a terminal that is gone", err)
	}
}

func TestNoTerminal(t *testing.T) {
	if _, err := screen.Start(screen.Config{}); err == nil || !strings.HasPrefix(err.Error(), "start the screen: ") {
		t.Errorf("got error %v, want that there is no terminal", err)
	}
}

// TestKeyboard: keys come from the input; one that ends is no key.
func TestKeyboard(t *testing.T) {
	stopped := make(chan struct{})
	var out heard
	s, err := screen.Start(screen.Config{In: strings.NewReader("2q?q\x03"), Out: &out, Plan: &plan.Experiment{}, Env: []string{unicodeEnv},
		Stop: func() { close(stopped) }})
	if err != nil {
		t.Fatal(err)
	}
	within(t, "q and Ctrl-C stop", stopped)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestPush: the newest stay, and others who push at the same time keep nobody.
func TestPush(t *testing.T) {
	queue := make(chan int, 3)
	for i := range 10 {
		screen.Push(queue, i)
	}
	for _, want := range []int{7, 8, 9} {
		if got := <-queue; got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 10_000 {
				screen.Push(queue, i)
			}
		})
	}
	wg.Wait()
	if got := len(queue); got == 0 || got > 3 {
		t.Errorf("got %d values in a queue of 3", got)
	}
}
