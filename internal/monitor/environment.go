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
// they come back, what TCP assumes, whether io_uring may be used, and the id
// of the boot, by which two processes learn that they share a host.
func settings() []string {
	return []string{
		"fs.file-max",
		"fs.nr_open",
		"kernel.io_uring_disabled",
		"kernel.random.boot_id",
		"net.core.default_qdisc",
		"net.core.netdev_max_backlog",
		"net.core.rmem_max",
		"net.core.somaxconn",
		"net.core.wmem_max",
		"net.ipv4.ip_local_port_range",
		"net.ipv4.tcp_congestion_control",
		"net.ipv4.tcp_fin_timeout",
		"net.ipv4.tcp_max_syn_backlog",
		"net.ipv4.tcp_max_tw_buckets",
		"net.ipv4.tcp_rmem",
		"net.ipv4.tcp_slow_start_after_idle",
		"net.ipv4.tcp_syncookies",
		"net.ipv4.tcp_tw_reuse",
		"net.ipv4.tcp_wmem",
	}
}

// Environment describes the machine that the process runs on. What cannot be
// found out is left empty, and settings that the kernel does not have are not
// in the map.
func Environment() result.Environment { return environment(Self{}) }

func environment(cfg Self) result.Environment {
	e := result.Environment{
		OS:   runtime.GOOS,
		Arch: runtime.GOARCH,
		CPUs: runtime.NumCPU(),
		Go:   runtime.Version(),
	}
	e.Hostname, _ = os.Hostname()
	fillPlatform(&e)
	fillFiles(&e, cfg.root())
	return e
}

// fillFiles is the part that proc knows; elsewhere it finds nothing.
func fillFiles(e *result.Environment, fs proc.FS) {
	if text, err := fs.Version(); err == nil {
		e.Kernel = release(text)
	}
	if info, err := fs.CPUInfo(); err == nil {
		e.CPUModel = info.Model
	}
	if m, err := fs.Memory(); err == nil {
		e.Memory = m.Total
	}
	for _, name := range settings() {
		if value, err := fs.Sysctl(name); err == nil {
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
