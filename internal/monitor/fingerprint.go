package monitor

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"prony/internal/cgroup"
	"prony/internal/proc"
)

// factFiles are facts that are a file with one line.
func factFiles() map[string]string {
	const cpu, freq = "/sys/devices/system/cpu/", "/sys/devices/system/cpu/cpu0/cpufreq/"
	return map[string]string{
		"clock_source":      "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		"clock_sources":     "/sys/devices/system/clocksource/clocksource0/available_clocksource",
		"governor":          freq + "scaling_governor",
		"frequency_driver":  freq + "scaling_driver",
		"frequency_max_khz": freq + "cpuinfo_max_freq",
		"frequency_min_khz": freq + "cpuinfo_min_freq",
		"intel_no_turbo":    cpu + "intel_pstate/no_turbo",
		"boost":             cpu + "cpufreq/boost",
		"smt":               cpu + "smt/control",
		"cpus_online":       cpu + "online",
		"cpus_isolated":     cpu + "isolated",
		"idle_driver":       cpu + "cpuidle/current_driver",
		"numa_nodes":        "/sys/devices/system/node/online",
		"kernel_command":    "/proc/cmdline",
		"kernel_build":      "/proc/version",
		"vendor":            "/sys/class/dmi/id/sys_vendor",
		"product":           "/sys/class/dmi/id/product_name",
		"hypervisor":        "/sys/hypervisor/type",
		"container":         "/run/systemd/container",
		"irq_affinity":      "/proc/irq/default_smp_affinity",
	}
}

// mitigations are the files in which the kernel says what it does about flaws
// of the processor (Documentation/admin-guide/hw-vuln).
func mitigations() []string {
	return []string{
		"gather_data_sampling", "indirect_target_selection", "itlb_multihit", "l1tf", "mds", "meltdown", "mmio_stale_data",
		"reg_file_data_sampling", "retbleed", "spec_rstack_overflow", "spec_store_bypass", "spectre_v1", "spectre_v2",
		"srbds", "tsa", "tsx_async_abort", "vmscape",
	}
}

const (
	mitigationFolder = "/sys/devices/system/cpu/vulnerabilities/"
	hugePages        = "/sys/kernel/mm/transparent_hugepage/enabled"
	osRelease        = "/etc/os-release"
)

// environmentFiles are all files that an environment is made of, for those who
// read many at once.
func environmentFiles() []string {
	all := []string{"/proc/stat", "/proc/cpuinfo", "/proc/meminfo", "/proc/net/dev", "/proc/self/limits", hugePages, osRelease,
		settingFile("kernel.hostname"), settingFile("kernel.arch")}
	for _, name := range settings() {
		all = append(all, settingFile(name))
	}
	for _, file := range factFiles() {
		all = append(all, file)
	}
	for _, name := range mitigations() {
		all = append(all, mitigationFolder+name)
	}
	return all
}

// gatherEnvironment fills in what it finds.
func gatherEnvironment(facts map[string]string, src source, here bool) {
	keep := func(name, value string) {
		if value != "" {
			facts[name] = value
		}
	}
	for name, file := range factFiles() {
		keep(name, word(src, file))
	}
	for _, name := range mitigations() {
		keep("mitigation_"+name, word(src, mitigationFolder+name))
	}
	keep("huge_pages", bracketed(word(src, hugePages)))
	if b, err := src.read(osRelease); err == nil {
		keep("distribution", releaseName(string(b)))
	}
	linkFacts(facts, src)
	if here {
		ownLimits(facts, src)
	}
}

// cpuFacts is what the processor says of itself.
func cpuFacts(facts map[string]string, info proc.CPUInfo) {
	if info.Sockets > 0 {
		facts["sockets"] = strconv.Itoa(info.Sockets)
	}
	if info.Microcode != "" {
		facts["microcode"] = info.Microcode
	}
	if len(info.MHz) > 0 {
		facts["frequency_mhz"] = strconv.FormatFloat(info.MHz[0], 'f', 0, 64)
	}
	flags := strings.Fields(info.Flags)
	if len(flags) == 0 {
		return
	}
	facts["cpu_flags"] = strings.Join(slices.DeleteFunc(slices.Clone(flags), func(f string) bool { return !telling(f) }), " ")
	facts["virtual"] = strconv.FormatBool(slices.Contains(flags, "hypervisor"))
}

// telling are the flags that make a difference to servers: clocks, vectors,
// ciphers, checksums, virtualisation.
func telling(flag string) bool {
	return slices.Contains([]string{
		"aes", "asimd", "atomics", "avx", "avx2", "avx512f", "constant_tsc", "crc32", "hypervisor", "invpcid", "nonstop_tsc",
		"pcid", "pclmulqdq", "pmull", "rdtscp", "sha1", "sha2", "sha_ni", "sse4_2", "sve", "tsc_deadline_timer",
		"tsc_known_freq", "tsc_reliable", "vaes", "vpclmulqdq",
	}, flag)
}

// bracketed is the choice in "always [madvise] never".
func bracketed(text string) string {
	_, rest, ok := strings.Cut(text, "[")
	if !ok {
		return text
	}
	choice, _, _ := strings.Cut(rest, "]")
	return choice
}

// releaseName finds PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" (os-release(5)).
func releaseName(text string) string {
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(name, `"'`)
		}
	}
	return ""
}

// linkFacts describes the network interfaces, but for loopback.
func linkFacts(facts map[string]string, src source) {
	var links proc.Links
	if !into(src, "/proc/net/dev", &links) {
		return
	}
	for _, l := range links {
		if l.Name == "lo" || strings.ContainsRune(l.Name, '/') {
			continue
		}
		p := linkProbe{dir: "/sys/class/net/" + l.Name, meter: newMeter(0, Head{})}
		p.look(src)
		if !p.up {
			continue
		}
		for _, name := range []string{"driver", "speed_mbit", "mtu", "duplex"} {
			if value := p.meter.head.Facts[name]; value != "" {
				facts["nic_"+l.Name+"_"+name] = value
			}
		}
		if names, err := src.list(p.dir + "/queues"); err == nil {
			facts["nic_"+l.Name+"_queues"] = strconv.Itoa(len(names))
		}
	}
}

// ownLimits is what this process may use.
func ownLimits(facts map[string]string, src source) {
	var l proc.Limits
	if into(src, "/proc/self/limits", &l) {
		facts["open_files_soft"], facts["open_files_hard"] = limitText(l.OpenFiles), limitText(l.OpenFilesHard)
	}
	local, ok := src.(*localFiles)
	if !ok {
		return
	}
	group, err := cgroup.Self(local.root)
	if err != nil {
		return
	}
	if cores, ok := group.CPUQuota(); ok {
		facts["cgroup_cpus"] = "unlimited"
		if !math.IsInf(cores, 0) {
			facts["cgroup_cpus"] = strconv.FormatFloat(cores, 'g', 6, 64)
		}
	}
	if n, ok := group.MemoryLimit(); ok {
		facts["cgroup_memory_bytes"] = limitText(n)
	}
	if list, _, ok := group.CPUs(); ok {
		facts["cgroup_cpu_set"] = list
	}
}

func limitText(n int64) string {
	if n == math.MaxInt64 {
		return "unlimited"
	}
	return strconv.FormatInt(n, 10)
}
