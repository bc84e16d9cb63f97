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

	// Headroom is the rate over the calibrated maximum of the generator: above
	// HeadroomValid suspect, above HeadroomSuspect invalid.
	HeadroomValid, HeadroomSuspect float64
	// Sustained is the share of the seconds in which something must be used up.
	Sustained float64

	// Bits on a cable as a share of its speed, for a note and for a limit.
	LinkNote, LinkFull float64
	// A link may be cut to a customary rate where at least ShapedFrom of that is
	// used and the rate varies by no more than FlatVariation.
	ShapedFrom, FlatVariation float64
	// Shares of TCP segments sent again, for a note and for a limit, and of
	// packets dropped by a card, for a limit.
	LossNote, LossLimit, DropLimit float64
	// Squeezed is how often a second the kernel may run out of its budget for
	// received packets.
	Squeezed float64
	// TimeWaitShare is resting connections over local ports; ConntrackNear the
	// used share of the connection table.
	TimeWaitShare, ConntrackNear float64
	// SoftIRQMedian is the most that the median core may spend on interrupts for
	// the fullest to count as alone.
	SoftIRQMedian float64

	// Shares of quota periods in which a target was held back, for a note and for
	// a limit.
	QuotaNote, QuotaLimit float64
	// A full thread is a limit while its process uses less than OneThreadMost
	// cores and at least HostIdle of the machine is idle.
	OneThreadMost, HostIdle float64
	// CPUFull is the share of the allowed cores from which on they are full, if
	// also threads waited for RunDelay of their running time, or something waited
	// in PressureLimit of the time.
	CPUFull, RunDelay, PressureLimit float64
	// Memory: shares of time in which everything or something waited for it,
	// faults and swapped pages per second, and the share that must be free.
	MemoryFull, MemorySome, MajorFaults, SwapRate, MemoryFree float64
	// IOPressure is a share of time, Blocked a number of threads blocked on
	// average, DiskFull the share of time in which a disk was busy.
	IOPressure, Blocked, DiskFull float64
	// GCPaused and GCLimit are shares of time, for a note and for a limit; GCTail
	// is the share of the slowest seconds with a collection.
	GCPaused, GCLimit, GCTail float64
	// Shares of its cores that a just-in-time compiler uses, for suspect and for a
	// limit.
	Compiling, CompilingLimit float64

	// A pool is full if the connections behind it stand still for PoolShare of the
	// time and at least PoolQueue of its size more are in flight.
	PoolShare, PoolQueue float64
	// The threads of a pool are all in use if PoolBusy of them are for PoolShare of
	// the time; they are worth a word if at most PoolRunning of them run.
	PoolBusy, PoolRunning float64
	// A target waits if it uses less than WaitingCPU of its cores; Switching is
	// the growth of context switches per request that is the sign of a lock.
	WaitingCPU, Switching float64
	// Plateau is what twice the connections add, below which there is no more.
	Plateau float64

	// BackendIdle is the CPU use of a backend below which it is not the limit.
	BackendIdle float64
	// New upstream connections per request: reused up to ReusedMost, not reused
	// from NotReused on.
	ReusedMost, NotReused float64
	// Refused is the share of answers 503 and 429.
	Refused float64
	// Amplified is requests behind a gateway over those before it, if they are at
	// least AmplifiedLeast more; CachedLess the ratio below which it is a cache.
	Amplified, AmplifiedLeast, CachedLess float64
	// BodyNote and BodyInvalid are shares of answers with another body.
	BodyNote, BodyInvalid float64
	// Arrived is the share of the answers that a target's counter may lack.
	Arrived float64

	// SteadySeconds is the least number of seconds to judge a course, SteadyChange
	// the change from one half to the other, TrendZ the trend's z, MemoryGrowth
	// the growth of memory.
	SteadySeconds                      int
	SteadyChange, TrendZ, MemoryGrowth float64

	// WorstSeconds is how many are explained, of those whose p99 is SlowFactor
	// times the usual, and of those whose rate is below FewFactor of it.
	WorstSeconds          int
	SlowFactor, FewFactor float64

	// Variants: relative difference and bytes of their answers, of their headers,
	// and difference of shares of statuses.
	BodyDiffer, BodyBytes, HeaderDiffer, StatusDiffer float64
	// BackendTwice is how much more a backend must do alone than through the
	// gateway for the gateway to be measured; BackendNear the share of it at which
	// the backend is.
	BackendTwice, BackendNear float64
	// CheapShare is the CPU per request, of the others', that makes one wonder.
	CheapShare float64
	// Drop of the clock frequency against the first run.
	FrequencySuspect, FrequencyInvalid float64
	// What more generators change: p99 falls by ProofTail, or the rate rises by
	// ProofRate.
	ProofTail, ProofRate float64
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
		HeadroomValid: 0.5, HeadroomSuspect: 0.8, Sustained: 0.5,
		LinkNote: 0.75, LinkFull: 0.90, ShapedFrom: 0.93, FlatVariation: 0.02,
		LossNote: 0.001, LossLimit: 0.01, DropLimit: 0.001, Squeezed: 10,
		TimeWaitShare: 0.5, ConntrackNear: 0.9, SoftIRQMedian: 0.10,
		QuotaNote: 0.01, QuotaLimit: 0.05, OneThreadMost: 1.3, HostIdle: 0.30,
		CPUFull: 0.90, RunDelay: 0.05, PressureLimit: 0.30,
		MemoryFull: 0.001, MemorySome: 0.01, MajorFaults: 100, SwapRate: 10, MemoryFree: 0.05,
		IOPressure: 0.10, Blocked: 0.10, DiskFull: 0.9,
		GCPaused: 0.05, GCLimit: 0.25, GCTail: 0.5, Compiling: 0.05, CompilingLimit: 0.20,
		PoolShare: 0.8, PoolQueue: 0.2, PoolBusy: 0.95, PoolRunning: 0.5, WaitingCPU: 0.70, Switching: 1.5, Plateau: 0.05,
		BackendIdle: 0.60, ReusedMost: 0.001, NotReused: 0.5, Refused: 0.001,
		Amplified: 1.001, AmplifiedLeast: 10, CachedLess: 0.5, BodyNote: 0.0001, BodyInvalid: 0.01, Arrived: 0.01,
		SteadySeconds: 20, SteadyChange: 0.05, TrendZ: 2.576, MemoryGrowth: 0.10,
		WorstSeconds: 5, SlowFactor: 2, FewFactor: 0.8,
		BodyDiffer: 0.01, BodyBytes: 16, HeaderDiffer: 0.10, StatusDiffer: 0.001,
		BackendTwice: 2, BackendNear: 0.9, CheapShare: 0.2,
		FrequencySuspect: 0.03, FrequencyInvalid: 0.10, ProofTail: 0.10, ProofRate: 0.05,
	}
}
