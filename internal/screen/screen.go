package screen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"prony/internal/plan"
	"prony/internal/result"
)

// fps bounds the frames a second.
const fps = 4

// How long Close waits for the terminal to take the last output, and then for
// the drawing to give up.
const (
	closeWithin  = time.Second
	giveUpWithin = time.Second
)

// Config says what is shown and where.
type Config struct {
	// In is the keyboard; nil: there is none. Out is the terminal.
	In  io.Reader
	Out io.Writer
	// Plan is the experiment; nil shows a single Load.
	Plan *plan.Experiment
	Load plan.Load
	// Stop asks for a graceful end: q or Ctrl-C, pressed twice. It is called on
	// a goroutine of its own, once for each such pair; nil: those keys do
	// nothing. The screen stays until Close.
	Stop func()
	// NoColour shows no colour, as NO_COLOR in the environment does.
	NoColour bool
	// Env is the environment (TERM, NO_COLOR, LC_ALL, LC_CTYPE, LANG); nil: that
	// of the process.
	Env []string
	// Now is the clock; nil: the system's.
	Now func() time.Time
}

// Screen is a terminal that shows a run. All methods but Close return at once
// and may be called from any goroutine, also after Close.
type Screen struct {
	feed   *feed
	cancel context.CancelFunc
	quit   func()
	once   sync.Once
	done   chan struct{} // closed when the terminal is restored; err is set then
	err    error
}

// Start takes the terminal over. The error is that of the terminal; then it is
// as it was. Whoever else writes to the terminal before Close spoils the
// picture.
func Start(c Config) (*Screen, error) {
	if c.Out == nil {
		return nil, errors.New("start the screen: no terminal to write to")
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Screen{feed: newFeed(), cancel: cancel, done: make(chan struct{})}
	c = c.effective()
	m := newModel(c, s.feed)
	ready := make(chan struct{})
	m.ready = ready
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(c.In), tea.WithOutput(c.Out), tea.WithEnvironment(c.Env),
		tea.WithFPS(fps), tea.WithWindowSize(firstWidth, firstHeight), tea.WithoutSignalHandler())
	s.quit = program.Quit
	go func() {
		defer close(s.done)
		defer cancel()
		_, s.err = program.Run()
	}()
	select {
	case <-ready:
		return s, nil
	case <-s.done:
		if s.err == nil {
			s.err = errors.New("it ended at once")
		}
		return nil, fmt.Errorf("start the screen: %w", s.err)
	}
}

// effective writes out the defaults.
func (c Config) effective() Config {
	if c.Env == nil {
		c.Env = os.Environ()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Trial tells that a trial begins: its number, from 1, of how many.
func (s *Screen) Trial(number, of int, t plan.Trial) { s.feed.begin(number, of, t) }

// Phase tells what is done now.
func (s *Screen) Phase(text string) { s.feed.phase.Store(&text) }

// Progress tells of an interval of the load, and how busy the generator was, as
// a share of the cores it may use; negative: unknown.
func (s *Screen) Progress(p result.Progress, busy float64) { s.feed.progress(p, busy) }

// Observed tells the newest sample of each thing that is watched, the last of
// its series. The slice and what it holds must not be changed afterwards.
func (s *Screen) Observed(live []result.Observed) { s.feed.live.Store(&live) }

// Finding tells of a finding. One of the same rule about the same thing takes
// the place of the earlier.
func (s *Screen) Finding(f result.Finding) { s.feed.finding(f) }

// Finished tells the result of a trial.
func (s *Screen) Finished(t result.Trial) { s.feed.finished(t) }

// Close restores the terminal and waits for that. What was shown leaves no
// trace in it. The error says that the terminal takes no output, which nobody
// can restore, or what ended the screen before. It may be called again.
func (s *Screen) Close() error {
	s.once.Do(func() { go s.quit() }) // ends with the program, at the latest
	if s.over(closeWithin) {
		return s.result()
	}
	s.cancel()
	if s.over(giveUpWithin) {
		return s.result()
	}
	return errors.New("close the screen: the terminal takes no output")
}

func (s *Screen) over(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-s.done:
		return true
	case <-timer.C:
		return false
	}
}

// result is the error of a program that has ended; one that was ended is none.
func (s *Screen) result() error {
	if s.err == nil || errors.Is(s.err, tea.ErrProgramKilled) && errors.Is(s.err, context.Canceled) {
		return nil
	}
	return fmt.Errorf("show the screen: %w", s.err)
}
