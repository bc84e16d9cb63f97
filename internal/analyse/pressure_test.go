package analyse_test

import (
	"testing"

	"prony/internal/analyse"
	"prony/internal/result"
)

// Tasks that a quota holds back are pressure on the CPU in the kernel's count,
// and no sign that the generator had to wait.
func TestPressureOfAQuota(t *testing.T) {
	for _, tt := range []struct {
		name      string
		throttled float64
		host      string
		want      result.Severity
	}{
		{"nobody held back", 0, "", result.SuspectLevel},
		{"the target held back here", 0.9, "", result.Note},
		{"the target held back elsewhere", 0.9, "sut", result.SuspectLevel},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &result.Run{Generator: result.Generator{CPUs: 2, CPUUS: 1e6, MaxRSSBytes: 1 << 20, CPUPressure: 0.5}, Load: result.Load{DurationUS: 10e6, Loopback: true},
				Observed: []result.Observed{{Kind: result.OfService, Name: "app", Service: "app", Host: tt.host,
					AtUS: []float64{1e6, 2e6}, LengthUS: []float64{1e6, 1e6},
					Series: map[result.Metric]result.Values{result.Throttled: {tt.throttled, tt.throttled}}}}}
			analyse.Run(r, analyse.DefaultThresholds())
			for _, f := range r.Validity.Findings {
				if f.Rule == "cpu-pressure" {
					if f.Severity != tt.want {
						t.Errorf("got %s, want %s: %s", f.Severity, tt.want, f.Message)
					}
					return
				}
			}
			t.Error("no finding")
		})
	}
}
