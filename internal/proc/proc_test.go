package proc_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"prony/internal/proc"
)

// fixture is a small proc file system.
var fixture = proc.FS{Root: "testdata/proc"}

// reading is one call and what the fixture makes of it.
type reading struct {
	name string
	call func() (any, error)
	want any
}

// of makes a call of a method with a result and an error.
func of[T any](v T, err error) func() (any, error) {
	return func() (any, error) { return v, err }
}

//house:long a flat table of readings
func readings() []reading {
	return []reading{
		{"stat", of(fixture.Stat()), proc.Stat{
			All: proc.CPU{User: 131815, Nice: 26257, System: 35490, Idle: 208833, IOWait: 1321, IRQ: 7, SoftIRQ: 1122, Steal: 1527},
			Cores: []proc.Core{
				{Number: 0, CPU: proc.CPU{User: 65978, Nice: 12585, System: 17542, Idle: 105878, IOWait: 144, IRQ: 3, SoftIRQ: 374, Steal: 712}},
				{Number: 2, CPU: proc.CPU{User: 65837, Nice: 13671, System: 17947, Idle: 102955, IOWait: 1177, IRQ: 4, SoftIRQ: 748, Steal: 814}},
			},
			ContextSwitches: 11704831, Running: 4}},
		{"process", of(fixture.Process(0)), proc.Task{ID: 4242, Comm: [16]byte([]byte("a b) (c) d\x00\x00\x00\x00\x00\x00")), State: 'S', Parent: 1, MajorFaults: 3, User: 500, System: 70, Threads: 12, Start: 203625, RSSPages: 356}},
		{"thread", of(fixture.Thread(0, 4242)), proc.Task{ID: 4242, Comm: [16]byte([]byte("worker\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")), State: 'R', Parent: 1, MajorFaults: 3, User: 300, System: 20, Threads: 12, Start: 203630, RSSPages: 356}},
		{"schedstat of a thread", of(fixture.SchedStat(0, 4242)), proc.SchedStat{RunNS: 1239055, WaitNS: 122158, Slices: 2}},
		{"schedstat", of(fixture.MainSchedStat(0)), proc.SchedStat{RunNS: 1239055, WaitNS: 122158, Slices: 2}},
		{"status", of(fixture.Status(0)), proc.Status{PeakRSS: 1600 << 10, RSS: 1500 << 10, Threads: 12, CPUs: "0-1", Voluntary: 7, Involuntary: 1}},
		{"status by number", of(fixture.Status(4242)), proc.Status{PeakRSS: 1600 << 10, RSS: 1500 << 10, Threads: 12, CPUs: "0-1", Voluntary: 7, Involuntary: 1}},
		{"limits", of(fixture.Limits(0)), proc.Limits{OpenFiles: 20000, OpenFilesHard: proc.Unlimited}},
		{"open files", of(fixture.OpenFiles(0)), int64(3)},
		{"sockets", of(fixture.Sockets()), proc.Sockets{InUse: 11, Orphans: 1, TimeWait: 9, InUse6: 5}},
		{"counters", of(fixture.Counters()), proc.Counters{"Ip.Forwarding": 2, "Ip.DefaultTTL": 64, "Tcp.RtoMin": 200, "Tcp.MaxConn": -1, "Tcp.OutSegs": 1818189,
			"Tcp.RetransSegs": 445, "TcpExt.SyncookiesSent": 0, "TcpExt.ListenOverflows": 37, "TcpExt.ListenDrops": 40}},
		{"pressure of cpu", of(fixture.Pressure(proc.PressureCPU)), proc.Pressure{SomeUS: 698428236, FullUS: 5, FullOK: true}},
		{"pressure without full", of(fixture.Pressure(proc.PressureIO)), proc.Pressure{SomeUS: 9}},
		{"a setting", of(fixture.Sysctl("net.core.somaxconn")), "4096"},
		{"a setting of two numbers", of(fixture.Sysctl("net.ipv4.ip_local_port_range")), "32768 60999"},
		{"boot id", of(fixture.BootID()), "6dd618cb-ec97-4f58-ab65-f5350878eda9"},
		{"cpuinfo", of(fixture.CPUInfo()), proc.CPUInfo{Model: "Some CPU: fast", MHz: []float64{2445.422, 1200}, Cores: 2}},
		{"meminfo", of(fixture.Memory()), proc.Memory{Total: 24684092 << 10, Available: 23954344 << 10, AvailableOK: true}},
		{"version", of(fixture.Version()), "Linux version 6.18.44 (builder@host) (gcc) #1 SMP"},
		{"loadavg", of(fixture.Load()), proc.Load{One: 6.25, Five: 6.21, Fifteen: 3.99, Running: 4, Tasks: 191, LastPID: 17907}},
	}
}

