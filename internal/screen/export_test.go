package screen

import (
	tea "charm.land/bubbletea/v2"
)

// Model is the screen without a terminal, for tests that feed it messages.
type Model struct{ *model }

// NewModel makes one, and the Screen that it listens to.
func NewModel(c Config) (*Model, *Screen) {
	f := newFeed()
	return &Model{newModel(c.effective(), f)}, &Screen{feed: f}
}

// Beat has it take what was told.
func (m *Model) Beat() { m.Update(beat{}) }

// Resize tells it the size of its terminal.
func (m *Model) Resize(w, h int) { m.Update(tea.WindowSizeMsg{Width: w, Height: h}) }

// Press presses keys, and does what comes of it.
func (m *Model) Press(keys ...tea.KeyPressMsg) {
	for _, k := range keys {
		if _, cmd := m.Update(k); cmd != nil {
			cmd()
		}
	}
}

// Text is what it shows.
func (m *Model) Text() string { return m.View().Content }

// Clean is how a name is shown in a terminal of that environment.
func Clean(s string, env ...string) string { return newTheme(Config{Env: env}).clean(s) }

// Share, Size and Rate are how figures are written.
func Share(v float64) string { return share(v) }
func Size(v float64) string  { return size(v) }
func Rate(v float64) string  { return si(v) }

// Span is how microseconds are written.
func Span(us float64) string { return newTheme(Config{Env: []string{"LANG=C.UTF-8"}}).span(us) }

// Push is how a queue takes a value.
func Push[T any](queue chan T, value T) { push(queue, value) }

// Bounds of what is kept.
const (
	PointsMost   = pointsMost
	FindingsMost = findingsMost
)

// Points is how many intervals are kept.
func (m *Model) Points() int { return len(m.state.points) }
