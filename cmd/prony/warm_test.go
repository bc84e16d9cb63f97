package main

import (
	"testing"

	"prony/internal/result"
)

// A load that is steady is not warm while a virtual machine still compiles.
func TestWarmth(t *testing.T) {
	for _, tt := range []struct {
		name    string
		kind    string
		compile func(second int) float64
		want    int // second at which it is warm; 0: not within two minutes
	}{
		{"no virtual machine", result.OfService, func(int) float64 { return 900 }, 23},
		{"compiled from the start", result.OfJVM, func(int) float64 { return 0 }, 60},
		{"compiles for 80 s", result.OfJVM, func(s int) float64 {
			if s < 80 {
				return 1000
			}
			return 3
		}, 80},
		{"compiles on", result.OfJVM, func(int) float64 { return 1000 }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			second := 0
			w := newWarmth(func() []result.Observed {
				return []result.Observed{{Kind: tt.kind, Service: "app", Series: map[result.Metric]result.Values{result.Compilations: {tt.compile(second)}}}}
			})
			got := 0
			for second = 1; second <= 120 && got == 0; second++ {
				if w.Feed(1000 + float64(second%2)) {
					got = second
				}
			}
			if got < tt.want-2 || got > tt.want+2 {
				t.Errorf("got warm at %d s, want %d", got, tt.want)
			}
		})
	}
}
