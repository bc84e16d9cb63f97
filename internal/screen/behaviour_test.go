package screen_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/screen"
)

func contains(t *testing.T, m *screen.Model, want string) {
	t.Helper()
	if text := m.Text(); !strings.Contains(text, want) {
		t.Errorf("got no %q in\n%s", want, text)
	}
}

func lacks(t *testing.T, m *screen.Model, unwanted string) {
	t.Helper()
	if text := m.Text(); strings.Contains(text, unwanted) {
		t.Errorf("got %q in\n%s", unwanted, text)
	}
}

// TestPause: the picture holds while the run goes on, and then shows what came.
func TestPause(t *testing.T) {
	m, s, clock := shown(80, 24, 10, screen.Config{NoColour: true})
	m.Press(space)
	contains(t, m, "paused, the run goes on")
	held := m.Text()
	for k := 11; k <= 20; k++ {
		clock.forward(time.Second)
		s.Progress(interval(k), 0.5)
		m.Beat()
	}
	s.Finding(result.Finding{Rule: "x", Severity: result.InvalidLevel, Message: "while paused"})
	s.Phase("another phase")
	m.Beat()
	if got := m.Text(); got != held {
		t.Errorf("got\n%s\nwant\n%s", got, held)
	}
	m.Press(space)
	for _, want := range []string{"running", "while paused", "another phase", "50.0%"} {
		contains(t, m, want)
	}
}

func TestViews(t *testing.T) {
	m, _, _ := shown(80, 24, 10, screen.Config{NoColour: true})
	for _, c := range []struct {
		name string
		key  tea.KeyPressMsg
		want string
	}{
		{"next", tab, "[2 services]"},
		{"next again", tab, "[3 threads]"},
		{"last", tab, "[4 trials]"},
		{"around", tab, "[1 overview]"},
		{"back", tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}, "[4 trials]"},
		{"by digit", letter('2'), "[2 services]"},
		{"no such view", letter('5'), "[2 services]"},
		{"zero", letter('0'), "[2 services]"},
		{"help", letter('?'), "KEYS"},
		{"any key leaves it", letter('3'), "[2 services]"},
	} {
		m.Press(c.key)
		if text := m.Text(); !strings.Contains(text, c.want) {
			t.Errorf("%s: got no %q in\n%s", c.name, c.want, text)
		}
	}
	lacks(t, m, "KEYS")
}

// TestScroll: to the end and not beyond, and each view keeps its place.
func TestScroll(t *testing.T) {
	m, _, _ := shown(80, 16, 10, screen.Config{NoColour: true})
	m.Press(letter('3'))
	contains(t, m, "rows 1 to 9 of 14")
	for range 100 {
		m.Press(down)
		_ = m.Text()
	}
	contains(t, m, "rows 6 to 14 of 14")
	m.Press(tea.KeyPressMsg{Code: tea.KeyUp})
	contains(t, m, "rows 5 to 13 of 14")
	m.Press(letter('1'), letter('3'))
	contains(t, m, "rows 5 to 13 of 14")
	m.Press(tea.KeyPressMsg{Code: tea.KeyPgUp})
	contains(t, m, "rows 1 to 9 of 14")
	m.Press(tea.KeyPressMsg{Code: tea.KeyPgDown}, tea.KeyPressMsg{Code: tea.KeyHome})
	contains(t, m, "rows 1 to 9 of 14")
}

// TestStop: it takes two presses, of q or Ctrl-C, within some seconds.
func TestStop(t *testing.T) {
	for _, c := range []struct {
		name  string
		press func(m *screen.Model, clock *tick)
		want  int
	}{
		{"once", func(m *screen.Model, _ *tick) { m.Press(letter('q')) }, 0},
		{"twice", func(m *screen.Model, _ *tick) { m.Press(letter('q'), letter('q')) }, 1},
		{"ctrl-c twice", func(m *screen.Model, _ *tick) { m.Press(ctrlC, ctrlC) }, 1},
		{"one of each", func(m *screen.Model, _ *tick) { m.Press(letter('q'), ctrlC) }, 1},
		{"out of the help", func(m *screen.Model, _ *tick) { m.Press(letter('?'), ctrlC, ctrlC) }, 1},
		{"no", func(m *screen.Model, _ *tick) { m.Press(letter('q'), letter('x'), letter('q')) }, 0},
		{"insisted", func(m *screen.Model, _ *tick) { m.Press(ctrlC, ctrlC, ctrlC, ctrlC) }, 2},
		{"too late", func(m *screen.Model, clock *tick) {
			m.Press(letter('q'))
			clock.forward(6 * time.Second)
			m.Beat()
			m.Press(letter('q'))
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := 0
			m, _, clock := shown(80, 24, 5, screen.Config{NoColour: true, Stop: func() { got++ }})
			c.press(m, clock)
			if got != c.want {
				t.Errorf("got %d stops, want %d", got, c.want)
			}
			if c.want > 0 {
				contains(t, m, "stopping")
			}
		})
	}
}

