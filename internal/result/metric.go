package result

// Metric names a series or total. The unit is the end of the name: cores (CPU
// seconds per second), ratio (0 to 1), bytes, rate (per second), us
// (microseconds), count. A name that ends in _rate in a series is the plain
// count in the totals.
type Metric string

// What a host shows.
const (
	HostBusy        Metric = "cpu_busy_ratio"      // of all cores, without idle and I/O wait
	HostUser        Metric = "cpu_user_ratio"      // of all cores
	HostSystem      Metric = "cpu_system_ratio"    // of all cores
	HostSoftIRQ     Metric = "cpu_softirq_ratio"   // of all cores
	HostIOWait      Metric = "cpu_iowait_ratio"    // of all cores
	HostSteal       Metric = "cpu_steal_ratio"     // of all cores
	CoreBusyMax     Metric = "core_busy_max_ratio" // the busiest core
	CoreBusyMedian  Metric = "core_busy_median_ratio"
	CoreSoftIRQMax  Metric = "core_softirq_max_ratio"
	CoreSoftIRQMed  Metric = "core_softirq_median_ratio"
	CoresFull       Metric = "cores_full_count" // cores at 0.95 and more
	RunQueue        Metric = "run_queue_count"  // runnable tasks
	PSICPUSome      Metric = "psi_cpu_some_ratio"
	PSIMemorySome   Metric = "psi_memory_some_ratio"
	PSIMemoryFull   Metric = "psi_memory_full_ratio"
	PSIIOSome       Metric = "psi_io_some_ratio"
	MemoryAvailable Metric = "memory_available_bytes"
	MemoryTotal     Metric = "memory_total_bytes"
	SwapRate        Metric = "swap_pages_rate" // in and out
	MajorFaults     Metric = "major_faults_rate"
	ContextSwitches Metric = "context_switches_rate"
	FrequencyMHz    Metric = "frequency_mhz"
	OpenFiles       Metric = "open_files_count"
	ConntrackUsed   Metric = "conntrack_count"
	ConntrackMax    Metric = "conntrack_max_count"
	ConntrackDrops  Metric = "conntrack_drops_rate"
	SoftnetDrops    Metric = "softnet_drops_rate"
	SoftnetSqueezed Metric = "softnet_squeezed_rate"
	OutSegments     Metric = "tcp_out_segments_rate"
	RetransSegments Metric = "tcp_retransmits_rate"
	TCPTimeouts     Metric = "tcp_timeouts_rate"
	ListenOverflows Metric = "tcp_listen_overflows_rate"
	ListenDrops     Metric = "tcp_listen_drops_rate"
	SynCookies      Metric = "tcp_syn_cookies_rate"
	RequestQFull    Metric = "tcp_request_queue_full_rate" // dropped or answered by cookie
	PassiveOpens    Metric = "tcp_passive_opens_rate"
	ActiveOpens     Metric = "tcp_active_opens_rate"
	TimeWaitOver    Metric = "tcp_time_wait_overflow_rate"
	Established     Metric = "tcp_established_count"
	TimeWait        Metric = "tcp_time_wait_count"
	DiskBusyMax     Metric = "disk_busy_max_ratio"
	DiskQueueMax    Metric = "disk_queue_max_count"
)

// What an interface shows. Rates of bytes are as the driver counts them, with
// link headers.
const (
	BytesIn    Metric = "in_bytes_rate"
	BytesOut   Metric = "out_bytes_rate"
	PacketsIn  Metric = "in_packets_rate"
	PacketsOut Metric = "out_packets_rate"
	LinkDrops  Metric = "drops_rate"
	LinkErrors Metric = "errors_rate"
	LinkSpeed  Metric = "speed_bits_rate" // as configured; absent where unknown
	LinkMissed Metric = "missed_rate"
)

