package monitor

import (
	"math"
	"path"
	"strconv"
	"strings"

	"prony/internal/proc"
	"prony/internal/result"
)

// groupProbe samples the control group of a service. The zero groupProbe knows
// nothing.
type groupProbe struct {
	pid      int  // whose group it is
	own      bool // the service has it to itself
	cpu      groupPlace
	account  groupPlace // CPU time of version 1
	memory   groupPlace
	pressure groupPlace // always of version 2
	quota    float64    // cores; +Inf without
	quotaDir string     // the group that sets it, which counts the throttling
	found    bool       // it is known where the process stands
	values   table
}

// groupPlace is the folder of a controller; "" if it is not known, or the root,
// which is the whole machine.
type groupPlace struct {
	version int
	dir     string
	top     string // the mount point
}

// findGroup finds the group of a process.
func findGroup(src source, pid int, own bool) *groupProbe {
	g := &groupProbe{pid: pid, own: own, quota: math.Inf(1), values: table{}}
	members, err := src.read("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return g
	}
	lines := strings.Split(string(members), "\n")
	mounts, err := src.read("/proc/self/mountinfo")
	if err != nil {
		return g
	}
	all := groupMounts(string(mounts))
	g.found = len(all) > 0
	g.cpu = placeOf("cpu", lines, all)
	g.account = placeOf("cpuacct", lines, all)
	g.memory = placeOf("memory", lines, all)
	g.pressure = placeOf("", lines, all)
	g.findQuota(src)
	return g
}

// groupMount is where a hierarchy is mounted: its part below root.
type groupMount struct {
	version     int
	root, point string
	options     []string
}

// groupMounts reads the lines of mountinfo that are control groups
// (proc_pid_mountinfo(5)).
func groupMounts(text string) []groupMount {
	var all []groupMount
	for line := range strings.Lines(text) {
		front, back, _ := strings.Cut(strings.TrimSpace(line), " - ")
		where, what := strings.Fields(front), strings.Fields(back)
		if len(where) < 5 || len(what) < 3 {
			continue
		}
		version := map[string]int{"cgroup": 1, "cgroup2": 2}[what[0]]
		if version > 0 {
			all = append(all, groupMount{version, where[3], where[4], strings.Split(what[2], ",")})
		}
	}
	return all
}

// placeOf finds the folder of a controller: in the hierarchy of version 1 that
// has it, or else in version 2. "" asks for version 2.
func placeOf(controller string, members []string, mounts []groupMount) groupPlace {
	for _, version := range []int{1, 2} {
		for _, line := range members {
			parts := strings.SplitN(line, ":", 3)
			if len(parts) < 3 || (version == 2) != (parts[1] == "") {
				continue
			}
			if version == 1 && !contains(strings.Split(parts[1], ","), controller) {
				continue
			}
			return mountedAt(version, controller, parts[2], mounts)
		}
	}
	return groupPlace{}
}

func mountedAt(version int, controller, group string, mounts []groupMount) groupPlace {
	for _, m := range mounts {
		if m.version != version || version == 1 && !contains(m.options, controller) {
			continue
		}
		below, ok := strings.CutPrefix(group, strings.TrimSuffix(m.root, "/"))
		if !ok || below == "" || below == "/" || strings.Contains(group, "/..") {
			return groupPlace{version: version, top: m.point}
		}
		return groupPlace{version: version, dir: path.Join(m.point, below), top: m.point}
	}
	return groupPlace{}
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one && one != "" {
			return true
		}
	}
	return false
}

// findQuota looks for the tightest quota from the group up: a parent's binds
// its children. It reports whether that is another one than before; one that
// cannot be read any more is kept.
func (g *groupProbe) findQuota(src source) (changed bool) {
	quota, from := math.Inf(1), ""
	for dir := g.cpu.dir; dir != "" && len(dir) > len(g.cpu.top); dir = path.Dir(dir) {
		if q, ok := quotaOf(src, g.cpu.version, dir); ok && q < quota {
			quota, from = q, dir
		}
	}
	if from == "" {
		if g.quotaDir == "" {
			g.quotaDir = g.cpu.dir
		}
		return false
	}
	changed = quota != g.quota
	g.quota, g.quotaDir = quota, from
	return changed
}

// quotaOf is quota by period in one folder.
func quotaOf(src source, version int, dir string) (cores float64, ok bool) {
	text := word(src, dir+"/cpu.max")
	if version == 1 {
		text = word(src, dir+"/cpu.cfs_quota_us")
		text += " " + word(src, dir+"/cpu.cfs_period_us")
	}
	words := strings.Fields(text)
	if len(words) != 2 {
		return 0, false
	}
	quota, err1 := strconv.ParseInt(words[0], 10, 64)
	period, err2 := strconv.ParseInt(words[1], 10, 64)
	if err1 != nil || err2 != nil || quota <= 0 || period <= 0 {
		return 0, false
	}
	return float64(quota) / float64(period), true
}