func TestStopByNobody(t *testing.T) {
	m, _, _ := shown(80, 24, 5, screen.Config{NoColour: true})
	want := m.Text()
	m.Press(ctrlC, ctrlC)
	if got := m.Text(); got != want {
		t.Errorf("got\n%s\nwant it unmoved", got)
	}
}

// TestTimeLeft: by the plan, and then by how the plan fared.
func TestTimeLeft(t *testing.T) {
	clock := newTick()
	e := experiment() // six trials of 31.5 s and five rests of 2 s: 3 min 19 s
	m, s := screen.NewModel(screen.Config{Plan: e, NoColour: true, Env: []string{unicodeEnv}, Now: clock.Now})
	m.Resize(80, 24)
	contains(t, m, "    -  ran   00:00  ")
	begin := func(n int) {
		s.Trial(n, 6, e.Trials[n-1])
		m.Beat()
	}
	begin(1)
	contains(t, m, "  0%  ran   00:00     left about 03:19")
	clock.forward(10 * time.Second)
	m.Beat()
	contains(t, m, "left about 03:09")
	clock.forward(57 * time.Second) // twice of what was planned, in all
	m.Beat()
	contains(t, m, "left about 02:45") // what is behind this trial, at the least
	begin(2)
	contains(t, m, " 17%  ran   01:07     left about 05:31")
	e.Repeat.Detect = 0.05
	m.Resize(80, 24)
	contains(t, m, "left 05:31 at most")
	begin(6)
	clock.forward(time.Hour)
	m.Beat()
	contains(t, m, " 99%  ran 1:01:07   left 00:00 at most")
}

// TestResumed: a campaign that goes on counts what was done before as done.
func TestResumed(t *testing.T) {
	clock := newTick()
	e := experiment()
	m, s := screen.NewModel(screen.Config{Plan: e, NoColour: true, Env: []string{unicodeEnv}, Now: clock.Now})
	m.Resize(80, 24)
	s.Trial(4, 6, e.Trials[3])
	m.Beat()
	contains(t, m, " 51%  ran   00:00     left about 01:38")
}

// TestWarmUpByItself: a warm-up until the load is steady is a load of its own,
// and stands before the measured one.
func TestWarmUpByItself(t *testing.T) {
	clock := newTick()
	e := experiment()
	e.Trials[0].Plan.Warmup = &plan.Warmup{Least: 5 * time.Second, Most: time.Minute}
	m, s := screen.NewModel(screen.Config{Plan: e, NoColour: true, Env: []string{unicodeEnv}, Now: clock.Now})
	m.Resize(120, 40)
	s.Trial(1, 6, e.Trials[0])
	for k := 1; k <= 10; k++ {
		p := interval(k)
		p.Interval.Warmup, p.Total = false, time.Minute
		s.Progress(p, 0)
	}
	m.Beat()
	contains(t, m, "warm-up")
	lacks(t, m, "measuring")
	for k := 1; k <= 4; k++ {
		p := interval(k)
		p.Interval.Warmup, p.Total = k <= 2, 20*time.Second
		s.Progress(p, 0)
	}
	m.Beat()
	contains(t, m, "measuring")
	contains(t, m, "╌╌warm-up╌╌")
	contains(t, m, "── 00:30") // 10 s and 20 s on one axis
	if got := m.Points(); got != 14 {
		t.Errorf("got %d intervals, want 14", got)
	}
}