func TestReadings(t *testing.T) {
	for _, c := range readings() {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.call()
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestPortRange(t *testing.T) {
	low, high, err := fixture.PortRange()
	if low != 32768 || high != 60999 || err != nil {
		t.Errorf("got %d to %d, %v, want 32768 to 60999", low, high, err)
	}
}

func TestTaskNameAndTime(t *testing.T) {
	task, err := fixture.Process(0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := task.Name(), "a b) (c) d"; got != want {
		t.Errorf("name: got %q, want %q", got, want)
	}
	if got, want := task.CPU(), 5700*time.Millisecond; got != want {
		t.Errorf("CPU: got %v, want %v", got, want)
	}
}

// TestReadersAgree holds each reader of the per-tick set against the reading
// that opens the file.
func TestReadersAgree(t *testing.T) {
	agree(t, "stat", fixture.OpenStat, fixture.Stat)
	agree(t, "process", func() (*proc.Reader[proc.Task], error) { return fixture.OpenProcess(0) }, func() (proc.Task, error) { return fixture.Process(0) })
	agree(t, "thread", func() (*proc.Reader[proc.Task], error) { return fixture.OpenThread(0, 4242) }, func() (proc.Task, error) { return fixture.Thread(0, 4242) })
	agree(t, "schedstat", func() (*proc.Reader[proc.SchedStat], error) { return fixture.OpenSchedStat(0, 4242) }, func() (proc.SchedStat, error) { return fixture.SchedStat(0, 4242) })
	agree(t, "pressure", func() (*proc.Reader[proc.Pressure], error) { return fixture.OpenPressure(proc.PressureCPU) }, func() (proc.Pressure, error) { return fixture.Pressure(proc.PressureCPU) })
	four := func() (proc.Sockets, error) {
		s, err := fixture.Sockets()
		s.InUse6 = 0
		return s, err
	}
	agree(t, "sockets", fixture.OpenSockets, four)
	agree(t, "sockets6", fixture.OpenSockets6, func() (proc.Sockets, error) { return proc.Sockets{InUse6: 5}, nil })
}

func agree[T any](t *testing.T, name string, open func() (*proc.Reader[T], error), once func() (T, error)) {
	t.Helper()
	r, err := open()
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	defer func() { _ = r.Close() }()
	want, err := once()
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	var got T
	for range 2 {
		if err := r.Read(&got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
}

// TestReaderGrows reads a file that is larger than the first buffer, and that
// changes between readings.
func TestReaderGrows(t *testing.T) {
	root := t.TempDir()
	name := filepath.Join(root, "stat")
	write := func(cores int) {
		t.Helper()
		var b strings.Builder
		b.WriteString("cpu 1 2 3 4 5 6 7 8\n")
		for i := range cores {
			fmt.Fprintf(&b, "cpu%d 1 2 3 4 5 6 7 8 9 10\n", i)
		}
		if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(1)
	r, err := proc.FS{Root: root}.OpenStat()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	var s proc.Stat
	for _, cores := range []int{1, 1000, 3} {
		write(cores)
		if err := r.Read(&s); err != nil || len(s.Cores) != cores {
			t.Fatalf("got %d cores, %v, want %d", len(s.Cores), err, cores)
		}
		if last := s.Cores[cores-1]; last.Number != cores-1 || last.Steal != 8 {
			t.Errorf("last core: got %+v, want number %d, steal 8", last, cores-1)
		}
	}
}

func TestCPU(t *testing.T) {
	before := proc.CPU{User: 10, Nice: 10, System: 10, Idle: 10, IOWait: 10, IRQ: 10, SoftIRQ: 10, Steal: 10}
	now := proc.CPU{User: 11, Nice: 12, System: 14, Idle: 9, IOWait: 18, IRQ: 26, SoftIRQ: 42, Steal: 74}
	d := now.Sub(before)
	if d.Idle != 0 {
		t.Errorf("idle that went backwards: got %d, want 0", d.Idle)
	}
	if got, want := d.Busy(), int64(1+2+4+16+32); got != want {
		t.Errorf("busy: got %d, want %d", got, want)
	}
	if got, want := d.Total(), int64(1+2+4+16+32+8+64); got != want {
		t.Errorf("total: got %d, want %d", got, want)
	}
}

func TestMalformed(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             string // in the error
	}{
		{"a letter in a core", "stat", "cpu 1 2 3 4 5 6 7 8\ncpu0 1 2 x 4 5 6 7 8\n", `"cpu0 1 2 x`},
		{"a core without a number", "stat", "cpu 1 2 3 4 5 6 7 8\ncpux 1 2 3 4 5 6 7 8\n", `"cpux`},
		{"a short line", "stat", "cpu 1 2 3\n", "missing"},
		{"no cpu", "stat", "ctxt 5\n", `no line "cpu"`},
		{"a huge number", "stat", "cpu 99999999999999999999 2 3 4 5 6 7 8\n", "too large"},
		{"no name", "self/stat", "1 comm S 1\n", "parentheses"},
		{"a cut line", "self/stat", "1 (a) S 1 2 3\n", "missing"},
		{"two letters", "self/stat", "1 (a) SS 1 2 3\n", "state"},
		{"a word", "self/schedstat", "a b c\n", `"a b c"`},
		{"another unit", "self/status", "VmHWM:\t 5 MB\n", "kB"},
		{"too much memory", "self/status", "VmHWM:\t 9223372036854775807 kB\n", "too large"},
		{"no limit", "self/limits", "Max cpu time unlimited unlimited seconds\n", "Max open files"},
		{"a strange limit", "self/limits", "Max open files            some some\n", `"Max open files`},
		{"a name without a number", "net/sockstat", "TCP: inuse\n", "missing"},
		{"one value less", "net/snmp", "Tcp: A B\nTcp: 1\n", "differ"},
		{"another group", "net/snmp", "Tcp: A\nUdp: 1\n", "differ"},
		{"a value missing", "net/snmp", "Tcp: A", "differ"},
		{"a speed", "cpuinfo", "cpu MHz : fast\n", "number"},
		{"no memory", "meminfo", "MemFree: 1 kB\n", "MemTotal"},
		{"an average", "loadavg", "1 2 x 1/2 3\n", "averages"},
		{"no tasks", "loadavg", "1 2 3 4 5\n", "averages"},
		{"no some", "pressure/cpu", "full avg10=0 total=1\n", "some"},
		{"no total", "pressure/cpu", "some avg10=0.00\n", "no total"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := proc.ParseText(c.file, []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// TestErrorsNameTheFile: an error is of no use without.
func TestErrorsNameTheFile(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "stat"), []byte("cpu nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := proc.FS{Root: root}
	for _, want := range []string{filepath.Join(root, "stat"), `"cpu nonsense"`} {
		if _, err := f.Stat(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %s", err, want)
		}
	}
	_, err := f.Sysctl("net.core.nothing")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a setting that is not there: got %v, want fs.ErrNotExist", err)
	}
	if _, err := f.Sysctl("....stat"); err == nil {
		t.Error("a setting outside of sys: got no error")
	}
}

// live skips where there is no Linux below.
func live(t *testing.T) proc.FS {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	return proc.FS{}
}

func TestLive(t *testing.T) {
	f := live(t)
	me, err := f.Process(0)
	if err != nil || me.ID != os.Getpid() || me.Threads < 1 {
		t.Errorf("process: got %+v, %v, want id %d", me, err, os.Getpid())
	}
	if s, err := f.Stat(); err != nil || s.All.Total() == 0 || len(s.Cores) < 1 {
		t.Errorf("stat: got %+v, %v", s, err)
	}
	if s, err := f.Status(0); err != nil || s.PeakRSS < s.RSS || s.RSS < 1<<20 {
		t.Errorf("status: got %+v, %v", s, err)
	}
	if l, err := f.Limits(0); err != nil || l.OpenFiles < 1 {
		t.Errorf("limits: got %+v, %v", l, err)
	}
	if c, err := f.Counters(); err != nil || c["Tcp.RtoMin"] == 0 {
		t.Errorf("counters: got %v, %v", c, err)
	}
	if m, err := f.Memory(); err != nil || m.Total < m.Available || m.Available <= 0 {
		t.Errorf("memory: got %+v, %v", m, err)
	}
	if n, ok := proc.Affinity(); !ok || n < 1 || n > runtime.NumCPU() {
		t.Errorf("affinity: got %d, %t, want 1 to %d", n, ok, runtime.NumCPU())
	}
}

// TestLiveOpenFiles opens files, and expects to find them.
func TestLiveOpenFiles(t *testing.T) {
	f := live(t)
	before, err := f.OpenFiles(0)
	if err != nil {
		t.Fatal(err)
	}
	const more = 20
	for range more {
		file, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
	}
	if after, err := f.OpenFiles(0); err != nil || after-before != more {
		t.Errorf("got %d, then %d, %v, want %d more", before, after, err, more)
	}
}

// TestLiveNoAllocation: what is read each second must not feed the collector.
func TestLiveNoAllocation(t *testing.T) {
	f := live(t)
	noAllocation(t, "stat", f.OpenStat)
	noAllocation(t, "process", func() (*proc.Reader[proc.Task], error) { return f.OpenProcess(0) })
	noAllocation(t, "thread", func() (*proc.Reader[proc.Task], error) { return f.OpenThread(0, os.Getpid()) })
	noAllocation(t, "sockets", f.OpenSockets)
	noAllocation(t, "schedstat", func() (*proc.Reader[proc.SchedStat], error) { return f.OpenSchedStat(0, os.Getpid()) })
	noAllocation(t, "pressure", func() (*proc.Reader[proc.Pressure], error) { return f.OpenPressure(proc.PressureCPU) })
}

func noAllocation[T any](t *testing.T, name string, open func() (*proc.Reader[T], error)) {
	t.Helper()
	r, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		t.Logf("%s: not checked: %v", name, err)
		return
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	defer func() { _ = r.Close() }()
	into := new(T)
	allocs := testing.AllocsPerRun(20, func() {
		if err := r.Read(into); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	if allocs != 0 {
		t.Errorf("%s: got %v allocations a reading, want 0", name, allocs)
	}
}

// FuzzParse feeds every parser: none may panic, and the same text must parse
// to the same value.
func FuzzParse(f *testing.F) {
	files := []string{"stat", "self/stat", "self/schedstat", "self/status", "self/limits", "net/sockstat", "net/snmp", "cpuinfo", "meminfo", "loadavg", "pressure/cpu"}
	for i, name := range files {
		text, err := os.ReadFile(filepath.Join(fixture.Root, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), text)
		f.Add(uint8(i), text[:len(text)/2])
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		name := files[int(which)%len(files)]
		first, err1 := proc.ParseText(name, text)
		second, err2 := proc.ParseText(name, text)
		if (err1 == nil) != (err2 == nil) || err1 == nil && !reflect.DeepEqual(first, second) {
			t.Errorf("%s: got %+v, %v, then %+v, %v", name, first, err1, second, err2)
		}
		if err1 != nil && len(err1.Error()) > 1000 {
			t.Errorf("%s: an error of %d bytes, want a short quote", name, len(err1.Error()))
		}
	})
}
