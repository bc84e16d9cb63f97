package screen_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/screen"
)

var update = flag.Bool("update", false, "write the golden screens anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

func letter(r rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: r, Text: string(r)} }

var (
	space = tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	tab   = tea.KeyPressMsg{Code: tea.KeyTab}
	down  = tea.KeyPressMsg{Code: tea.KeyDown}
	ctrlC = tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
)

func TestGolden(t *testing.T) {
	ascii := []string{"LANG=C"}
	for _, c := range []struct {
		name string
		w, h int
		env  []string
		keys []tea.KeyPressMsg
	}{
		{"overview", 80, 24, nil, nil},
		{"overview", 120, 40, nil, nil},
		{"overview", 200, 60, nil, nil},
		{"overview", 40, 12, nil, nil},
		{"overview-ascii", 80, 24, ascii, nil},
		{"overview-ascii", 120, 40, ascii, nil},
		{"services", 80, 24, nil, []tea.KeyPressMsg{letter('2')}},
		{"services", 120, 40, nil, []tea.KeyPressMsg{letter('2')}},
		{"services", 200, 60, nil, []tea.KeyPressMsg{letter('2')}},
		{"threads", 80, 24, nil, []tea.KeyPressMsg{letter('3')}},
		{"threads-scrolled", 80, 16, nil, []tea.KeyPressMsg{letter('3'), down, down}},
		{"trials", 80, 24, nil, []tea.KeyPressMsg{letter('4')}},
		{"trials", 120, 40, nil, []tea.KeyPressMsg{letter('4')}},
		{"help", 80, 24, nil, []tea.KeyPressMsg{letter('?')}},
		{"asked", 80, 24, nil, []tea.KeyPressMsg{letter('q')}},
	} {
		name := c.name + "-" + sizeName(c.w, c.h)
		t.Run(name, func(t *testing.T) {
			m, _, _ := shown(c.w, c.h, 20, screen.Config{NoColour: true, Env: c.env, Stop: func() {}})
			m.Press(c.keys...)
			golden(t, name, m.Text())
		})
	}
}

// TestGoldenLoad: a single load, before its first interval, by time and by count.
func TestGoldenLoad(t *testing.T) {
	counted := someLoad()
	counted.Duration, counted.Warmup, counted.Count = 0, 0, 2_000_000
	for _, c := range []struct {
		name    string
		load    plan.Load
		seconds int
	}{
		{"load-waits", someLoad(), 0},
		{"load", someLoad(), 24},
		{"load-counted", counted, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := newTick()
			m, s := screen.NewModel(screen.Config{NoColour: true, Env: []string{unicodeEnv}, Load: c.load, Now: clock.Now})
			m.Resize(80, 24)
			for k := 1; k <= c.seconds; k++ {
				clock.forward(time.Second)
				p := interval(k)
				if c.load.Count > 0 {
					p.Total = 0
				}
				s.Progress(p, -1)
				m.Beat()
			}
			golden(t, c.name, m.Text())
		})
	}
}

// TestFits: nothing wraps or scrolls, whatever the size.
func TestFits(t *testing.T) {
	m, s, _ := shown(80, 24, 20, screen.Config{Stop: func() {}})
	s.Observed(hostile())
	m.Beat()
	keys := []tea.KeyPressMsg{letter('1'), letter('2'), letter('3'), letter('4'), letter('?')}
	for w := 1; w <= 260; w += 13 {
		for _, h := range []int{1, 2, 5, 9, 24, 30, 61} {
			m.Resize(w, h)
			for _, k := range keys {
				m.Press(k)
				lines := strings.Split(m.Text(), "\n")
				if len(lines) != h {
					t.Fatalf("%dx%d, %v: got %d lines", w, h, k, len(lines))
				}
				for i, line := range lines {
					if got := lipgloss.Width(line); got > w {
						t.Fatalf("%dx%d, %v: line %d has %d columns: %q", w, h, k, i, got, line)
					}
				}
			}
			m.Press(letter('x')) // leaves the help
		}
	}
}

