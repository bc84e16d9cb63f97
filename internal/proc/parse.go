package proc

// The methods here are for those who have the text of a file from somewhere
// else, another host, say. They overwrite the value, but use the memory of its
// slices again.

// Parse reads the text of /proc/stat.
func (s *Stat) Parse(text []byte) error { return parseStat(text, s) }

// Parse reads the text of /proc/PID/stat or of a thread's.
func (t *Task) Parse(text []byte) error { return parseTask(text, t) }

// Parse reads the text of /proc/PID/schedstat or of a thread's.
func (s *SchedStat) Parse(text []byte) error { return parseSchedStat(text, s) }

// Parse reads the text of /proc/PID/status.
func (s *Status) Parse(text []byte) error { return parseStatus(text, s) }

// Parse reads the text of /proc/PID/limits.
func (l *Limits) Parse(text []byte) error { return parseLimits(text, l) }

// Parse reads the text of /proc/net/sockstat or sockstat6.
func (s *Sockets) Parse(text []byte) error { return parseSockets(text, s) }

// Parse reads the text of /proc/cpuinfo.
func (c *CPUInfo) Parse(text []byte) error { return parseCPUInfo(text, c) }

// Parse reads the text of /proc/meminfo.
func (m *Memory) Parse(text []byte) error { return parseMemory(text, m) }

// Parse reads the text of /proc/loadavg.
func (l *Load) Parse(text []byte) error { return parseLoad(text, l) }

// Parse reads the text of a file of pressure, of the host or of a control
// group.
func (p *Pressure) Parse(text []byte) error { return parsePressure(text, p) }