// TestTrialsApart: what comes late from a trial that is over belongs to no other.
func TestTrialsApart(t *testing.T) {
	m, s, _ := shown(80, 24, 10, screen.Config{NoColour: true})
	e := experiment()
	s.Progress(interval(11), 0)
	s.Trial(4, 6, e.Trials[3])
	s.Progress(interval(1), 0)
	m.Beat()
	if got := m.Points(); got != 1 {
		t.Errorf("got %d intervals, want the one of this trial", got)
	}
	contains(t, m, "trial 4/6  block 2  keepalive=on")
}

// TestDrain: answers behind the window are no rate.
func TestDrain(t *testing.T) {
	m, s, _ := shown(80, 24, 10, screen.Config{NoColour: true})
	p := interval(11)
	p.Interval.Drain = true
	s.Progress(p, 0)
	m.Beat()
	contains(t, m, "draining")
	if got := m.Points(); got != 10 {
		t.Errorf("got %d intervals, want 10", got)
	}
}

// TestFindings: the gravest first, then the newest; one for a rule and a place.
func TestFindings(t *testing.T) {
	m, s := screen.NewModel(screen.Config{NoColour: true, Env: []string{unicodeEnv}})
	m.Resize(120, 40)
	for _, f := range []result.Finding{
		{Rule: "a", Severity: result.Note, Message: "first note"},
		{Rule: "b", Severity: result.InvalidLevel, Message: "worst"},
		{Rule: "c", Severity: result.Note, Message: "second note"},
		{Rule: "b", Severity: result.InvalidLevel, Message: "worst, again"},
		{Rule: "b", Where: "db", Severity: result.SuspectLevel, Message: "elsewhere"},
	} {
		s.Finding(f)
	}
	m.Beat()
	_, text, _ := strings.Cut(m.Text(), "FINDINGS")
	last := 0
	for _, want := range []string{"✗ worst, again\n", "! db: elsewhere\n", "· second note\n", "· first note\n"} {
		at := strings.Index(text, want)
		if at < last {
			t.Errorf("got %q at %d, want it behind %d in\n%s", want, at, last, text)
		}
		last = at
	}
	contains(t, m, "4 findings")
}

// TestBounds: a run of any length keeps bounded memory.
func TestBounds(t *testing.T) {
	m, s := screen.NewModel(screen.Config{NoColour: true, Env: []string{unicodeEnv}})
	m.Resize(200, 60)
	p := interval(7)
	for k := 1; k <= 2*screen.PointsMost; k++ {
		p.Elapsed, p.Total = time.Duration(k)*time.Second, 0
		s.Progress(p, 0)
		if k%100 == 0 {
			m.Beat()
		}
		s.Finding(result.Finding{Rule: string(rune(k)), Severity: result.Note, Message: "m"})
	}
	m.Beat()
	if got := m.Points(); got > screen.PointsMost || got < screen.PointsMost/2 {
		t.Errorf("got %d intervals, want at most %d", got, screen.PointsMost)
	}
	contains(t, m, "50 findings")
	if got := lipgloss.Height(m.Text()); got != 60 {
		t.Errorf("got %d lines, want 60", got)
	}
}

// FuzzModel: no numbers, sizes and keys in any order end the screen.
func FuzzModel(f *testing.F) {
	f.Add(int64(1e9), int64(30e9), 1e6, int64(5000), 0.5, uint16(80), uint16(24), "2?q4 ")
	f.Add(int64(-1), int64(0), -1e300, int64(-1), 1e300, uint16(1), uint16(1), "kj\x00\xff")
	f.Fuzz(func(t *testing.T, elapsed, total int64, length float64, count int64, busy float64, w, h uint16, keys string) {
		m, s := screen.NewModel(screen.Config{Env: []string{unicodeEnv}, Plan: experiment(), Stop: func() {}})
		m.Resize(int(w%300), int(h%100))
		p := interval(3)
		s.Trial(int(count), int(total), experiment().Trials[0])
		for _, by := range []int64{1, 2, -3, 7} {
			p.Elapsed, p.Total, p.Completed, p.Interval.LengthUS = time.Duration(elapsed*by), time.Duration(total), count, length
			p.Interval.Completed, p.Interval.InFlight = count*by, count
			s.Progress(p, busy)
			m.Beat()
			for _, k := range keys[:min(len(keys), 20)] {
				m.Press(letter(k))
				if got, want := lipgloss.Height(m.Text()), max(int(h%100), 1); got != want {
					t.Errorf("got %d lines, want %d", got, want)
				}
			}
		}
	})
}