// TestResize: the picture depends on the size it has now and on nothing before.
func TestResize(t *testing.T) {
	m, _, _ := shown(80, 24, 20, screen.Config{})
	want := m.Text()
	m.Resize(200, 60)
	if m.Text() == want {
		t.Error("got the same picture at another size")
	}
	m.Resize(13, 4)
	_ = m.Text()
	m.Resize(80, 24)
	if got := m.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestNumbersStay: from second to second only digits change their columns.
func TestNumbersStay(t *testing.T) {
	m, s, clock := shown(120, 40, 20, screen.Config{NoColour: true})
	head := regexp.MustCompile(`rate|p50 |p99 |max |in flight|open |errors |failed|lag p99|received|generator`)
	places := func() string {
		lines := strings.Split(m.Text(), "\n")
		return fmt.Sprint(head.FindAllStringIndex(lines[5], -1), head.FindAllStringIndex(lines[6], -1))
	}
	want := places()
	for k := 21; k <= 30; k++ {
		p := interval(k)
		p.Interval.Completed, p.Failed, p.Open = int64(1)<<(5*(k-20)), int64(1)<<(4*(k-20)), 1<<(k-20)
		clock.forward(time.Second)
		s.Progress(p, 0.09*float64(k-20))
		m.Beat()
		if got := places(); got != want {
			t.Errorf("second %d: got columns %s, want %s", k, got, want)
		}
	}
}

var sequence = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// TestColours: no other sequences than colours, and of those the sixteen that each
// terminal has; none at all when nobody wants them.
func TestColours(t *testing.T) {
	for _, c := range []struct {
		name   string
		config screen.Config
		want   bool
	}{
		{"colours", screen.Config{}, true},
		{"asked for none", screen.Config{NoColour: true}, false},
		{"NO_COLOR", screen.Config{Env: []string{unicodeEnv, "NO_COLOR=yes"}}, false},
		{"NO_COLOR empty", screen.Config{Env: []string{unicodeEnv, "NO_COLOR="}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _, _ := shown(120, 40, 20, c.config)
			text := m.Text()
			found := sequence.FindAllStringSubmatch(text, -1)
			if got := len(found) > 0; got != c.want {
				t.Errorf("got colours %v, want %v", got, c.want)
			}
			for _, f := range found {
				if !regexp.MustCompile(`^(0?|([12]|3[0-7]|9[0-7])(;([12]|3[0-7]|9[0-7]))*)$`).MatchString(f[1]) {
					t.Errorf("got the sequence %q, which is none of sixteen colours", f[0])
				}
			}
			harmless(t, text)
		})
	}
}

// harmless fails on everything that acts on a terminal but colours.
func harmless(t *testing.T, text string) {
	t.Helper()
	for _, r := range sequence.ReplaceAllString(text, "") {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			t.Fatalf("got the control character %U in %q", r, text)
		}
	}
}

// TestWideNames: letters that take two columns leave the columns in their places.
func TestWideNames(t *testing.T) {
	m, s, _ := shown(120, 40, 20, screen.Config{NoColour: true})
	live := samples()
	for i, name := range []string{"服务-网关", "приложение", strings.Repeat("長い名前", 20), "🚀🚀", "plain", "e\u0301e\u0301e\u0301"} {
		o := live[4]
		o.Service, o.Name, o.Instance = name, name, i
		live = append(live, o)
	}
	s.Observed(live)
	m.Beat()
	m.Press(letter('2'))
	found := 0
	for line := range strings.SplitSeq(m.Text(), "\n") {
		before, _, ok := strings.Cut(line, "1.93/2")
		if !ok {
			continue
		}
		found++
		if got := lipgloss.Width(before); got != 48 {
			t.Errorf("got the number in column %d, want 48: %q", got, line)
		}
	}
	if found != 7 {
		t.Errorf("got %d services, want 7 in\n%s", found, m.Text())
	}
}

const attack = "\x1b]0;owned\x07\x1b[2J\x1b[31m\u009b1A\u202egnp.exe\u200b\r\nrm\x00\x7f\xff\xfe"

// hostile is what is watched with names that would act on the terminal.
func hostile() []result.Observed {
	live := samples()
	for i := range live {
		live[i].Name, live[i].Service = attack+live[i].Name+strings.Repeat("長い名前", 300), attack+strings.Repeat("x", 1<<16)
		live[i].Facts = map[string]string{"collector": attack, "cpu_quota_cores": "NaN", "memory_limit_bytes": attack}
		if i%2 == 0 {
			live[i].Host = attack
		}
		for name := range live[i].Series {
			live[i].Series[name] = result.Values{[]float64{1e300, -1, 0}[i%3]}
		}
	}
	return live
}

// TestHostile: names and messages show up, and do nothing.
func TestHostile(t *testing.T) {
	e := experiment()
	e.Name, e.Question = attack, attack+strings.Repeat("why ", 10_000)
	for i := range e.Trials {
		e.Trials[i].Variant = attack
	}
	m, s := screen.NewModel(screen.Config{Plan: e, Env: []string{unicodeEnv}, Load: plan.Load{Name: attack, Requests: []plan.Request{{URL: attack}}}})
	m.Resize(120, 40)
	s.Trial(1, -5, e.Trials[0])
	s.Phase(attack)
	s.Observed(hostile())
	s.Progress(result.Progress{Elapsed: -1 << 62, Total: 1, Interval: result.Interval{LengthUS: -1, Completed: -5}}, 1e300)
	s.Progress(result.Progress{Elapsed: 1 << 62, Total: 1 << 62, Interval: result.Interval{LengthUS: 1e-9, Completed: 1 << 62, InFlight: -1 << 63}}, -1)
	s.Finding(result.Finding{Rule: attack, Where: attack, Message: attack + strings.Repeat("a\x1bb ", 1<<16), Severity: "\x1b[H"})
	s.Finished(result.Trial{Number: -1, Block: -7, Variant: attack, Error: attack})
	bad := result.Trial{Variant: attack}
	bad.Load.Failures, bad.Load.Rate = map[string]int64{attack: 3}, -1e300
	bad.Bottleneck = &result.Bottleneck{Message: attack}
	s.Finished(bad)
	m.Beat()
	for _, k := range "1234" {
		m.Press(letter(k))
		text := m.Text()
		harmless(t, text)
		if !strings.Contains(text, "?]0;owned?") {
			t.Errorf("view %c: got no trace of the name in\n%s", k, text)
		}
	}
}
