package screen_test

import (
	"strings"
	"testing"

	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/screen"
)

func observed(kind, name string, series map[result.Metric]float64) result.Observed {
	o := result.Observed{Kind: kind, Name: name, Series: map[result.Metric]result.Values{}}
	for m, v := range series {
		o.Series[m] = result.Values{v}
	}
	return o
}

// What the live figures say stands beside the findings, which come only when a
// trial ends.
func TestLimitedNow(t *testing.T) {
	quota := map[string]string{"cpu_quota_cores": "0.05"}
	for _, c := range []struct {
		name    string
		service map[result.Metric]float64
		host    map[result.Metric]float64
		busy    float64
		want    string
		not     string
	}{
		{"a quota", map[result.Metric]float64{result.Throttled: 1, result.CPUCores: 0.05}, nil, 0.1, "limited now by: CPU quota of app (held back in 100% of the periods)", "noisy"},
		{"its CPU", map[result.Metric]float64{result.Throttled: 0.01, result.CPUCores: 0.049}, nil, 0.1, "limited now by: CPU of app (98.0% of its limit)", "noisy"},
		{"the host", nil, map[result.Metric]float64{result.HostBusy: 0.97}, 0.1, "limited now by: CPU of this host (97.0% busy)", "noisy"},
		{"the generator before all", map[result.Metric]float64{result.Throttled: 1}, nil, 0.96, "limited now by: CPU of the generator (96.0% busy)", "quota"},
		{"noise", nil, map[result.Metric]float64{result.HostSteal: 0.052, result.HostBusy: 0.5}, 0.1, "noisy: hypervisor takes 5.2% of this host", "limited"},
		{"nothing", map[result.Metric]float64{result.Throttled: 0}, map[result.Metric]float64{result.HostSteal: 0.001}, 0.1, "no finding yet: findings come when a trial ends", "limited now"},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := newTick()
			m, s := screen.NewModel(screen.Config{NoColour: true, Env: []string{unicodeEnv}, Plan: &plan.Experiment{}, Now: clock.Now})
			m.Resize(118, 40)
			s.Trial(1, 2, plan.Trial{Variant: "a"})
			s.Progress(result.Progress{Interval: result.Interval{LengthUS: 1e6, Completed: 10}, Elapsed: 1e9}, c.busy)
			service, host := observed(result.OfService, "app", c.service), observed(result.OfHost, "", c.host)
			service.Facts = quota
			s.Observed([]result.Observed{service, host})
			m.Beat()
			got := m.Text()
			if !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
				t.Errorf("want %q and no %q in\n%s", c.want, c.not, got)
			}
		})
	}
}

// The rate of each trial stands beside that of the baseline, and what so few
// trials cannot say is told before the end.
func TestBaselineSoFar(t *testing.T) {
	clock := newTick()
	e := &plan.Experiment{Baseline: "a", Repeat: plan.Repeat{Times: 3}, Variants: []plan.Variant{{Name: "a"}, {Name: "b"}}}
	m, s := screen.NewModel(screen.Config{NoColour: true, Env: []string{unicodeEnv}, Plan: e, Now: clock.Now})
	m.Resize(118, 40)
	done := func(n int, variant string, rate float64, v result.Verdict) {
		s.Finished(result.Trial{Number: n, Variant: variant, Run: result.Run{Validity: result.Validity{Verdict: v}, Load: result.Load{Rate: rate},
			Bottleneck: &result.Bottleneck{What: "cpu-quota", Where: "app[0]", Message: "the CPU quota of app[0] held it back in 100% of its periods"}}})
	}
	done(1, "a", 1000, result.Valid)
	done(2, "b", 2700, result.Valid)
	done(3, "a", 900, result.Suspect)
	done(4, "a", 10, result.Invalid)
	m.Beat()
	got := m.Text()
	for _, want := range []string{"2.84", "1.05", "0.95", "CPU quota of app\n", "3 trials of a variant: too few for a verdict, which takes 6 or more"} {
		if !strings.Contains(strings.ReplaceAll(got, " \n", "\n"), want) && !strings.Contains(got, strings.TrimSpace(want)) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
}
