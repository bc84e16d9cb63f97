package screen_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"

	"prony/internal/result"
	"prony/internal/screen"
)

// program asks the test binary to be the small program that shows a screen; its
// value is how long a second takes.
const program = "PRONY_SCREEN_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(program) != "" {
		if err := show(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// show is that program: an experiment, until it is told to stop; then a report.
func show() error {
	pace, err := time.ParseDuration(os.Getenv(program))
	if err != nil {
		return err
	}
	stop := make(chan struct{}, 8)
	e := experiment()
	s, err := screen.Start(screen.Config{In: os.Stdin, Out: os.Stdout, Plan: e, Stop: func() { stop <- struct{}{} }})
	if err != nil {
		return err
	}
	tellUntil(s, e, 10, func() {})
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for n := 11; ; n++ {
		select {
		case <-ticker.C:
			if n <= 30 {
				s.Progress(interval(n), 0.3+float64(n)/100)
			}
			s.Observed(evil())
		case <-stop:
			s.Phase("stops, as it was asked to")
			s.Finding(result.Finding{Rule: "stopped", Severity: result.Note, Message: "the load was interrupted"})
			err := s.Close()
			return errors.Join(err, told(os.Stdout))
		}
	}
}

// told is the report of the program.
func told(w io.Writer) error {
	_, err := io.WriteString(w, "the report stands here\n")
	return err
}

// evil is what is watched, with a service whose name would act on the terminal.
func evil() []result.Observed {
	live := samples()
	live[4].Service = "服务" + attack
	return live
}

// terminal is one in tmux, with a server of its own.
type terminal struct {
	t            *testing.T
	tmux, socket string
}

// openTerminal runs the program in a terminal that stays open; without tmux the
// test is skipped, and fails with PRONY_E2E=require.
func openTerminal(t *testing.T, w, h int, env string) terminal {
	t.Helper()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		if os.Getenv("PRONY_E2E") == "require" {
			t.Fatalf("PRONY_E2E=require: %v; apt-get install tmux", err)
		}
		t.Skipf("%v; apt-get install tmux", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := terminal{t, tmux, filepath.Join(t.TempDir(), "s")}
	line := fmt.Sprintf("stty -a >%[1]s.before; %[2]s %[3]s=100ms %[4]s; echo status $?; stty -a >%[1]s.after; echo end; read wait", c.socket, env, program, self)
	command := exec.Command(tmux, "-u", "-S", c.socket, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h), "echo first line; "+line)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	t.Cleanup(func() { c.do("kill-server") })
	return c
}

func (c terminal) do(args ...string) string {
	c.t.Helper()
	out, err := exec.Command(c.tmux, append([]string{"-u", "-S", c.socket}, args...)...).Output()
	if err != nil {
		c.t.Errorf("tmux %v: %v", args, err)
	}
	return string(out)
}

func (c terminal) text() string { return c.do("capture-pane", "-p") }

// shows waits until the terminal has all of these.
func (c terminal) shows(want ...string) string {
	c.t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for end := time.After(time.Minute); ; {
		text, missing := c.text(), ""
		for _, w := range want {
			if !strings.Contains(text, w) {
				missing = w
			}
		}
		if missing == "" {
			return text
		}
		select {
		case <-ticker.C:
		case <-end:
			c.t.Fatalf("got no %q within a minute in\n%s", missing, text)
		}
	}
}

// TestTerminal is a real run: keys, another size, and a terminal that is as it was.
func TestTerminal(t *testing.T) {
	c := openTerminal(t, 80, 24, "TERM=screen-256color LANG=C.UTF-8 NO_COLOR=")
	c.shows("prony  keep-alive", "trial 3/6", "LOAD", "服务", "running", "└╌╌╌╌┴──")
	if !strings.Contains(c.do("capture-pane", "-p", "-e"), "\x1b[3") {
		t.Error("got no colours in a terminal that has them")
	}
	for _, step := range []struct{ key, want string }{
		{"2", "JVM"}, {"Tab", "C2 CompilerThre*"}, {"4", "suspect"}, {"?", "held back"}, {"x", "[4 trials]"},
		{"Space", "paused, the run goes on"}, {"Space", "running"}, {"1", "[1 overview]"}, {"q", "q again: yes"}, {"n", "? help"},
	} {
		c.do("send-keys", step.key)
		c.shows(step.want)
	}
	c.do("resize-window", "-x", "200", "-y", "60")
	wide := c.shows("THREADS", "C2 CompilerThre*", "MAX FAILED VERDICT")
	if got := strings.Count(wide, "\n"); got != 60 {
		t.Errorf("got %d lines, want 60", got)
	}
	if title := c.do("display-message", "-p", "#{pane_title}"); strings.Contains(title, "owned") {
		t.Errorf("got the title %q from the name of a service", title)
	}
	cores := func(name, number string) int {
		for line := range strings.SplitSeq(wide, "\n") {
			if before, _, ok := strings.Cut(line, number); ok && strings.Contains(line, name) {
				return lipgloss.Width(before) + lipgloss.Width(number)
			}
		}
		t.Errorf("got no %q with %q in\n%s", name, number, wide)
		return 0
	}
	if got, want := cores("服务?]0;owned?", "1.93/2"), cores("api[0]", "3.10"); got != want {
		t.Errorf("got the end of a number in column %d, want %d as in the other rows:\n%s", got, want, wide)
	}
	c.do("resize-window", "-x", "80", "-y", "24")
	c.shows("█us ▓sy ▒ir ░st")
	c.do("send-keys", "C-c")
	c.shows("q again: yes")
	c.do("send-keys", "C-c")
	c.restored()
}

// restored waits for the end of the program, and demands the terminal back as it
// was.
func (c terminal) restored() {
	c.t.Helper()
	text := c.shows("first line\nthe report stands here\nstatus 0\nend\n")
	if strings.Contains(text+c.do("capture-pane", "-p", "-S", "-"), "LOAD") {
		c.t.Errorf("got a trace of the screen in\n%s", text)
	}
	for _, format := range []string{"#{alternate_on}", "#{cursor_flag}"} {
		want := map[string]string{"#{alternate_on}": "0\n", "#{cursor_flag}": "1\n"}[format]
		if got := c.do("display-message", "-p", format); got != want {
			c.t.Errorf("%s: got %q, want %q", format, got, want)
		}
	}
	before, err := os.ReadFile(c.socket + ".before")
	if err != nil {
		c.t.Fatal(err)
	}
	after, err := os.ReadFile(c.socket + ".after")
	if err != nil {
		c.t.Fatal(err)
	}
	if string(before) != string(after) {
		c.t.Errorf("the terminal's settings: got\n%s\nwant\n%s", after, before)
	}
}

// TestTerminalPlain: neither colours nor letters beyond ASCII where they are not
// wanted.
func TestTerminalPlain(t *testing.T) {
	c := openTerminal(t, 80, 24, "TERM=screen LC_ALL= LC_CTYPE= LANG=C NO_COLOR=1")
	text := c.shows("prony  keep-alive", "LOAD", "??", "+~~~~+--")
	for _, r := range text {
		if r > '~' {
			t.Errorf("got the letter %q in\n%s", r, text)
			break
		}
	}
	if coloured := c.do("capture-pane", "-p", "-e"); strings.Contains(coloured, "\x1b[3") || strings.Contains(coloured, "\x1b[9") {
		t.Errorf("got colours in %q", coloured)
	}
	c.do("send-keys", "q", "q")
	c.restored()
}
