package monitor

import (
	"os"
	"runtime"
	"strings"

	"prony/internal/proc"
	"prony/internal/result"
)

// settings are the kernel settings that can change a result: how many
// connections may wait to be accepted, how many ports there are and how soon
// they come back, what TCP assumes, how packets are taken in, how memory is
// shared out, whether io_uring may be used, and the id of the boot, by which
// two processes learn that they share a host.
func settings() []string {
	return []string{
		"fs.file-max",
		"fs.nr_open",
		"kernel.io_uring_disabled",
		"kernel.nmi_watchdog",
		"kernel.numa_balancing",
		"kernel.pid_max",
		"kernel.random.boot_id",
		"kernel.sched_autogroup_enabled",
		"kernel.threads-max",
		"net.core.busy_poll",
		"net.core.busy_read",
		"net.core.default_qdisc",
		"net.core.netdev_budget",
		"net.core.netdev_budget_usecs",
		"net.core.netdev_max_backlog",
		"net.core.rmem_max",
		"net.core.rps_sock_flow_entries",
		"net.core.somaxconn",
		"net.core.wmem_max",
		"net.ipv4.ip_local_port_range",
		"net.ipv4.tcp_autocorking",
		"net.ipv4.tcp_congestion_control",
		"net.ipv4.tcp_ecn",
		"net.ipv4.tcp_fin_timeout",
		"net.ipv4.tcp_max_orphans",
		"net.ipv4.tcp_max_syn_backlog",
		"net.ipv4.tcp_max_tw_buckets",
		"net.ipv4.tcp_mem",
		"net.ipv4.tcp_notsent_lowat",
		"net.ipv4.tcp_rmem",
		"net.ipv4.tcp_slow_start_after_idle",
		"net.ipv4.tcp_syncookies",
		"net.ipv4.tcp_timestamps",
		"net.ipv4.tcp_tw_reuse",
		"net.ipv4.tcp_wmem",
		"net.netfilter.nf_conntrack_buckets",
		"net.netfilter.nf_conntrack_max",
		"net.netfilter.nf_conntrack_tcp_timeout_time_wait",
		"vm.max_map_count",
		"vm.overcommit_memory",
		"vm.swappiness",
		"vm.zone_reclaim_mode",
	}
}

// settingFile is the file of a setting.
func settingFile(name string) string {
	return "/proc/sys/" + strings.ReplaceAll(name, ".", "/")
}

// Environment describes the machine that the process runs on. What cannot be
// found out is left empty, and settings and facts that the machine does not
// have are not in the maps.
func Environment() result.Environment { return environment(Self{}) }

func environment(cfg Self) result.Environment {
	root := cfg.system()
	if root == "/" {
		root = ""
	}
	src := newLocalFiles(root)
	defer src.close()
	if cfg.Root != "" {
		src.proc = cfg.root()
	}
	return environmentOf(src, true)
}

// environmentOf describes the machine of a source; here says that it is the one
// we run on.
func environmentOf(src source, here bool) result.Environment {
	e := result.Environment{OS: "linux", Facts: map[string]string{}}
	if here {
		e.OS, e.Arch, e.CPUs, e.Go = runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()
		e.Hostname, _ = os.Hostname()
		fillPlatform(&e)
	}
	fillFiles(&e, src)
	if !here {
		e.Hostname = word(src, settingFile("kernel.hostname"))
		e.Arch = word(src, settingFile("kernel.arch")) // since Linux 6.1
	}
	gatherEnvironment(e.Facts, src, here)
	if len(e.Facts) == 0 {
		e.Facts = nil
	}
	return e
}

// fillFiles is the part that proc knows; elsewhere it finds nothing.
func fillFiles(e *result.Environment, src source) {
	if text := word(src, "/proc/version"); text != "" {
		e.Kernel = release(text)
	}
	var info proc.CPUInfo
	if into(src, "/proc/cpuinfo", &info) {
		e.CPUModel = info.Model
		cpuFacts(e.Facts, info)
		if e.CPUs == 0 {
			e.CPUs = info.Cores
		}
	}
	var m proc.Memory
	if into(src, "/proc/meminfo", &m) {
		e.Memory = m.Total
	}
	for _, name := range settings() {
		if value := word(src, settingFile(name)); value != "" {
			if e.Sysctl == nil {
				e.Sysctl = map[string]string{}
			}
			e.Sysctl[name] = value
		}
	}
}

// release is the third word of "Linux version 6.18.44 (builder) ...".
func release(version string) string {
	words := strings.Fields(version)
	if len(words) < 3 {
		return version
	}
	return words[2]
}
