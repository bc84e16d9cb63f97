package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"prony/internal/lab"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/screen"
)

// stage is where a run is shown while it lasts: a screen on a terminal, lines
// elsewhere, nothing when quiet.
type stage struct {
	events lab.Events
	std    streams // for whoever has something to say meanwhile
	screen *screen.Screen
	said   *later
}

// later keeps what was written until a screen is closed.
type later struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (l *later) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// looks say how a run is to be shown.
type looks struct{ quiet, plain bool }

func (l *looks) register(s *pflag.FlagSet) {
	s.BoolVar(&l.plain, "plain", false, "progress as lines, also on a terminal")
	s.BoolVarP(&l.quiet, "quiet", "q", false, "no progress")
}

// open opens the stage for an experiment, or for one load. stop asks for a
// graceful end; live are the newest samples of what is watched.
func (l looks) open(std streams, p *plan.Experiment, load plan.Load, stop context.CancelFunc, live func() []result.Observed) *stage {
	s := &stage{std: std}
	if l.quiet {
		return s
	}
	if !l.plain && s.onScreen(p, load, stop, live) {
		return s
	}
	s.events = lines(p, std)
	return s
}

// onScreen shows the run on a screen if there is a terminal for it.
func (s *stage) onScreen(p *plan.Experiment, load plan.Load, stop context.CancelFunc, live func() []result.Observed) bool {
	out, ok := s.std.err.(*os.File)
	if !ok || !term.IsTerminal(int(out.Fd())) || os.Getenv("TERM") == "dumb" {
		return false
	}
	c := screen.Config{Out: out, Plan: p, Load: load, Stop: stop}
	if in, ok := s.std.in.(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		c.In = in
	}
	shown, err := screen.Start(c)
	if err != nil {
		return false
	}
	s.screen, s.said = shown, &later{}
	s.std.err = s.said
	s.events = lab.Events{Trial: shown.Trial, Phase: shown.Phase,
		Progress: func(pr result.Progress, busy float64) {
			shown.Progress(pr, busy)
			if live != nil {
				shown.Observed(live())
			}
		},
		Finished: func(t result.Trial) {
			shown.Finished(t)
			for _, f := range t.Validity.Findings {
				if f.Severity == result.SuspectLevel || f.Severity == result.InvalidLevel {
					shown.Finding(f)
				}
			}
		}}
	return true
}

// close ends the showing, and says what was said meanwhile. It may be called
// again.
func (s *stage) close(to io.Writer) {
	if s.screen == nil {
		return
	}
	_ = s.screen.Close() // a terminal that is gone cannot be told
	s.screen = nil
	s.said.mu.Lock()
	defer s.said.mu.Unlock()
	_, _ = io.Copy(to, &s.said.b)
}

// lines tell how an experiment goes, a line for each thing.
func lines(p *plan.Experiment, std streams) lab.Events {
	e := lab.Events{Progress: newProgress(std.err)}
	if p == nil {
		return e
	}
	left := &remaining{plan: p, now: time.Now}
	e.Trial = func(n, of int, t plan.Trial) {
		fmt.Fprintf(std.err, "trial %d of %d, block %d: %s (%s left)\n", n, of, t.Block+1, t.Variant, left.from(n-1))
	}
	e.Phase = func(text string) { fmt.Fprintf(std.err, "  %s\n", text) }
	return e
}
