package screen_test

import (
	"testing"

	"prony/internal/screen"
)

// BenchmarkFrame is the cost of a picture; there are at most four a second.
func BenchmarkFrame(b *testing.B) {
	for _, c := range []struct{ w, h int }{{80, 24}, {200, 60}} {
		b.Run(sizeName(c.w, c.h), func(b *testing.B) {
			m, _, _ := shown(c.w, c.h, 20, screen.Config{})
			for b.Loop() {
				m.Resize(c.w, c.h) // draws it anew
				_ = m.Text()
			}
		})
	}
}

// BenchmarkProgress is what a caller pays for telling.
func BenchmarkProgress(b *testing.B) {
	_, s := screen.NewModel(screen.Config{})
	p := interval(7)
	b.ReportAllocs()
	for b.Loop() {
		s.Progress(p, 0.5)
	}
}
