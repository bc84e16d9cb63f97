// Package result holds what happened: one schema for every command, versioned.
//
// The JSON form is a contract (schema prony.result/1): times in microseconds
// (_us), sizes in bytes, rates per second, ratios 0 to 1. Keys may be added;
// those that exist keep their names. Histograms travel whole, as HdrHistogram
// V2, so that a stored result can be rendered again and merged exactly.
package result

import (
	"time"

	"prony/internal/hdr"
	"prony/internal/plan"
)

// Schema is the version of the JSON form.
const Schema = "prony.result/1"

// Verdict says whether a number can be used.
type Verdict string

const (
	Valid   Verdict = "valid"
	Suspect Verdict = "suspect"
	Invalid Verdict = "invalid"
)

// Severity of a finding. Only SuspectLevel and InvalidLevel change the verdict.
type Severity string

const (
	Info         Severity = "info"
	Note         Severity = "note"
	SuspectLevel Severity = "suspect"
	InvalidLevel Severity = "invalid"
)

// Run is the result of one trial.
type Run struct {
	Schema     string      `json:"schema"`
	Kind       string      `json:"kind"` // "load", "wrk", "ab"
	Version    string      `json:"version"`
	Command    []string    `json:"command,omitempty"`
	Started    time.Time   `json:"started"`
	Validity   Validity    `json:"validity"`
	Bottleneck *Bottleneck `json:"bottleneck,omitempty"`
	Load       Load        `json:"load"`
	// Also are the loads that ran beside it, from the same start.
	Also      []Load    `json:"also,omitempty"`
	Generator Generator `json:"generator"`
	Services  []Service `json:"services"`
	// Observed are the series of what was watched, on every host of the run.
	Observed []Observed `json:"observed,omitempty"`
	// WatchCores is what watching cost, in cores, on the host where it cost most.
	WatchCores float64 `json:"watch_cores,omitempty"`
	// Worst are the worst seconds of the window, in their order.
	Worst       []Moment    `json:"worst,omitempty"`
	Environment Environment `json:"environment"`
	// Hosts are the machines of the run other than this one.
	Hosts  map[string]Environment `json:"hosts,omitempty"`
	Plan   *plan.Plan             `json:"plan"`
	Expect []Expectation          `json:"expect,omitempty"`
	// Capacity is what a search found; the load is then its last confirmed trial.
	Capacity *Capacity `json:"capacity,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
}

// Validity is the verdict with its reasons.
type Validity struct {
	Verdict  Verdict   `json:"verdict"`
	Findings []Finding `json:"findings"`
	// NotRun lists rules that lacked an input: unknown is not zero.
	NotRun []string `json:"not_run,omitempty"`
}

// Finding is one rule's answer.
type Finding struct {
	Rule     string   `json:"rule"`
	ID       string   `json:"id"` // method rule id, e.g. "G1"
	Severity Severity `json:"severity"`
	// Confidence is how sure the rule is; "" is Likely.
	Confidence Confidence `json:"confidence,omitempty"`
	// Where is what it is about: "generator", "host", "app[0]", a host's name.
	Where    string             `json:"where,omitempty"`
	Message  string             `json:"message"`
	Evidence map[string]float64 `json:"evidence,omitempty"`
	// Threshold is the value that was applied, in the unit of the evidence.
	Threshold map[string]float64 `json:"threshold,omitempty"`
	// WindowUS are the first and last moment that the rule looked at, from the
	// start of the window; empty for the window itself.
	WindowUS []float64 `json:"window_us,omitempty"`
	Advice   string    `json:"advice,omitempty"`
}

// Confidence of a finding.
type Confidence string

const (
	Definite Confidence = "definite" // the system or a program counted the event
	Likely   Confidence = "likely"   // used up, with signs of waiting
	Hint     Confidence = "hint"     // a pattern
)

// Bottleneck names what ran out.
type Bottleneck struct {
	What     string             `json:"what"`
	Where    string             `json:"where"`
	Message  string             `json:"message"`
	Evidence map[string]float64 `json:"evidence,omitempty"`
	// Confidence is how sure that is; "" is Likely.
	Confidence Confidence `json:"confidence,omitempty"`
	// Exonerated lists what was looked at and was not the limit.
	Exonerated []string `json:"exonerated,omitempty"`
}

// Expectation is one goal and whether it was met.
type Expectation struct {
	Text   string  `json:"text"`
	Actual float64 `json:"actual"`
	Met    bool    `json:"met"`
	Reason string  `json:"reason,omitempty"`
}

// Load is what the generator did and saw.
type Load struct {
	Name         string      `json:"name,omitempty"` // of one of several side by side
	Model        string      `json:"model"`
	Protocol     string      `json:"protocol"` // "http/1.1"
	TLS          *TLS        `json:"tls,omitempty"`
	Engine       string      `json:"engine"`
	EngineReason string      `json:"engine_reason,omitempty"`
	Timestamps   string      `json:"timestamps"`
	Threads      int         `json:"threads"`
	Connections  Connections `json:"connections"`
	// StartedUS is the wall clock start of the window, microseconds since 1970.
	StartedUS  int64    `json:"started_us"`
	DurationUS float64  `json:"duration_us"`
	WarmupUS   float64  `json:"warmup_us,omitempty"`
	DrainUS    float64  `json:"drain_us,omitempty"`
	EndedBy    string   `json:"ended_by"` // "duration", "count", "schedule", "interrupt", "abort", "overload", "script", "stall", "engine", "unreachable"
	Requests   Requests `json:"requests"`
	// Failures counts failed requests and failed connections by kind.
	Failures       map[string]int64 `json:"failures"`
	FailureDetails []Failure        `json:"failure_details,omitempty"`
	Statuses       map[string]int64 `json:"statuses"`
	Samples        []Sample         `json:"samples,omitempty"`
	BytesIn        int64            `json:"bytes_in"`
	BytesOut       int64            `json:"bytes_out"`
	BodyBytes      int64            `json:"body_bytes"`
	// Rate is completions inside the window divided by its length.
	Rate        float64  `json:"rate"`
	OfferedRate *float64 `json:"offered_rate"`
	Latency     Latency  `json:"latency"`
	// InFlight is the time average of requests in flight over the window.
	InFlight float64 `json:"in_flight"`
	// InFlightEdges is the number in flight at the window's two ends, summed.
	InFlightEdges int64 `json:"in_flight_edges"`
	// BacklogPeak is the most requests that waited for a connection at once.
	BacklogPeak int64 `json:"backlog_peak,omitempty"`
	// SendGapKS is the Kolmogorov-Smirnov distance of the first 1000 send gaps
	// to the exponential law (Poisson plans only; -1 when not measured).
	SendGapKS float64 `json:"send_gap_ks"`
	// PerThreadRate are the 100 ms samples of requests per second of one
	// thread, as wrk takes them.
	PerThreadRate Moments `json:"per_thread_rate"`
	// PerThread is the same series as a histogram of whole requests per second.
	PerThread *hdr.Histogram `json:"-"`
	// ReadDelayUS is by how much a reading may come late because the engine
	// gathered completions (coalesced wait).
	ReadDelayUS float64 `json:"read_delay_us"`
	Spun        bool    `json:"spun,omitempty"`
	// Loopback says that the target answered from this machine.
	Loopback  bool       `json:"loopback"`
	Intervals []Interval `json:"intervals"`
	// With is the program that made the load when it was not Prony's engine;
	// Latency is empty then.
	With string `json:"with,omitempty"`
	// Printed are the response times that it printed, in microseconds: "mean",
	// "stdev", "min", "max", "p50", "p99.9". They stay apart from Latency, since
	// they are no distribution, and may be of other requests than were sent.
	Printed map[string]float64 `json:"printed_us,omitempty"`
	// Output is what it printed, behind its command.
	Output string `json:"output,omitempty"`
	// Records are requests kept one by one, when the plan asked for them.
	Records []Record `json:"-"`
}

// Record is one request. Times in nanoseconds; Start since 1970, the others
// since Start. Start is the moment its connection was begun (new connection)
// or its send (reused).
type Record struct {
	Start     int64
	Connect   int64 // connect and TLS; 0 on a reused connection
	FirstByte int64 // from Start
	Total     int64 // from Start
	Status    uint16
	Kind      FailureKind
}

// TLS describes the sessions of an https load.
type TLS struct {
	Version  string `json:"version"`
	Cipher   string `json:"cipher"`
	Full     int64  `json:"full_handshakes"`
	Resumed  int64  `json:"resumed_handshakes"`
	KeyBits  int    `json:"key_bits,omitempty"`
	Curve    string `json:"curve,omitempty"`
	Verified bool   `json:"verified"`
}

// Connections is the story of the connections.
type Connections struct {
	Asked    int   `json:"asked"`
	Opened   int   `json:"opened"` // slots that were open at least once
	Peak     int   `json:"peak"`   // most open at once
	Connects int64 `json:"connects"`
	Failed   int64 `json:"failed"`   // attempts that did not open
	Reopened int64 `json:"reopened"` // connects beyond the first of a slot
	// ClosedByPeer: ends the peer announced or made; IdleCloses are those that
	// hit an idle connection, Resent the requests sent again because of one.
	ClosedByPeer int64     `json:"closed_by_peer"`
	IdleCloses   int64     `json:"idle_closes"`
	Resent       int64     `json:"resent"`
	ConnectTime  Histogram `json:"connect_time"`
	TLSTime      Histogram `json:"tls_time"`
}

// Requests is the ledger:
// asked = completed + failed + cut_off + unsent.
type Requests struct {
	Asked     int64 `json:"asked"`
	Started   int64 `json:"started"`
	Completed int64 `json:"completed"`
	Failed    int64 `json:"failed"`
	CutOff    int64 `json:"cut_off"`
	Unsent    int64 `json:"unsent"`
	// Warmup counts requests planned before the window (not in the others).
	Warmup int64 `json:"warmup"`
	// WarmupCompleted counts those of them that were answered.
	WarmupCompleted int64 `json:"warmup_completed"`
	// InWindow counts answers (of any status) that ended inside the window.
	InWindow int64 `json:"in_window"`
	// CutOffOldestUS is the age of the oldest request cut off.
	CutOffOldestUS float64 `json:"cut_off_oldest_us,omitempty"`
}

// Balanced reports whether every planned request has exactly one outcome.
func (r Requests) Balanced() bool {
	return r.Asked == r.Completed+r.Failed+r.CutOff+r.Unsent
}

// BytesInWindow are the bytes of the answers that came inside the window: those
// of the drain belong to no rate.
func (l *Load) BytesInWindow() int64 {
	n := l.BytesIn
	for _, iv := range l.Intervals {
		if iv.Drain {
			n -= iv.BytesIn
		}
	}
	return n
}

// Latency is three histograms of the successful requests and one of the failed.
// Response counts from the intended start, Service from the real send, Lag is
// send minus intended; Dispatch is the generator's own part of Lag.
type Latency struct {
	Response Histogram `json:"response"`
	Service  Histogram `json:"service"`
	Lag      Histogram `json:"lag"`
	Dispatch Histogram `json:"dispatch"`
	// FirstByte counts from the real send to the first byte of the answer.
	FirstByte Histogram `json:"first_byte"`
	Failed    Histogram `json:"failed"`
}

// Sample is one kept response head of a status class.
type Sample struct {
	Status int    `json:"status"`
	Head   string `json:"head"`
}

// Interval is one second (or less, at the end) of a load, counted by the
// moment of completion. The warm-up, and the drain after the window, are marked.
type Interval struct {
	StartUS   float64 `json:"start_us"` // from the start of the window; negative in warm-up
	LengthUS  float64 `json:"length_us"`
	Warmup    bool    `json:"warmup,omitempty"`
	Drain     bool    `json:"drain,omitempty"` // after the window
	Started   int64   `json:"started"`
	Planned   int64   `json:"planned"`
	Completed int64   `json:"completed"`
	Failed    int64   `json:"failed"`
	BytesIn   int64   `json:"bytes_in"`
	InFlight  int64   `json:"in_flight"`
	Response  Packed  `json:"response"`
	Service   Packed  `json:"service"`
	Lag       Packed  `json:"lag"`
	Errors    Packed  `json:"errors"`
}

// Progress is the state of a load at the end of an interval.
type Progress struct {
	Elapsed   time.Duration // of warm-up and window
	Total     time.Duration // planned; 0 when the load ends by count
	Open      int           // connections open
	Asked     int64         // so far, inside the window
	Completed int64
	Failed    int64
	Interval  Interval
}

// Generator is the cost and the health of the load generator.
type Generator struct {
	CPUUS           float64 `json:"cpu_us"`
	CPUUSPerRequest float64 `json:"cpu_us_per_request"`
	MaxRSSBytes     int64   `json:"max_rss_bytes"`
	// CPUs is how many cores this process may use: affinity and quota.
	CPUs float64 `json:"cpus"`
	// PeakBusy and MeanBusy are CPU use over the window's seconds, as a share
	// of CPUs; PeakThreadBusy of the busiest worker thread, as a share of one
	// core; FullSeconds the share of seconds with use above the limit of G1.
	MeanBusy       float64   `json:"mean_busy"`
	PeakBusy       float64   `json:"peak_busy"`
	PeakThreadBusy float64   `json:"peak_thread_busy"`
	BusySeries     []float64 `json:"busy_series,omitempty"`
	ThreadSeries   []float64 `json:"thread_series,omitempty"`
	CoreSeries     []float64 `json:"core_series,omitempty"` // busiest core of the host
	SoftIRQ        float64   `json:"softirq_peak_core"`
	GCCPUShare     float64   `json:"gc_cpu_share"`
	GCPauseP99US   float64   `json:"gc_pause_p99_us"`
	SchedP99US     float64   `json:"sched_latency_p99_us"`
	OpenFiles      int64     `json:"open_files_peak"`
	FileLimit      int64     `json:"file_limit"`
	PortsUsed      int64     `json:"ports_used_peak"`
	Ports          int64     `json:"ports"`
	HostBusy       float64   `json:"host_busy"`
	Steal          float64   `json:"steal"`
	ClockReadNS    float64   `json:"clock_read_ns"`
	ClockSource    string    `json:"clock_source"`
	// MonitorCPU is what watching the generator cost itself, as a share of one
	// core.
	MonitorCPU float64 `json:"monitor_cpu"`
	// Throttled is the share of the quota's periods in which the cgroup was
	// held back; 0 where there is no quota.
	Throttled float64 `json:"throttled"`
	// HiccupP99US is by how much a short sleep came late, beyond what such a
	// sleep always does here.
	HiccupP99US float64 `json:"hiccup_p99_us"`
	// CPUPressure is the share of time in which some task of the host was
	// ready to run and waited for a core (pressure stall information).
	CPUPressure float64 `json:"cpu_pressure"`
	// Unknown lists the figures above that could not be read, by their keys:
	// their zero says nothing.
	Unknown []string `json:"unknown,omitempty"`
}

// Service is what a target cost; filled where it can be observed.
type Service struct {
	Name            string  `json:"name"`
	Instance        int     `json:"instance"`
	CPUUSPerRequest float64 `json:"cpu_us_per_request"`
	MaxRSSBytes     int64   `json:"max_rss_bytes"`
	ThrottledRatio  float64 `json:"throttled_ratio"`
	Host            string  `json:"host,omitempty"`
	CPUUS           float64 `json:"cpu_us"` // from the start of the window, or of the load where that is too short to read then, until the load has ended
	OOMKills        int64   `json:"oom_kills,omitempty"`
	// Limits are those that the system says it applies.
	Limits plan.Limits `json:"limits"`
	// Requests are those that it counted itself; nil where it cannot tell.
	Requests *int64 `json:"requests,omitempty"`
	// Version of what ran, as far as it is known.
	Version string `json:"version,omitempty"`
}

// Environment is the machine the generator ran on.
type Environment struct {
	OS       string            `json:"os"`
	Kernel   string            `json:"kernel"`
	Arch     string            `json:"arch"`
	CPUModel string            `json:"cpu_model"`
	CPUs     int               `json:"cpus"`
	Memory   int64             `json:"memory_bytes"`
	Go       string            `json:"go"`
	Hostname string            `json:"hostname"`
	Sysctl   map[string]string `json:"sysctl,omitempty"`
	// Facts are further things that can change a number: clock source, governor,
	// mitigations, limits, processor, network interfaces. What is not known is
	// not there.
	Facts map[string]string `json:"facts,omitempty"`
}

// Moments are count, mean, deviation and extremes of a small series, with the
// share of values within one deviation of the mean.
type Moments struct {
	Count  int64   `json:"count"`
	Mean   float64 `json:"mean"`
	StDev  float64 `json:"stdev"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Within float64 `json:"within_stdev"`
}
