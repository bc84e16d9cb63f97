package audit

import "reflect"

// Thresholds are the limits of the rules. A zero is the default. All are
// printed with the report.
type Thresholds struct {
	// E1: X*R/N of a closed loop lies between LittleLow and LittleHigh; below
	// LittleImpossible no reading is left in which the load was that of the
	// command.
	LittleLow        float64 `limit:"little_low" default:"0.9"`
	LittleHigh       float64 `limit:"little_high" default:"1.1"`
	LittleImpossible float64 `limit:"little_impossible" default:"0.5"`
	// E2: slack of means against percentiles.
	MeanSlack float64 `limit:"mean_slack" default:"0.05"`
	// E3: threads x Req/Sec over the rate.
	ThreadLow        float64 `limit:"thread_sum_low" default:"0.9"`
	ThreadHigh       float64 `limit:"thread_sum_high" default:"1.1"`
	ThreadImpossible float64 `limit:"thread_sum_impossible" default:"0.75"`
	// E4: durations that are compared, the longer over the shorter; and how far
	// one duration may be from what was stated, as a share.
	DurationRatio float64 `limit:"duration_ratio" default:"1.25"`
	DurationOff   float64 `limit:"duration_off" default:"0.02"`
	// E5: seconds below which a run is short.
	ShortSeconds float64 `limit:"short_run_s" default:"30"`
	// E6: share of the link; bytes around a segment without and with TCP
	// timestamps (Ethernet 38, IP 20, TCP 20 or 32); payload of a segment.
	LinkBusy  float64 `limit:"link_busy" default:"0.85"`
	FrameLow  float64 `limit:"frame_bytes" default:"78"`
	FrameHigh float64 `limit:"frame_bytes_timestamps" default:"90"`
	Segment   float64 `limit:"segment_bytes" default:"1448"`
	// E7, E8: share of a core, and of all cores of the generator (method, G1).
	CoreFull      float64 `limit:"core_full" default:"0.95"`
	GeneratorBusy float64 `limit:"generator_busy" default:"0.85"`
	GeneratorFull float64 `limit:"generator_full" default:"0.95"`
	// NginxUS is the CPU time of nginx per kept-alive request of a small
	// answer, in microseconds.
	NginxUS float64 `limit:"nginx_us_per_request" default:"20"`
	// E10: share by which stated and seen hardware may differ.
	HardwareOff float64 `limit:"hardware_off" default:"0.1"`
	// E11: bytes and share by which answers may differ.
	AnswerBytes float64 `limit:"answer_bytes_off" default:"0.5"`
	AnswerShare float64 `limit:"answer_share_off" default:"0.002"`
	// E14: share of the cores that may idle when the CPU is called the limit;
	// share by which a number that is claimed may differ.
	Idle     float64 `limit:"idle_share" default:"0.1"`
	ClaimOff float64 `limit:"claim_off" default:"0.05"`
	// E17: length of the accept queue of older kernels (net.core.somaxconn).
	Backlog float64 `limit:"accept_queue" default:"128"`
	// E18: period of the CPU quota, milliseconds.
	PeriodMS float64 `limit:"quota_period_ms" default:"100"`
	// E20: CPU seconds that a virtual machine needs at least to warm up.
	WarmupCPU float64 `limit:"warmup_cpu_s" default:"30"`
	// E24: share of failed requests.
	ErrorsSuspect float64 `limit:"errors_suspect" default:"0.001"`
	ErrorsInvalid float64 `limit:"errors_invalid" default:"0.01"`
	// E26: client ports per address, and how long one stays in TIME_WAIT.
	Ports        float64 `limit:"ports" default:"28232"`
	TimeWaitSecs float64 `limit:"time_wait_s" default:"60"`
	// E31: spread of the starts of shards as a share of the run.
	ShardSpread float64 `limit:"shard_spread" default:"0.01"`
}

// byName returns the limits under the names they are printed with.
func (t *Thresholds) byName() map[string]*float64 {
	all := map[string]*float64{}
	v := reflect.ValueOf(t).Elem()
	for i := range v.NumField() {
		all[v.Type().Field(i).Tag.Get("limit")] = v.Field(i).Addr().Interface().(*float64)
	}
	return all
}

// withDefaults fills in what is zero.
func (t Thresholds) withDefaults() Thresholds {
	v := reflect.ValueOf(&t).Elem()
	for i := range v.NumField() {
		if v.Field(i).Float() == 0 {
			v.Field(i).SetFloat(number(v.Type().Field(i).Tag.Get("default")).V)
		}
	}
	return t
}

// With returns the limits with those of a file of facts.
func (t Thresholds) With(limits map[string]float64) Thresholds {
	all := t.byName()
	for name, v := range limits {
		if p, ok := all[name]; ok {
			*p = v
		}
	}
	return t
}
