package screen

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Size before the terminal has told its own.
const (
	firstWidth  = 80
	firstHeight = 24
)

// askFor is how long a first q waits for its second.
const askFor = 5 * time.Second

// beat is when the model looks at what was told.
type beat struct{}

// model is the screen as bubbletea wants it.
type model struct {
	config   Config
	theme    *theme
	keys     keys
	feed     *feed
	state    state
	frozen   *state // what is shown while the screen is paused
	width    int
	height   int
	view     int
	offsets  [views]int
	help     bool
	asked    time.Time // the first q; zero: none
	stopping int       // how often Stop was called
	drawn    string    // the picture; "" if it has to be drawn
	ready    chan struct{}
}

func newModel(c Config, f *feed) *model {
	m := &model{config: c, theme: newTheme(c), feed: f, width: firstWidth, height: firstHeight}
	m.keys = newKeys(m.theme.ascii)
	m.state = state{start: c.Now(), now: c.Now(), clock: newClock(c.Plan)}
	return m
}

// shown is the state that is drawn.
func (m *model) shown() *state {
	if m.frozen != nil {
		return m.frozen
	}
	return &m.state
}

// Init begins the beat.
func (m *model) Init() tea.Cmd {
	if m.ready != nil {
		close(m.ready) // once: a program is run once
	}
	return next()
}

func next() tea.Cmd { return tea.Tick(time.Second/fps, func(time.Time) tea.Msg { return beat{} }) }

// Update takes a message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case beat:
		now := m.config.Now()
		if m.state.take(m.feed, now) && m.frozen == nil {
			m.drawn = ""
		}
		if !m.asked.IsZero() && now.Sub(m.asked) > askFor {
			m.asked, m.drawn = time.Time{}, ""
		}
		return m, next()
	case tea.WindowSizeMsg:
		m.drawn = ""
		m.width, m.height = max(msg.Width, 1), max(msg.Height, 1)
	case tea.KeyPressMsg:
		m.drawn = ""
		return m, m.press(msg)
	}
	return m, nil
}

// press does what a key asks for.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	if key.Matches(k, m.keys.stop) {
		return m.stop()
	}
	if !m.asked.IsZero() || m.help {
		m.asked, m.help = time.Time{}, false // any key is no
		return nil
	}
	switch {
	case key.Matches(k, m.keys.pause):
		m.pause()
	case key.Matches(k, m.keys.help):
		m.help = true
	case key.Matches(k, m.keys.next):
		m.view = (m.view + 1) % views
	case key.Matches(k, m.keys.back):
		m.view = (m.view + views - 1) % views
	case len(k.Text) == 1 && k.Text[0] >= '1' && k.Text[0] < '1'+views:
		m.view = int(k.Text[0] - '1')
	default:
		m.scroll(k)
	}
	return nil
}

// scroll moves the lines of the view.
func (m *model) scroll(k tea.KeyPressMsg) {
	offset, page := &m.offsets[m.view], max(m.height-8, 1)
	switch {
	case key.Matches(k, m.keys.up):
		*offset--
	case key.Matches(k, m.keys.down):
		*offset++
	case key.Matches(k, m.keys.pageUp):
		*offset -= page
	case key.Matches(k, m.keys.pageDown):
		*offset += page
	case key.Matches(k, m.keys.home):
		*offset = 0
	}
	*offset = max(*offset, 0)
}

// pause holds what is shown, or lets it go on.
func (m *model) pause() {
	if m.frozen != nil {
		m.frozen = nil
		return
	}
	held := m.state
	m.frozen = &held
}

// stop asks first, and then has it done elsewhere: the screen goes on.
func (m *model) stop() tea.Cmd {
	if m.config.Stop == nil {
		return nil
	}
	m.help = false
	if m.asked.IsZero() {
		m.asked = m.config.Now()
		return nil
	}
	m.asked = time.Time{}
	m.stopping++
	stop := m.config.Stop
	return func() tea.Msg {
		stop()
		return nil
	}
}

// View draws the screen, if something changed.
func (m *model) View() tea.View {
	if m.drawn == "" {
		m.drawn = m.picture()
	}
	v := tea.NewView(m.drawn)
	v.AltScreen = true
	return v
}

// picture is the whole screen.
func (m *model) picture() string {
	s := m.shown()
	lines := m.header(s)
	h := max(m.height-len(lines)-1, 0)
	body := m.body(s, m.width, h)
	lines = append(lines, body[:min(len(body), h)]...)
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	return fit(append(lines[:max(m.height-1, 0)], m.bottom()), m.width, m.height)
}

// bottom is the last line: the keys, or a question.
func (m *model) bottom() string {
	if m.asked.IsZero() {
		return m.theme.footer(m.keys, m.width)
	}
	text := "stop gracefully? q again: yes   any other key: no"
	if m.stopping > 0 {
		text = "it is stopping already; press again to insist   any other key: no"
	}
	return m.theme.bad.Render(m.theme.cut(text, m.width))
}
