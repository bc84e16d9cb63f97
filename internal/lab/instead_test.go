package lab

import (
	"testing"

	"prony/internal/result"
)

// TestInstead: another program is as full as its CPU time over the window makes
// it, of the cores that it was given.
func TestInstead(t *testing.T) {
	for _, tt := range []struct {
		name       string
		cpuUS      float64
		cores      int
		busy, cpus float64
	}{
		{"any core", 1e6, 0, 0.25, 2},
		{"one core", 1e6, 1, 0.5, 1},
		{"more than there are", 1e6, 4, 0.25, 2},
		{"with its start it had more than the window", 3e6, 1, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := instead(result.Generator{CPUs: 2, PeakBusy: 0.3}, result.Generator{CPUUS: tt.cpuUS, MaxRSSBytes: 7}, 2e6, tt.cores)
			if got.MeanBusy != tt.busy || got.CPUs != tt.cpus || got.MaxRSSBytes != 7 || got.PeakBusy != 0 {
				t.Errorf("got %g busy of %g cores, %+v; want %g of %g", got.MeanBusy, got.CPUs, got, tt.busy, tt.cpus)
			}
		})
	}
}
