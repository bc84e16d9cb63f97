package main

import (
	"fmt"
	"math"

	"prony/internal/lab"
	"prony/internal/result"
	"prony/internal/stats"
)

// quietCompilers is the share of its highest rate below which a virtual
// machine's compilers count as done (method, section 3.4), and fewCompilations
// a rate a second that is never too much.
const (
	quietCompilers  = 0.01
	fewCompilations = 5
)

// jvmLeast is for how many seconds at least a virtual machine is warmed up
// (method, section 3.2).
const jvmLeast = 60

// warmth ends a warm-up when the load is steady and no virtual machine still
// compiles its hot code.
type warmth struct {
	load stats.Warmup
	live func() []result.Observed
	most map[string]float64 // highest rate of compilations, by instance
	seen int
}

func newWarmth(live func() []result.Observed) lab.Steady {
	return &warmth{live: live, most: map[string]float64{}}
}

// Feed takes the load's value of a second and looks at the virtual machines.
func (w *warmth) Feed(value float64) bool {
	w.seen++
	steady := w.load.Feed(value)
	return w.compiled() && steady
}

// compiled reports whether no virtual machine is busy compiling.
func (w *warmth) compiled() bool {
	done := true
	for _, o := range w.live() {
		if o.Kind != result.OfJVM {
			continue
		}
		if w.seen < jvmLeast {
			done = false
		}
		series := o.Series[result.Compilations]
		if len(series) == 0 || math.IsNaN(series[len(series)-1]) {
			continue
		}
		now, name := series[len(series)-1], place(o)
		w.most[name] = max(w.most[name], now)
		if now > max(quietCompilers*w.most[name], fewCompilations) {
			done = false
		}
	}
	return done
}

func place(o result.Observed) string {
	return fmt.Sprintf("%s/%s/%d", o.Host, o.Service, o.Instance)
}
