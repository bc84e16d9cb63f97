package screen

import (
	"strings"

	"charm.land/bubbles/v2/key"
)

// keys are what the keyboard does.
type keys struct {
	pause, next, back, help, stop    key.Binding
	up, down, pageUp, pageDown, home key.Binding
}

// newKeys names them; arrows are letters where the terminal has no arrows.
func newKeys(ascii bool) keys {
	bind := func(label, help string, names ...string) key.Binding {
		return key.NewBinding(key.WithKeys(names...), key.WithHelp(label, help))
	}
	arrows := "↑ ↓"
	if ascii {
		arrows = "arrows"
	}
	return keys{
		pause:    bind("space", "pause", "space", " "),
		next:     bind("tab, 1-4", "view", "tab", "right", "l"),
		back:     bind("shift+tab", "view before", "shift+tab", "left", "h"),
		up:       bind(arrows, "scroll", "up", "k"),
		down:     bind("", "", "down", "j"),
		pageUp:   bind("pgup, pgdn", "scroll by a screen", "pgup", "ctrl+b"),
		pageDown: bind("", "", "pgdown", "ctrl+f"),
		home:     bind("home", "to the top", "home", "g"),
		help:     bind("?", "help", "?"),
		stop:     bind("q", "stop", "q", "ctrl+c"),
	}
}

// footer is the keys in a line.
func (t *theme) footer(k keys, w int) string {
	var parts []string
	for _, b := range []key.Binding{k.pause, k.next, k.up, k.help, k.stop} {
		parts = append(parts, b.Help().Key+" "+b.Help().Desc)
	}
	return t.dim.Render(t.cut(strings.Join(parts, "   "), w))
}

// helpLines explains keys and signs.
func (t *theme) helpLines(k keys) []string {
	lines := []string{t.title.Render("KEYS")}
	line := func(name, text string) {
		lines = append(lines, "  "+t.bold.Render(t.left(name, 14))+text)
	}
	line("space", "pause the screen; the run goes on")
	line("tab, 1 to 4", "next view; overview, services, threads, trials")
	line(k.up.Help().Key, "scroll; also "+k.pageUp.Help().Key+", home")
	line("q, ctrl+c", "stop gracefully, when pressed twice")
	line("?", "this help; any key leaves it")
	lines = append(lines, "", t.title.Render("SIGNS"))
	line(t.full+" "+t.part+" "+t.some+" "+t.thin, "user, system, interrupts, steal: shares of all cores of a host")
	line("a/b", "used, and the limit that the system applies")
	line("THROT", "share of the quota's periods in which the service was held back")
	line("RUN", "tasks of the host that run or are ready to")
	line("xBASE", "requests/s as a multiple of the baseline's median so far")
	line("RTX/s", "TCP segments sent again, per second")
	line("WAITED", "threads that were ready to run and had no core, on average")
	line("lag", "how late requests left, for want of a connection or of CPU")
	line("generator", "its CPU use, as a share of the cores it may use")
	line(t.invalid+" "+t.suspect+" "+t.note, "findings: do not use the number; with care; to know")
	return append(lines, t.dim.Render("  Rates and times are those of the last interval, not of the whole load."))
}