// tell notes the limits.
func (g *groupProbe) tell(src source, m *meter) {
	if !math.IsInf(g.quota, 0) && g.quotaDir != "" {
		m.fact("cpu_quota_cores", strconv.FormatFloat(g.quota, 'g', 6, 64))
	}
	limit := int64(math.MaxInt64)
	name := map[int]string{1: "/memory.limit_in_bytes", 2: "/memory.max"}[g.memory.version]
	for dir := g.memory.dir; dir != "" && len(dir) > len(g.memory.top); dir = path.Dir(dir) {
		if n, ok := whole(src, dir+name); ok {
			limit = min(limit, n)
		}
	}
	if limit < math.MaxInt64-1<<20 { // what version 1 shows for none is a little less
		m.fact("memory_limit_bytes", strconv.FormatInt(limit, 10))
	}
	if dir := g.cpu.dir; dir != "" {
		m.fact("cgroup", strings.TrimPrefix(dir, g.cpu.top))
		m.fact("cgroup_version", strconv.Itoa(g.cpu.version))
	}
}

// members lists the processes of a group that is the service's own.
func (g *groupProbe) members(src source) []int {
	for _, p := range []groupPlace{g.cpu, g.memory, g.pressure} {
		if g.own && p.dir != "" {
			return pids(src, p.dir+"/cgroup.procs")
		}
	}
	return nil
}

// sample notes what the group counts, and reports whether CPU time is among it.
// What others in the group do is not the service's: of a group that it shares,
// only throttling and kills count.
func (g *groupProbe) sample(src source, m *meter) (cpu bool) {
	if g.values == nil {
		return false
	}
	if g.findQuota(src) { // the limit of a startup has ended
		g.tell(src, m)
	}
	g.throttling(src, m)
	g.events(src, m)
	if !g.own {
		return false
	}
	g.store(src, m)
	if dir := g.pressure.dir; dir != "" {
		samplePressure(src, m, dir+"/cpu.pressure", result.OwnPSICPU, "")
		samplePressure(src, m, dir+"/memory.pressure", "", result.OwnPSIMemory)
	}
	return g.time(src, m)
}

func (g *groupProbe) throttling(src source, m *meter) {
	if g.found && math.IsInf(g.quota, 0) {
		m.gauge(result.Throttled, 0) // without a quota nothing is throttled: that is known
		return
	}
	if g.quotaDir == "" || !into(src, g.quotaDir+"/cpu.stat", g.values) {
		return
	}
	periods, throttled := g.values.get("nr_periods"), g.values.get("nr_throttled")
	m.count(result.Periods, periods, 1)
	m.count(result.ThrottledN, throttled, 1)
	m.ratio(result.Throttled, throttled, periods)
	if ns := g.values.get("throttled_time"); ns >= 0 {
		m.count(result.ThrottledFor, ns, 1e-9)
	} else {
		m.count(result.ThrottledFor, g.values.get("throttled_usec"), 1e-6)
	}
}

// time notes the CPU time of the group.
func (g *groupProbe) time(src source, m *meter) bool {
	if dir := g.account.dir; g.account.version == 1 && dir != "" {
		n, ok := whole(src, dir+"/cpuacct.usage")
		if ok {
			m.count(result.CPUCores, n, 1e-9)
		}
		if into(src, dir+"/cpuacct.stat", g.values) {
			m.count(result.CPUUser, g.values.get("user"), 1.0/proc.TicksPerSecond)
			m.count(result.CPUSystem, g.values.get("system"), 1.0/proc.TicksPerSecond)
		}
		return ok
	}
	// Version 2 counts the CPU time of every group, with or without controller.
	dir := g.pressure.dir
	if dir == "" || g.account.version == 1 || !into(src, dir+"/cpu.stat", g.values) {
		return false
	}
	m.count(result.CPUCores, g.values.get("usage_usec"), 1e-6)
	m.count(result.CPUUser, g.values.get("user_usec"), 1e-6)
	m.count(result.CPUSystem, g.values.get("system_usec"), 1e-6)
	return g.values.get("usage_usec") >= 0
}

// store notes the memory. Page cache that was not used of late can go at once,
// and is not counted as used.
func (g *groupProbe) store(src source, m *meter) {
	dir := g.memory.dir
	if dir == "" {
		return
	}
	usage, inactive, cache := "/memory.current", "inactive_file", "file"
	if g.memory.version == 1 {
		usage, inactive, cache = "/memory.usage_in_bytes", "total_inactive_file", "total_cache"
	}
	n, ok := whole(src, dir+usage)
	if !ok || !into(src, dir+"/memory.stat", g.values) {
		return
	}
	m.gauge(result.MemoryUsed, float64(max(0, n-max(0, g.values.get(inactive)))))
	if b := g.values.get(cache); b >= 0 {
		m.gauge(result.MemoryCache, float64(b))
	}
}

// events notes that memory was refused, and processes killed for it.
func (g *groupProbe) events(src source, m *meter) {
	dir := g.memory.dir
	if dir == "" {
		return
	}
	if g.memory.version == 2 {
		if into(src, dir+"/memory.events", g.values) {
			m.count(result.MemoryEvents, g.values.get("high")+g.values.get("max"), 1)
			m.count(result.OOMKills, g.values.get("oom_kill"), 1)
		}
		return
	}
	if n, ok := whole(src, dir+"/memory.failcnt"); ok {
		m.count(result.MemoryEvents, n, 1)
	}
	if into(src, dir+"/memory.oom_control", g.values) {
		m.count(result.OOMKills, g.values.get("oom_kill"), 1)
	}
}