// What a service shows, and its threads as far as it applies.
const (
	CPUCores     Metric = "cpu_cores"
	CPUUser      Metric = "cpu_user_cores"
	CPUSystem    Metric = "cpu_system_cores"
	RunDelay     Metric = "run_delay_cores" // ready to run but without a core
	SleepD       Metric = "blocked_cores"   // threads in state D, time average
	Throttled    Metric = "throttled_ratio" // of the quota's periods
	ThrottledFor Metric = "throttled_cores" // thread seconds held back, per second
	Periods      Metric = "quota_periods_rate"
	ThrottledN   Metric = "throttled_periods_rate"
	ResidentSet  Metric = "rss_bytes"
	MemoryUsed   Metric = "memory_bytes" // of the cgroup, without page cache that can go
	MemoryCache  Metric = "memory_cache_bytes"
	MemoryEvents Metric = "memory_events_rate" // memory.events high and max, or failcnt
	OOMKills     Metric = "oom_kills_rate"
	Threads      Metric = "threads_count"
	Processes    Metric = "processes_count"
	Files        Metric = "files_count"
	FilesMost    Metric = "file_limit_count"
	Voluntary    Metric = "voluntary_switches_rate"
	Involuntary  Metric = "involuntary_switches_rate"
	ThreadMax    Metric = "thread_max_cores" // the busiest single thread
	Sockets      Metric = "established_count"
	AcceptQueue  Metric = "accept_queue_count" // connections that wait to be accepted, the fullest socket
	AcceptLimit  Metric = "accept_limit_count"
	InService    Metric = "passive_opens_rate" // connections accepted, where it can be told apart
	OwnPSICPU    Metric = "own_psi_cpu_some_ratio"
	OwnPSIMemory Metric = "own_psi_memory_full_ratio"
	ServiceFault Metric = "major_faults_rate"
)

// What a JVM shows without an agent. The states of its threads are those of the
// last thread dump, which may be as old as the dumps are apart.
const (
	HeapUsed      Metric = "heap_used_bytes"
	HeapCapacity  Metric = "heap_capacity_bytes"
	HeapMax       Metric = "heap_max_bytes"
	OldUsed       Metric = "old_used_bytes"
	MetaspaceUsed Metric = "metaspace_used_bytes"
	GCCount       Metric = "gc_rate"
	GCTime        Metric = "gc_ratio" // of the time
	SafepointTime Metric = "safepoint_ratio"
	Classes       Metric = "classes_loaded_rate"
	Compilations  Metric = "compilations_rate"
	CompileTime   Metric = "compile_cores"
	LiveThreads   Metric = "java_threads_count"
	Runnable      Metric = "threads_runnable_count"
	Waiting       Metric = "threads_waiting_count"
	Blocked       Metric = "threads_blocked_count"
	TimedWaiting  Metric = "threads_timed_waiting_count"
	DumpTime      Metric = "thread_dump_us" // how long the last dump took; most of it stops the machine
)

// What the threads of a pool of a JVM do, by its thread dumps. Idle are those
// without work; the busy that neither run nor are blocked nor wait for a socket
// wait for something else.
const (
	PoolThreads Metric = "threads_count"
	PoolBusy    Metric = "threads_busy_count"
	PoolRunning Metric = "threads_running_count"
	PoolInIO    Metric = "threads_in_io_count" // they wait for a socket
	PoolBlocked Metric = "threads_blocked_count"
)

// What a web server counts of itself.
const (
	ServerRequests    Metric = "requests_rate"
	ServerAccepts     Metric = "accepts_rate"
	ServerHandled     Metric = "handled_rate"
	ServerActive      Metric = "active_count"
	ServerReading     Metric = "reading_count"
	ServerWriting     Metric = "writing_count"
	ServerWaiting     Metric = "waiting_count"
	UpstreamRequests  Metric = "upstream_requests_rate"
	UpstreamConnects  Metric = "upstream_connects_rate"
	UpstreamOverflows Metric = "upstream_overflows_rate"
)
