package main

import (
	"os"
	"runtime"
	"strings"
	"time"
)

// machine is where the figures were taken.
type machine struct {
	CPU        string        `json:"cpu"`
	Cores      int           `json:"cores"`
	Virtual    bool          `json:"virtual"`
	MemoryKiB  int64         `json:"memory_kib"`
	Kernel     string        `json:"kernel"`
	Go         string        `json:"go"`
	CallCost   time.Duration `json:"system_call_ns"` // one getppid
	LoadBefore string        `json:"load_average_before"`
	Files      int           `json:"file_limit"`
	Servers    int           `json:"server_core"`
	Generators int           `json:"generator_core"`
}

func describe(s settings, files int) machine {
	cpu := readText("/proc/cpuinfo")
	memory, _ := field([]byte(readText("/proc/meminfo")), `(?m)^MemTotal:\s+(\d+) kB`)
	return machine{
		CPU: valueOf(cpu, "model name"), Cores: hostCores(), Virtual: strings.Contains(valueOf(cpu, "flags"), "hypervisor"),
		MemoryKiB: int64(memory), Kernel: runtime.GOOS + " " + readText("/proc/sys/kernel/osrelease"), Go: runtime.Version(),
		LoadBefore: strings.Join(strings.Fields(readText("/proc/loadavg"))[:3], " "), CallCost: callCost(),
		Files: files, Servers: s.serverCore, Generators: s.generatorCore,
	}
}

// hostCores counts the machine's processors, not those this process may use:
// that would depend on how it was started.
func hostCores() int {
	if n := strings.Count("\n"+readText("/proc/cpuinfo"), "\nprocessor"); n > 0 {
		return n
	}
	return runtime.NumCPU()
}

// readText reads a small file of the kernel; "unknown" words if it is not there.
func readText(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown unknown unknown"
	}
	return strings.TrimSpace(string(text))
}

// valueOf returns the first value of a "name : value" list.
func valueOf(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
