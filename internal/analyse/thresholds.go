package analyse

import "time"

// Thresholds are the limits that the rules apply. None of them is a law of
// nature; each finding prints the one it used. Shares are 0 to 1.
type Thresholds struct {
	// Little's law: relative difference of requests in flight and rate times
	// time, from which on there is a note, and from which on the result is
	// invalid. Differences that the edges of the window explain never count.
	LittleNote, LittleInvalid float64

	// TailSamples is how many samples must lie beyond a percentile.
	TailSamples int64
	// A run shorter than ShortRun or with fewer answers than FewAnswers gets a
	// note.
	ShortRun   time.Duration
	FewAnswers int64
	// One shorter than TooShort or with fewer answers than TooFewAnswers is
	// suspect.
	TooShort      time.Duration
	TooFewAnswers int64
	// MergedInterval is the length from which an interval of one second counts
	// as several that could not be handed over in time.
	MergedInterval time.Duration

	// Dispatch lag of an open model may be LagP50 (LagP99), or LagShare of the
	// same percentile of the response time, whichever is more. Up to LagFactor
	// times that the result is suspect, beyond it invalid.
	LagP50, LagP99 time.Duration
	LagShare       float64
	LagFactor      float64
	// Dispatched over planned requests of the window: below SentValid suspect,
	// below SentSuspect invalid.
	SentValid, SentSuspect float64
	// Seconds whose dispatches differ by more than SecondDeviation from the
	// timetable: a share above SecondsValid is suspect, above SecondsSuspect
	// invalid.
	SecondDeviation, SecondsValid, SecondsSuspect float64
	// Kolmogorov-Smirnov distance of the gaps of a Poisson plan: above KSValid
	// suspect, above KSSuspect invalid.
	KSValid, KSSuspect float64
	// Shortfall is the share of the planned requests by which a queue must grow
	// for the rate to count as not sustained.
	Shortfall float64

	// Generator CPU, as a share of the cores it may use, for at least BusyShare
	// of the seconds.
	BusySuspect, BusyInvalid, BusyShare float64
	// A core or a thread is full from OneCore on; a full core matters while the
	// mean is below MeanLow; SoftIRQ is the share of a core from which on
	// interrupts filled it.
	OneCore, MeanLow, SoftIRQ float64
	// GCShare is the share of CPU time of the garbage collector.
	GCShare float64
	// Pauses of the runtime (p99).
	PauseSuspect, PauseInvalid time.Duration
	// ThrottledInvalid is the share of throttled quota periods; any is suspect.
	ThrottledInvalid float64
	// FilesNear and PortsNear are the used shares that count as nearly all.
	FilesNear, PortsNear float64
	// TimeWait is how long a closed connection keeps its port.
	TimeWait time.Duration
	// MonitorCost is the share of one core that watching may cost.
	MonitorCost float64
	// ClockRead is what one reading of the clock may cost.
	ClockRead time.Duration

	// Shares of CPU time that the hypervisor gave to others.
	StealSuspect, StealInvalid float64
	// CPU use by others: in cores, and for invalid also as a share of all cores.
	ForeignSuspect, ForeignInvalid, ForeignInvalidShare float64
	// Share of time in which some task of the host waited for a core.
	PressureSuspect, PressureInvalid float64
	// Lateness of a short sleep (p99).
	HiccupSuspect, HiccupInvalid time.Duration

	// Churn is the share of requests that opened a new connection although
	// connections should have been kept.
	Churn float64
	// Shares of failed requests.
	ErrorsNote, ErrorsSuspect float64
	// FastFailure is the median of the failed over the median of the good
	// answers, below which failures inflate the speed.
	FastFailure float64
	// Shares of requests that ended without an answer by timeout or by the end
	// of the load, from which on percentiles are only lower bounds: of p99.99
	// for a note, of p99 for suspect.
	CensoredNote, CensoredSuspect float64
	// FullConcurrency is the share of the connections that must be in flight on
	// average for the answer time to set the rate of a closed model.
	FullConcurrency float64
}

// DefaultThresholds returns the limits of the method.
func DefaultThresholds() Thresholds {
	return Thresholds{
		LittleNote: 0.01, LittleInvalid: 0.05,
		TailSamples: 10, ShortRun: 5 * time.Second, FewAnswers: 1000, TooShort: time.Second, TooFewAnswers: 100, MergedInterval: 1500 * time.Millisecond,
		LagP50: 50 * time.Microsecond, LagP99: 200 * time.Microsecond, LagShare: 0.05, LagFactor: 4,
		SentValid: 0.999, SentSuspect: 0.99,
		SecondDeviation: 0.05, SecondsValid: 0.01, SecondsSuspect: 0.05,
		KSValid: 0.05, KSSuspect: 0.10, Shortfall: 0.01,
		BusySuspect: 0.85, BusyInvalid: 0.95, BusyShare: 0.20,
		OneCore: 0.95, MeanLow: 0.70, SoftIRQ: 0.60,
		GCShare: 0.10, PauseSuspect: time.Millisecond, PauseInvalid: 10 * time.Millisecond,
		ThrottledInvalid: 0.01, FilesNear: 0.9, PortsNear: 0.8, TimeWait: time.Minute,
		MonitorCost: 0.01, ClockRead: 200 * time.Nanosecond,
		StealSuspect: 0.01, StealInvalid: 0.05,
		ForeignSuspect: 0.25, ForeignInvalid: 0.5, ForeignInvalidShare: 0.10,
		PressureSuspect: 0.05, PressureInvalid: 0.20,
		HiccupSuspect: time.Millisecond, HiccupInvalid: 10 * time.Millisecond,
		Churn: 0.01, ErrorsNote: 0.001, ErrorsSuspect: 0.01, FastFailure: 0.5,
		CensoredNote: 0.0001, CensoredSuspect: 0.01, FullConcurrency: 0.95,
	}
}
