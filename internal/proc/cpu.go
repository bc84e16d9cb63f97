package proc

import (
	"bytes"
	"errors"
	"time"
)

// TicksPerSecond is the unit of CPU times in /proc: USER_HZ, which is 100 on
// every architecture that Go runs on, whatever the kernel's own HZ.
const TicksPerSecond = 100

// TickTime is ticks as a duration.
func TickTime(ticks int64) time.Duration {
	return time.Duration(ticks) * (time.Second / TicksPerSecond)
}

// Stat is /proc/stat: the host's CPU time since boot.
type Stat struct {
	All             CPU
	Cores           []Core // those that are online, in the order of their numbers
	ContextSwitches int64  // since boot
	Running         int64  // tasks that run or could run, now
}

// Core is the time of one core.
type Core struct {
	Number int
	CPU
}

// CPU is time by what it was spent on, in ticks since boot. Guests are counted
// in User and Nice, as the kernel does.
type CPU struct {
	User, Nice, System, Idle, IOWait, IRQ, SoftIRQ, Steal int64
}

// Total is all the time there was, stolen time included.
func (c CPU) Total() int64 { return c.Busy() + c.Idle + c.IOWait + c.Steal }

// Busy is the time that was worked: neither idle, nor waiting, nor stolen.
func (c CPU) Busy() int64 { return c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ }

// Sub is the time that passed since an earlier reading. The kernel corrects
// some counters backwards (idle and iowait, without ticks); such a step is 0.
func (c CPU) Sub(earlier CPU) CPU {
	return CPU{
		User: max(0, c.User-earlier.User), Nice: max(0, c.Nice-earlier.Nice),
		System: max(0, c.System-earlier.System), Idle: max(0, c.Idle-earlier.Idle),
		IOWait: max(0, c.IOWait-earlier.IOWait), IRQ: max(0, c.IRQ-earlier.IRQ),
		SoftIRQ: max(0, c.SoftIRQ-earlier.SoftIRQ), Steal: max(0, c.Steal-earlier.Steal),
	}
}

// Stat reads /proc/stat.
func (f FS) Stat() (Stat, error) { return read(f.path("stat"), parseStat) }

// OpenStat opens /proc/stat for many readings. A Stat that is read into again
// reuses its Cores.
func (f FS) OpenStat() (*Reader[Stat], error) { return open(f.path("stat"), parseStat) }

var errNoCPU = errors.New(`no line "cpu"`)

// parseStat reads
//
//	cpu  user nice system idle iowait irq softirq steal guest guest_nice
//	cpu0 ...
//	intr total ...
//	ctxt 11704831
//	btime, processes, procs_running 4, procs_blocked, softirq total ...
//
// in ticks (proc_stat(5); Documentation/filesystems/proc.rst, 1.7). Kernels
// before 2.6.11 end the line sooner; they are not read. The rest is skipped.
func parseStat(text []byte, s *Stat) error {
	*s = Stat{Cores: s.Cores[:0]}
	found := false
	for len(text) > 0 {
		var line []byte
		line, text = cutLine(text)
		word, rest := cutField(line)
		var err error
		switch {
		case string(word) == "cpu":
			found = true
			err = parseCPU(rest, &s.All)
		case bytes.HasPrefix(word, []byte("cpu")):
			err = s.addCore(word[3:], rest)
		case string(word) == "ctxt":
			err = first(rest, &s.ContextSwitches)
		case string(word) == "procs_running":
			err = first(rest, &s.Running)
		}
		if err != nil {
			return bad(line, err)
		}
	}
	if !found {
		return errNoCPU
	}
	return nil
}

func (s *Stat) addCore(name, rest []byte) error {
	n, err := number(name)
	if err != nil {
		return err
	}
	c := Core{Number: int(n)}
	if err := parseCPU(rest, &c.CPU); err != nil {
		return err
	}
	s.Cores = append(s.Cores, c)
	return nil
}

func parseCPU(line []byte, c *CPU) error {
	_, err := numbers(line, &c.User, &c.Nice, &c.System, &c.Idle, &c.IOWait, &c.IRQ, &c.SoftIRQ, &c.Steal)
	return err
}
