package proc

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// Sysctl reads a kernel setting by its dotted name, "net.core.somaxconn", and
// returns its value with blanks made single: "32768 60999". It fails with
// fs.ErrNotExist where the kernel has no such setting.
func (f FS) Sysctl(name string) (string, error) {
	text, err := os.ReadFile(f.path("sys", path.Clean("/"+strings.ReplaceAll(name, ".", "/"))))
	if err != nil {
		return "", err
	}
	return strings.Join(strings.Fields(string(text)), " "), nil
}

// PortRange reads net.ipv4.ip_local_port_range: the first and the last port
// that the kernel gives to outgoing connections, of IPv4 and IPv6.
func (f FS) PortRange() (low, high int64, err error) {
	type ports struct{ low, high int64 }
	p, err := read(f.path("sys/net/ipv4/ip_local_port_range"), func(text []byte, p *ports) error {
		line, _ := cutLine(text)
		if _, err := numbers(line, &p.low, &p.high); err != nil {
			return bad(line, err)
		}
		return nil
	})
	return p.low, p.high, err
}

// BootID reads sys/kernel/random/boot_id: two hosts with the same one are the
// same host, containers included.
func (f FS) BootID() (string, error) { return f.Sysctl("kernel.random.boot_id") }

// CPUInfo is what we read of /proc/cpuinfo.
type CPUInfo struct {
	Model string    // of the first core; "" where the architecture does not say
	MHz   []float64 // of each core, now; empty where the architecture does not say
	Cores int       // how many are listed
	// Sockets is how many different physical ids there are, 0 if none is named.
	Sockets int
	// Microcode and Flags are the first core's; "" where there are none.
	Microcode, Flags string
}

// CPUInfo reads /proc/cpuinfo.
func (f FS) CPUInfo() (CPUInfo, error) { return read(f.path("cpuinfo"), parseCPUInfo) }

// parseCPUInfo reads lines like
//
//	processor	: 0
//	model name	: AMD EPYC
//	cpu MHz		: 2445.422
//
// Names differ between architectures: ARM has "Model" or nothing, POWER
// "clock : 3425.000000MHz"; those are left empty.
func parseCPUInfo(text []byte, c *CPUInfo) error {
	*c = CPUInfo{}
	return keyed(text, func(key, value []byte) error {
		switch string(key) {
		case "physical id":
			n, err := number(value)
			if err != nil {
				return err
			}
			c.Sockets = max(c.Sockets, int(min(n, cpusMost))+1)
		case "microcode":
			keep(&c.Microcode, value)
		case "flags", "Features":
			keep(&c.Flags, value)
		case "processor":
			c.Cores++
		case "model name":
			keep(&c.Model, value)
		case "cpu MHz":
			mhz, err := strconv.ParseFloat(string(value), 64)
			if err != nil || math.IsNaN(mhz) || math.IsInf(mhz, 0) {
				return errFloat
			}
			c.MHz = append(c.MHz, mhz)
		}
		return nil
	})
}

// cpusMost bounds the number of a socket, as the kernel's configuration does.
const cpusMost = 1 << 16

// keep takes the first of many values.
func keep(into *string, value []byte) {
	if *into == "" {
		*into = string(value)
	}
}

var errFloat = errors.New("not a number")

// Memory is what we read of /proc/meminfo, in bytes.
type Memory struct {
	Total, Available    int64
	SwapTotal, SwapFree int64
	// AvailableOK is false before Linux 3.14, which had no such line.
	AvailableOK bool
}

// Memory reads /proc/meminfo.
func (f FS) Memory() (Memory, error) { return read(f.path("meminfo"), parseMemory) }

var errNoMemory = errors.New(`no line "MemTotal"`)

// parseMemory reads lines like "MemTotal:       24684092 kB".
func parseMemory(text []byte, m *Memory) error {
	*m = Memory{}
	found := false
	err := keyed(text, func(key, value []byte) error {
		switch string(key) {
		case "MemTotal":
			found = true
			return kilobytes(value, &m.Total)
		case "SwapTotal":
			return kilobytes(value, &m.SwapTotal)
		case "SwapFree":
			return kilobytes(value, &m.SwapFree)
		case "MemAvailable":
			m.AvailableOK = true
			return kilobytes(value, &m.Available)
		}
		return nil
	})
	if err == nil && !found {
		return errNoMemory
	}
	return err
}

// Version reads /proc/version as it is.
func (f FS) Version() (string, error) {
	text, err := os.ReadFile(f.path("version"))
	return string(bytes.TrimSpace(text)), err
}

// Load is /proc/loadavg.
type Load struct {
	One, Five, Fifteen float64 // averages over so many minutes
	Running, Tasks     int64   // tasks that could run, and all of them, now
	LastPID            int64   // the id that was given out last: another one, and something was started
}

// Load reads /proc/loadavg.
func (f FS) Load() (Load, error) { return read(f.path("loadavg"), parseLoad) }

var errLoad = errors.New("want three averages, then running/all")

// parseLoad reads "6.25 6.21 3.99 4/191 17907" (proc_loadavg(5)).
func parseLoad(text []byte, l *Load) error {
	line, _ := cutLine(text)
	*l = Load{}
	rest := line
	for _, into := range []*float64{&l.One, &l.Five, &l.Fifteen} {
		var word []byte
		word, rest = cutField(rest)
		n, err := strconv.ParseFloat(string(word), 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return bad(line, errLoad)
		}
		*into = n
	}
	word, rest := cutField(rest)
	running, tasks, ok := bytes.Cut(word, []byte{'/'})
	if !ok || first(running, &l.Running) != nil || first(tasks, &l.Tasks) != nil || first(rest, &l.LastPID) != nil {
		return bad(line, errLoad)
	}
	return nil
}
