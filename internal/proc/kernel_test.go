package proc_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"prony/internal/proc"
)

// text is the text of a file of the fixture.
func text(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(fixture.Root, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// self is something that reads itself from a text.
type self interface{ Parse(text []byte) error }

func TestParse(t *testing.T) {
	for _, c := range []struct {
		file string
		got  self
		want self
	}{
		{"net/dev", new(proc.Links), &proc.Links{
			{Name: "lo", BytesIn: 80559269200, PacketsIn: 320650308, DropsIn: 1920, BytesOut: 80559269200, PacketsOut: 320650308},
			{Name: "eth0", BytesIn: 614668441, PacketsIn: 34276, ErrorsIn: 3, DropsIn: 4, BytesOut: 2773441, PacketsOut: 25160},
		}},
		{"net/softnet_stat", new(proc.Softnet), &proc.Softnet{Processed: 0x0999fd3b, Dropped: 0x34d, Squeezed: 0x4e}},
		{"net/stat/nf_conntrack", new(proc.Conntrack), &proc.Conntrack{Dropped: 2, EarlyDropped: 3, InsertFailed: 17}},
		{"diskstats", new(proc.Disks), &proc.Disks{
			{Name: "vda", Reads: 741355, Writes: 185818, InFlight: 2, BusyMS: 210444, WeightedMS: 2512667},
			{Name: "sda", Reads: 10, Writes: 20, BusyMS: 12, WeightedMS: 12},
		}},
		{"vmstat", new(proc.VM), &proc.VM{SwapIn: 12, SwapOut: 13, MajorFaults: 36, OOMKills: proc.Absent}},
	} {
		t.Run(c.file, func(t *testing.T) {
			for range 2 { // the second reading uses the memory of the first
				if err := c.got.Parse(text(t, c.file)); err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(c.got, c.want) {
					t.Errorf("got %+v, want %+v", c.got, c.want)
				}
			}
		})
	}
}

// TestParseAgrees: a text from elsewhere parses to what the file does.
func TestParseAgrees(t *testing.T) {
	parses(t, "stat", new(proc.Stat), of(fixture.Stat()))
	parses(t, "self/stat", new(proc.Task), of(fixture.Process(0)))
	parses(t, "self/schedstat", new(proc.SchedStat), of(fixture.MainSchedStat(0)))
	parses(t, "self/status", new(proc.Status), of(fixture.Status(0)))
	parses(t, "self/limits", new(proc.Limits), of(fixture.Limits(0)))
	parses(t, "cpuinfo", new(proc.CPUInfo), of(fixture.CPUInfo()))
	parses(t, "meminfo", new(proc.Memory), of(fixture.Memory()))
	parses(t, "loadavg", new(proc.Load), of(fixture.Load()))
	parses(t, "pressure/cpu", new(proc.Pressure), of(fixture.Pressure(proc.PressureCPU)))
}

func parses(t *testing.T, file string, got self, want func() (any, error)) {
	t.Helper()
	err := got.Parse(text(t, file))
	value, err2 := want()
	if err != nil || err2 != nil || !reflect.DeepEqual(reflect.ValueOf(got).Elem().Interface(), value) {
		t.Errorf("%s: got %+v, %v, want %+v, %v", file, got, err, value, err2)
	}
}

func TestTCP(t *testing.T) {
	got := proc.NoTCP()
	for _, name := range []string{"net/snmp", "net/netstat"} {
		if err := got.Add(text(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	want := proc.NoTCP()
	want.OutSegments, want.RetransSegments = 1818189, 445
	want.SynCookies, want.ListenOverflows, want.ListenDrops = 0, 37, 40
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// Columns that are not ours may be anything, as long as they are there.
	if err := got.Add([]byte("Tcp: Other OutSegs\nTcp: x 5\n")); err != nil || got.OutSegments != 5 {
		t.Errorf("got %d, %v, want 5", got.OutSegments, err)
	}
}

func TestListeners(t *testing.T) {
	whole := text(t, "net/tcp")
	want := proc.Listeners{{Port: 0x492d, Inode: 10951644, Queue: 3, Limit: proc.Absent}, {Port: 0x7e8, Inode: 575, Limit: proc.Absent}}
	for _, c := range []struct {
		name string
		text []byte
		want proc.Listeners
		done bool
	}{
		{"whole", whole, want, true},
		{"cut in the third line", whole[:len(whole)-10], want, false},
		{"cut in the second line", whole[:330], want[:1], false},
		{"empty", nil, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got proc.Listeners
			done, err := got.Add(c.text)
			if err != nil || done != c.done || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %t, %v, want %+v, %t", got, done, err, c.want, c.done)
			}
		})
	}
}

func TestParseMalformed(t *testing.T) {
	for _, c := range []struct {
		name, text string
		into       self
		want       string
	}{
		{"a short line of net/dev", "eth0: 1 2 3\n", new(proc.Links), "missing"},
		{"a word in net/dev", "eth0: 1 2 x 4 0 0 0 0 0 0 0 0\n", new(proc.Links), "number"},
		{"no hexadecimal", "0000000g 0 0\n", new(proc.Softnet), "hexadecimal"},
		{"too long", "000000001 0 0\n", new(proc.Softnet), "hexadecimal"},
		{"a short line of softnet", "00000001\n", new(proc.Softnet), "hexadecimal"},
		{"one value less", "drop early_drop\n00000001\n", new(proc.Conntrack), "differ"},
		{"a word in diskstats", " 8 0 sda 1 0 0 0 x 0 0 0 0 0 0\n", new(proc.Disks), "number"},
		{"a word in vmstat", "pswpin many\n", new(proc.VM), "number"},
		{"two in a status", "NSpid:\t1 x\n", new(proc.Status), "number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.into.Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	var s proc.Status
	const status = "Uid:\t1000\t1001\t1002\t1003\nNSpid:\t4242\t17\t3\n"
	if err := s.Parse([]byte(status)); err != nil || s.UID != 1001 || s.Inner != 3 {
		t.Errorf("got %+v, %v, want the effective user and the innermost number", s, err)
	}
	var c proc.CPUInfo
	const cpus = "processor : 0\nphysical id : 0\nmicrocode : 0x1\nflags : a b\nprocessor : 1\nphysical id : 1\nmicrocode : 0x2\nflags : a\n"
	if err := c.Parse([]byte(cpus)); err != nil || c.Sockets != 2 || c.Microcode != "0x1" || c.Flags != "a b" {
		t.Errorf("got %+v, %v", c, err)
	}
}

// FuzzParseKernel feeds the parsers of the machine's files: none may panic, and
// a second reading into the same memory is as good as the first.
func FuzzParseKernel(f *testing.F) {
	files := []string{"net/dev", "net/softnet_stat", "net/stat/nf_conntrack", "diskstats", "vmstat", "net/tcp", "net/snmp"}
	for i, name := range files {
		f.Add(uint8(i), text(f, name))
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		switch which % 7 {
		case 0:
			twice(t, text, new(proc.Links), new(proc.Links), []byte("a: 1 2 3 4 5 6 7 8 9 10 11 12\n"))
		case 1:
			twice(t, text, new(proc.Softnet), new(proc.Softnet), []byte("1 2 3\n"))
		case 2:
			twice(t, text, new(proc.Conntrack), new(proc.Conntrack), []byte("drop\n1\n"))
		case 3:
			twice(t, text, new(proc.Disks), new(proc.Disks), []byte("1 2 a 1 2 3 4 5 6 7 8 9 10 11\n"))
		case 4:
			twice(t, text, new(proc.VM), new(proc.VM), []byte("pswpin 1\n"))
		case 5:
			var l proc.Listeners
			if _, err := l.Add(text); err == nil && len(l) > len(text)/20 {
				t.Errorf("got %d listeners of %d bytes", len(l), len(text))
			}
		case 6:
			tcp := proc.NoTCP()
			if err := tcp.Add(text); err != nil && len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes, want a short quote", len(err.Error()))
			}
		}
	})
}

// twice reads once into fresh memory and once into used memory.
func twice(t *testing.T, text []byte, fresh, used self, before []byte) {
	t.Helper()
	if err := used.Parse(before); err != nil {
		t.Fatal(err)
	}
	err1, err2 := fresh.Parse(text), used.Parse(text)
	if (err1 == nil) != (err2 == nil) || err1 == nil && !alike(fresh, used) {
		t.Errorf("got %+v, %v, then %+v, %v", fresh, err1, used, err2)
	}
}

// alike also takes no memory for empty memory.
func alike(a, b self) bool {
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	if x.Kind() == reflect.Slice && x.Len() == 0 && y.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a, b)
}
