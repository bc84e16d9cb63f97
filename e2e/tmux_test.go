package e2e_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// screen is a terminal in tmux, with a server of its own.
type screen struct{ tmux, socket string }

// openScreen runs a command line in a terminal of 140 columns that stays open.
func openScreen(t *testing.T, line string) screen {
	t.Helper()
	s := screen{tmux: need(t, "tmux", "apt-get install tmux"), socket: filepath.Join(t.TempDir(), "s")}
	command := exec.Command(s.tmux, "-u", "-S", s.socket, "-f", "/dev/null", "new-session", "-d", "-x", "140", "-y", "60",
		fmt.Sprintf("TERM=screen-256color PRONY_HOME=%s %s; echo status $?; read wait", t.TempDir(), line))
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if err := exec.Command(s.tmux, "-S", s.socket, "kill-server").Run(); err != nil {
			t.Errorf("end tmux: %v", err)
		}
	})
	return s
}

// text is what the terminal shows; with colours it has the sequences for them.
func (s screen) text(t *testing.T, colours bool) string {
	t.Helper()
	args := []string{"-u", "-S", s.socket, "capture-pane", "-p"}
	if colours {
		args = append(args, "-e")
	}
	out, err := exec.Command(s.tmux, args...).Output()
	if err != nil {
		t.Fatalf("tmux: %v", err)
	}
	return string(out)
}

var progressLine = regexp.MustCompile(`(?m)^ *\d+% +\d+s .*p50 .*p99 .*errors `)

// TestProgressInTerminal: one line that is redrawn, gone in the end, and then
// the report, in colours.
func TestProgressInTerminal(t *testing.T) {
	t.Parallel()
	n := startNginx(t)
	s := openScreen(t, binary+" load "+n.url("/")+" -c 4 -d 3500ms --plain")
	seen := map[string]bool{}
	eventually(t, "the report is there", func() bool {
		text := s.text(t, false)
		lines := progressLine.FindAllString(text, -1)
		if len(lines) > 1 {
			t.Fatalf("got %d lines of progress at once:\n%s", len(lines), text)
		}
		for _, line := range lines {
			seen[line] = true
		}
		return strings.Contains(text, "\nstatus ")
	})
	if len(seen) < 2 {
		t.Errorf("got the lines of progress %v, want it redrawn", seen)
	}
	text := s.text(t, false)
	if progressLine.MatchString(text) {
		t.Errorf("the progress is still there:\n%s", text)
	}
	for _, want := range []string{"requests/s over 3.5s", "limited by", "  response ", "  requests ", "  connections 4 asked, 4 opened"} {
		if !strings.Contains(text, want) {
			t.Errorf("got no %q in\n%s", want, text)
		}
	}
	if !strings.Contains(s.text(t, true), "\x1b[1m") {
		t.Error("got no colours in a terminal")
	}
}

// TestScreenInTerminal: without --plain there is a screen while the load runs,
// and it is gone when the report is printed.
func TestScreenInTerminal(t *testing.T) {
	t.Parallel()
	n := startNginx(t)
	s := openScreen(t, binary+" load "+n.url("/")+" -c 4 -d 3500ms")
	shown := false
	eventually(t, "the report is there", func() bool {
		text := s.text(t, false)
		shown = shown || strings.Contains(text, "LOAD") && strings.Contains(text, "HOSTS")
		return strings.Contains(text, "\nstatus ")
	})
	if !shown {
		t.Error("there was no screen")
	}
	if text := s.text(t, false); strings.Contains(text, "HOSTS") || !strings.Contains(text, "requests/s over 3.5s") {
		t.Errorf("got\n%s\nwant the report and nothing of the screen", text)
	}
}

// TestNoColour: NO_COLOR is respected (no-color.org).
func TestNoColour(t *testing.T) {
	t.Parallel()
	n := startNginx(t)
	s := openScreen(t, "NO_COLOR=1 "+binary+" load "+n.url("/")+" -c 4 -n 1000 -q")
	eventually(t, "the report is there", func() bool { return strings.Contains(s.text(t, false), "\nstatus ") })
	if text := s.text(t, true); strings.Contains(text, "\x1b[3") || strings.Contains(text, "\x1b[1m") {
		t.Errorf("got colours:\n%q", text)
	}
}
