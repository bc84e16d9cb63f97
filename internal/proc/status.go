package proc

import (
	"bytes"
	"errors"
	"math"
	"os"
)

// Status is /proc/PID/status. Memory is in bytes, and 0 for a kernel thread.
type Status struct {
	PeakRSS, RSS int64 // VmHWM, VmRSS
	Threads      int64
	// CPUs is Cpus_allowed_list: "0-3,8".
	CPUs string
	// Voluntary and Involuntary are context switches of the first thread.
	Voluntary, Involuntary int64
	// UID is the effective user, and Inner the process id in the innermost
	// namespace: what a process in a container believes to be. Kernels before
	// 4.1 do not say; Inner is then 0.
	UID, Inner int64
}

// Status reads /proc/PID/status; pid 0 is the process that asks.
func (f FS) Status(pid int) (Status, error) {
	return read(f.path(process(pid), "status"), parseStatus)
}

// parseStatus reads lines like
//
//	VmHWM:	    1600 kB
//	Threads:	1
//	Cpus_allowed_list:	0-1
//	voluntary_ctxt_switches:	0
//
// (proc_pid_status(5)); kB is 1,024 bytes. Most lines are not ours.
func parseStatus(text []byte, s *Status) error {
	*s = Status{}
	return keyed(text, func(key, value []byte) error {
		switch string(key) {
		case "VmHWM":
			return kilobytes(value, &s.PeakRSS)
		case "VmRSS":
			return kilobytes(value, &s.RSS)
		case "Threads":
			return first(value, &s.Threads)
		case "Cpus_allowed_list":
			s.CPUs = string(value)
		case "voluntary_ctxt_switches":
			return first(value, &s.Voluntary)
		case "Uid":
			return first(skipFields(value, 1), &s.UID)
		case "NSpid":
			return last(value, &s.Inner)
		case "nonvoluntary_ctxt_switches":
			return first(value, &s.Involuntary)
		}
		return nil
	})
}

// last reads the last of some numbers.
func last(value []byte, into *int64) error {
	n, err := number(value[bytes.LastIndexAny(value, " \t")+1:])
	if err == nil {
		*into = n
	}
	return err
}

var errKilobytes = errors.New("not an amount in kB")

// kilobytes reads "1600 kB" as bytes.
func kilobytes(value []byte, into *int64) error {
	word, unit := cutField(value)
	n, err := number(word)
	switch {
	case err != nil:
		return err
	case string(bytes.TrimSpace(unit)) != "kB":
		return errKilobytes
	case n < 0 || n > math.MaxInt64>>10:
		return errRange
	}
	*into = n << 10
	return nil
}

// Unlimited is a limit that is not there.
const Unlimited = math.MaxInt64

// Limits is what we read of /proc/PID/limits.
type Limits struct {
	OpenFiles, OpenFilesHard int64 // [Unlimited] if there is none
}

// Limits reads /proc/PID/limits; pid 0 is the process that asks.
func (f FS) Limits(pid int) (Limits, error) {
	return read(f.path(process(pid), "limits"), parseLimits)
}

var errNoFiles = errors.New(`no line "Max open files"`)

// parseLimits reads the line
//
//	Max open files            20000                20000                files
//
// (proc_pid_limits(5)): the soft limit, which counts, and the hard one.
func parseLimits(text []byte, l *Limits) error {
	*l = Limits{}
	for len(text) > 0 {
		var line []byte
		line, text = cutLine(text)
		rest, ok := bytes.CutPrefix(line, []byte("Max open files "))
		if !ok {
			continue
		}
		soft, rest := cutField(rest)
		hard, _ := cutField(rest)
		err := errors.Join(limit(soft, &l.OpenFiles), limit(hard, &l.OpenFilesHard))
		if err != nil {
			return bad(line, err)
		}
		return nil
	}
	return errNoFiles
}

func limit(word []byte, into *int64) (err error) {
	if string(word) == "unlimited" {
		*into = Unlimited
		return nil
	}
	*into, err = number(word)
	return err
}

// OpenFiles counts the open descriptors of a process; pid 0 is the one that
// asks. Since Linux 6.2 the kernel has the number ready, as the size of the
// folder; before that, and below another root, the folder is listed, which
// takes about 0.3 us a descriptor.
func (f FS) OpenFiles(pid int) (int64, error) {
	path := f.path(process(pid), "fd")
	own := f.Root == "" || f.Root == "/proc"
	if info, err := os.Stat(path); own && err == nil && info.Size() > 0 {
		return info.Size(), nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return 0, err
	}
	n := int64(len(names))
	if own && pid == 0 {
		n-- // the listing itself has one open
	}
	return n, nil
}
